import { createHash } from 'node:crypto';
import { covers, type DrawnRule, type FaultRule, type FaultSchedule } from '../domain/fault.ts';

/** What chance depends on: never the agent, so that every agent meets the same faults. */
export interface DrawOf {
  /** Of the batch. */
  readonly seed: string;
  readonly caseId: string;
  readonly repetition: number;
}

/** Positions for which chance is drawn. A trial has at most 1,500 calls; a service may see a few requests for each. */
export const DRAWN_POSITIONS = 2000;

/**
 * The rules of a schedule with nothing left to chance: where a rule has a probability, `calls` is the list of the positions at which it was drawn (an empty list: never).
 * A rule at the start counts as position 1. A pure function: the order in which calls arrive, and how many trials run at once, change nothing.
 */
export function drawRules(schedule: FaultSchedule, of: DrawOf): readonly DrawnRule[] {
  return schedule.rules.map((rule, index): DrawnRule => {
    const { probability, ...certain } = rule;
    if (probability === undefined || probability >= 1) return { ...certain, index };
    const calls = positionsOf(rule).filter((position) => chance([of.seed, schedule.name, of.caseId, of.repetition, index, position]) < probability);
    return { ...certain, calls, index };
  });
}

function positionsOf(rule: FaultRule): readonly number[] {
  if (rule.on === 'start') return [1];
  return Array.from({ length: DRAWN_POSITIONS }, (_none, n) => n + 1).filter((position) => covers(rule, position));
}

/** A number from 0 up to 1, of 48 bits, by content. */
function chance(parts: readonly (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUIntBE(0, 6) / 2 ** 48;
}
