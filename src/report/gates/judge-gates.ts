import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { BatchSummary } from '../../domain/trial.ts';
import { isQuarantined, isScored, standingOf } from '../figures/standing.ts';
import { evaluateGate } from './evaluate-gate.ts';
import type { Gate, GateResult } from './gate.ts';
import { parseGate } from './parse-gate.ts';

export interface GateOptions {
  /** Each has to hold, for each agent of the batch. Default: every scored trial passes. */
  readonly gates: readonly Gate[];
  /** ISO 8601: what a quarantine's last day is held against. */
  readonly today: string;
}

export interface JudgedGates {
  /** `infrastructure`: trials are missing, by the test bed or a simulated user, and no gate says how many may be. */
  readonly gate: BatchSummary['gate'];
  readonly gates: readonly GateResult[];
  /** Cases that gate nothing today, and those whose quarantine is over. Empty: no case has one. */
  readonly quarantined: readonly QuarantinedCase[];
}

/** A case of the batch with a quarantine. */
export interface QuarantinedCase {
  readonly case: string;
  readonly reason: string;
  readonly owner: string;
  readonly until: string;
  /** Its last day is past: the gate is not met until somebody decides. */
  readonly over: boolean;
  readonly passed: number;
  readonly scored: number;
}

/** Judges a batch by its gates. What is in quarantine counts for none of them. */
export function judgeGates(facts: readonly TrialFacts[], { gates, today }: GateOptions): JudgedGates {
  const counting = facts.filter((one) => !isQuarantined(one, today));
  const quarantined = quarantinedOf(facts, today);
  const asked = gates.length > 0 ? gates : [DEFAULT_GATE];
  const results = [...Map.groupBy(counting, ({ agent }) => agent)].flatMap(([agent, own]) => asked.map((gate) => evaluateGate(gate, agent, own)));
  const missing = counting.some(({ ending }) => ending === 'infra_error' || ending === 'user_error');
  const tolerated = asked.some(({ figure }) => figure === 'infra') && !counting.some(({ ending }) => ending === 'user_error');
  const unfinished = counting.some((one) => one.ending === 'cancelled' || standingOf(one) === 'open');
  const held = !unfinished && counting.some(isScored) && !quarantined.some(({ over }) => over) && results.every(({ result }) => result === 'met');
  return { gate: missing && !tolerated ? 'infrastructure' : held ? 'met' : 'not_met', gates: results, quarantined };
}

const DEFAULT_GATE: Gate = parseGate('pass>=1');

function quarantinedOf(facts: readonly TrialFacts[], today: string): readonly QuarantinedCase[] {
  return [...Map.groupBy(facts, (one) => one.case)].flatMap(([name, own]) => {
    const [first] = own;
    if (!first?.quarantine) return [];
    const scored = own.filter(isScored);
    const passed = scored.filter(({ pass }) => pass === 'pass').length;
    return [{ case: name, ...first.quarantine, over: !isQuarantined(first, today), passed, scored: scored.length }];
  });
}
