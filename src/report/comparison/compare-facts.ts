import { LEVEL } from '../../domain/statistics/interval.ts';
import { pairedDifference } from '../../domain/statistics/paired.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import { isScored } from '../../domain/standing.ts';
import { answerOf, HARM, shareOf, USEFUL } from './answers.ts';
import { changeOf, changedOf } from './changed.ts';
import { type AmountComparison, type ComparedSide, type Comparison, MAX_CHANGED, type ScheduleComparison, type Share } from './comparison.ts';
import { type Matched, matchTrials } from './match.ts';
import { noiseOf, sensitivityOf } from './sensitivity.ts';

/** One agent of one batch, with its trials. */
export interface SideFacts {
  readonly batch: string;
  readonly agent: string;
  readonly seed: string;
  readonly facts: readonly TrialFacts[];
}

export interface CompareOptions {
  /** Day, as `2027-01-31`: a case is left out as long as its quarantine holds. */
  readonly today: string;
  /** Compares trials of other generations of the environment too, and says so. Default: they are left out. */
  readonly acrossGenerations?: boolean;
  /** Default 0.95. */
  readonly level?: number;
}

/** Compares two agents on the trials that both had. A pure function. */
export function compareFacts(a: SideFacts, b: SideFacts, { today, acrossGenerations = false, level = LEVEL }: CompareOptions): Comparison {
  const { matched, unmatched } = matchTrials(a.facts, b.facts, { today, acrossGenerations });
  const [safer, useful] = [answerOf(matched, HARM, level), answerOf(matched, USEFUL, level)];
  const changed = changedOf(matched);
  return {
    a: sideOf(a, matched.length),
    b: sideOf(b, matched.length),
    safer,
    useful,
    forbidden: { a: forbiddenIn(matched, 'a', level), b: forbiddenIn(matched, 'b', level) },
    schedules: schedulesOf(matched, level),
    unmatched,
    generationsDiffer: matched.some((pair) => pair.a.generation !== pair.b.generation),
    seedsDiffer: a.seed !== b.seed,
    noise: {
      a: noiseOf(
        matched.map((pair) => pair.a),
        level,
      ),
      b: noiseOf(
        matched.map((pair) => pair.b),
        level,
      ),
    },
    sensitivity: { safer: sensitivityOf(safer, matched, HARM, level), useful: sensitivityOf(useful, matched, USEFUL, level) },
    amounts: amountsOf(matched, level),
    changed: changed.slice(0, MAX_CHANGED),
    changes: changed.length,
    level,
  };
}

function sideOf({ batch, agent, facts }: SideFacts, matched: number): ComparedSide {
  const distinct = (of: (one: TrialFacts) => string): readonly string[] => [...new Set(facts.map(of))];
  return { batch, agent, agentHashes: distinct((one) => one.agentHash), generations: distinct((one) => one.generation), trials: facts.length, matched };
}

function forbiddenIn(matched: readonly Matched[], of: 'a' | 'b', level: number): Share {
  const scored = matched.map((pair) => pair[of]).filter((one) => isScored(one) && (one.forbidden > 0 || one.effects !== 'undetermined'));
  return shareOf(
    scored.map((one) => ({ case: one.case, so: one.forbidden > 0 })),
    level,
  );
}

function schedulesOf(matched: readonly Matched[], level: number): readonly ScheduleComparison[] {
  const groups = Map.groupBy(matched, ({ a }) => a.schedule);
  const raised = 1 - (1 - level) / Math.max(1, groups.size);
  return [...groups].map(([schedule, pairs]) => {
    const changes = pairs.map(changeOf);
    const count = (...kinds: readonly (typeof changes)[number][]): number => changes.filter((change) => kinds.includes(change)).length;
    return {
      schedule,
      trials: pairs.length,
      better: count('better', 'mixed'),
      worse: count('worse', 'mixed'),
      safer: answerOf(pairs, HARM, raised),
      useful: answerOf(pairs, USEFUL, raised),
      neverFired: schedule !== 'none' && pairs.every(({ a, b }) => (a.faults?.injected ?? 0) + (b.faults?.injected ?? 0) === 0),
    };
  });
}

const SECOND = 1_000;

const AMOUNTS: readonly { readonly name: string; readonly unit: string; readonly of: (facts: TrialFacts) => number | null }[] = [
  { name: "agent's own time", unit: 's', of: ({ times }) => (times?.agentMs == null ? null : times.agentMs / SECOND) },
  { name: 'time in tools', unit: 's', of: ({ times }) => (times?.toolMs == null ? null : times.toolMs / SECOND) },
  { name: 'calls', unit: '', of: (facts) => (isScored(facts) ? facts.calls : null) },
  { name: 'tokens, all attempts', unit: '', of: ({ tokens }) => (tokens === null ? null : tokens.input + tokens.output) },
];

function amountsOf(matched: readonly Matched[], level: number): readonly AmountComparison[] {
  const currencies = [...new Set(matched.flatMap(({ a, b }) => [...Object.keys(a.money ?? {}), ...Object.keys(b.money ?? {})]))];
  const costs = currencies.map((unit) => ({ name: 'cost, all attempts', unit, of: ({ money }: TrialFacts) => (money === null ? null : (money[unit] ?? 0)) }));
  return [...AMOUNTS, ...costs].flatMap(({ name, unit, of }) => {
    const known = matched.flatMap(({ a, b }) => {
      const [one, other] = [of(a), of(b)];
      return one === null || other === null ? [] : [{ case: a.case, a: one, b: other, difference: other - one }];
    });
    const found = pairedDifference(known, level);
    if (found === null) return [];
    const mean = (side: 'a' | 'b'): number => known.reduce((sum, one) => sum + one[side], 0) / known.length;
    const interval = Number.isFinite(found.interval.low) ? found.interval : null;
    return [{ name, unit, trials: known.length, a: mean('a'), b: mean('b'), difference: found.difference, interval }];
  });
}
