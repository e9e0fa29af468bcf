import type { GateResult, QuarantinedCase } from '../../domain/gates/result.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { BatchSummary } from '../../domain/trial.ts';
import { quarantinedOf } from '../figures/quarantined.ts';
import { isQuarantined, isScored, standingOf } from '../figures/standing.ts';
import { evaluateGate } from './evaluate-gate.ts';
import type { JudgeFigures } from '../judges/figures.ts';
import type { Gate } from '../../domain/gates/gate.ts';
import { parseGate } from '../../domain/gates/parse-gate.ts';

export interface GateOptions {
  /** Each has to hold, for each agent of the batch. Default: every scored trial passes. */
  readonly gates: readonly Gate[];
  /** ISO 8601: what a quarantine's last day is held against. */
  readonly today: string;
  /** Trials that ended as `cassette_miss` leave no gate unmet. Default: they do. */
  readonly allowMisses?: boolean;
  /** What judges said of the batch. Default: nothing. */
  readonly judges?: readonly JudgeFigures[];
}

export interface JudgedGates {
  /** `infrastructure`: trials are missing, by the test bed or a simulated user, and no gate says how many may be. */
  readonly gate: BatchSummary['gate'];
  readonly gates: readonly GateResult[];
  /** Cases that gate nothing today, and those whose quarantine is over. Absent: no case has one. */
  readonly quarantined?: readonly QuarantinedCase[];
}

/** Judges a batch by its gates. What is in quarantine counts for none of them. */
export function judgeGates(facts: readonly TrialFacts[], { gates, today, allowMisses = false, judges = [] }: GateOptions): JudgedGates {
  const counting = facts.filter((one) => !isQuarantined(one, today) && !(allowMisses && one.ending === 'cassette_miss'));
  const quarantined = quarantinedOf(facts, today);
  const asked = gates.length > 0 ? gates : [DEFAULT_GATE];
  const results = [...Map.groupBy(counting, ({ agent }) => agent)].flatMap(([agent, own]) => asked.map((gate) => evaluateGate(gate, agent, own, judges)));
  const missing = counting.some(({ ending }) => ending === 'infra_error' || ending === 'user_error');
  const tolerated = asked.some(({ figure }) => figure === 'infra') && !counting.some(({ ending }) => ending === 'user_error');
  const unfinished = counting.some((one) => one.ending === 'cancelled' || standingOf(one) === 'open');
  const missed = counting.some(({ ending }) => ending === 'cassette_miss');
  const held = !missed && !unfinished && counting.some(isScored) && !quarantined.some(({ over }) => over) && results.every(({ result }) => result === 'met');
  return { gate: missing && !tolerated ? 'infrastructure' : held ? 'met' : 'not_met', gates: results, ...(quarantined.length > 0 && { quarantined }) };
}

const DEFAULT_GATE: Gate = parseGate('pass>=1');
