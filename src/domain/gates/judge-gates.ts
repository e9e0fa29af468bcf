import { holdsOn, quarantinedOf } from '../quarantine.ts';
import { isScored, standingOf } from '../standing.ts';
import type { TrialFacts } from '../trial-facts.ts';
import type { BatchSummary } from '../trial.ts';
import { evaluateGate } from './evaluate-gate.ts';
import type { Gate } from './gate.ts';
import type { GateJudge } from './gate-judge.ts';
import { parseGate } from './parse-gate.ts';
import type { GateResult, QuarantinedCase } from './result.ts';

export interface GateOptions {
  /** As `parseGate` reads them; each has to hold, for each agent of the batch. Default: every scored trial passes. */
  readonly gates?: readonly string[];
  /** ISO 8601: what a quarantine's last day is held against. */
  readonly today: string;
  /** Trials that ended as `cassette_miss` leave no gate unmet. Default: they do. */
  readonly allowMisses?: boolean;
  /** What judges said of the batch. Default: nothing. */
  readonly judges?: readonly GateJudge[];
}

export interface JudgedGates {
  /** `infrastructure`: trials are missing, by the test bed or a simulated user, and no gate says how many may be. */
  readonly gate: BatchSummary['gate'];
  readonly gates: readonly GateResult[];
  /** Cases that gate nothing today, and those whose quarantine is over. Absent: no case has one. */
  readonly quarantined?: readonly QuarantinedCase[];
}

/**
 * Judges a batch, for whoever asks: `result()` of the library, the commands and the reports. What is in quarantine counts for no gate. A batch of which a trial has not ended has met none; neither has one in which nothing was
 * scored, or of which a trial was cancelled. @throws {GateSyntaxError}
 */
export function judgeGates(facts: readonly TrialFacts[], { gates = [], today, allowMisses = false, judges = [] }: GateOptions): JudgedGates {
  const counting = facts.filter((one) => !holdsOn(one.quarantine, today) && !(allowMisses && one.ending === 'cassette_miss'));
  const quarantined = quarantinedOf(facts, today);
  const asked = gates.length > 0 ? gates.map(parseGate) : [DEFAULT_GATE];
  const results = [...Map.groupBy(counting, ({ agent }) => agent)].flatMap(([agent, own]) => asked.map((gate) => evaluateGate(gate, agent, own, judges)));
  return {
    gate: facts.some((one) => standingOf(one) === 'open')
      ? 'not_met'
      : wholeOf(counting, { asked, over: quarantined.some(({ over }) => over), held: results.every(({ result }) => result === 'met') }),
    gates: results,
    ...(quarantined.length > 0 && { quarantined }),
  };
}

const DEFAULT_GATE: Gate = parseGate('pass>=1');

interface Judged {
  readonly asked: readonly Gate[];
  /** The quarantine of a case is over. */
  readonly over: boolean;
  /** Every gate is met for every agent. */
  readonly held: boolean;
}

function wholeOf(counting: readonly TrialFacts[], { asked, over, held }: Judged): JudgedGates['gate'] {
  const ended = (...endings: readonly TrialFacts['ending'][]): boolean => counting.some(({ ending }) => endings.includes(ending));
  const tolerated = asked.some(({ figure }) => figure === 'infra') && !ended('user_error');
  if (ended('infra_error', 'user_error') && !tolerated) return 'infrastructure';
  const holds = held && !over && !ended('cassette_miss', 'cancelled') && counting.some(isScored);
  return holds ? 'met' : 'not_met';
}
