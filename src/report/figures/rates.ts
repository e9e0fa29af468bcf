import { type Rate, rateOf } from '../../domain/gates/rate.ts';
import { isScored, standingOf } from '../../domain/standing.ts';
import { rateBounds } from '../../domain/statistics/bounds.ts';
import type { Interval } from '../../domain/statistics/interval.ts';
import { passAtK, passHatK, type RepeatEstimate } from '../../domain/statistics/repeats.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';

/** Views of a verdict whose rate is told; `pass` is all three together. */
export const VIEWS = ['pass', 'outcome', 'constraints', 'effects'] as const;

/** Beyond this many repetitions pass^k and pass@k are not listed. */
const MOST_K = 10;

/** How often the trials of one agent, under all or under one schedule, came to something. */
export interface AgentRates {
  readonly agent: string;
  /** Null: under all of them together. */
  readonly schedule: string | null;
  readonly trials: number;
  readonly scored: number;
  /** Ended without a result: trouble of the test bed, faults of the simulated user, cancelled. */
  readonly missing: number;
  /** Not ended yet. */
  readonly open: number;
  readonly undetermined: number;
  readonly views: { readonly [view in (typeof VIEWS)[number]]: Rate };
  /** Of `pass`, whatever became of the missing ones. */
  readonly bounds: Interval;
  /** Trials with at least one forbidden effect. */
  readonly forbidden: Rate;
  /** Every one of `k` repetitions passes; from k = 1 to the number that any case has. */
  readonly allOf: readonly RepeatRate[];
  /** At least one of `k` repetitions passes. */
  readonly anyOf: readonly RepeatRate[];
}

export interface RepeatRate {
  readonly k: number;
  readonly rate: number;
  readonly interval: Interval;
  readonly cases: number;
  /** Cases with fewer than `k` scored trials: left out. */
  readonly leftOut: number;
}

/** Rates of each agent over all schedules, then of each agent under each schedule where there is more than one. */
export function ratesOf(facts: readonly TrialFacts[]): { readonly agents: readonly AgentRates[]; readonly schedules: readonly AgentRates[] } {
  const byAgent = Map.groupBy(facts, ({ agent }) => agent);
  const agents = [...byAgent].map(([agent, trials]) => agentRates(agent, null, trials));
  if (new Set(facts.map(({ schedule }) => schedule)).size < 2) return { agents, schedules: [] };
  const schedules = [...Map.groupBy(facts, ({ schedule }) => schedule)].flatMap(([schedule, trials]) =>
    [...Map.groupBy(trials, ({ agent }) => agent)].map(([agent, own]) => agentRates(agent, schedule, own)),
  );
  return { agents, schedules };
}

function agentRates(agent: string, schedule: string | null, trials: readonly TrialFacts[]): AgentRates {
  const scored = trials.filter(isScored);
  const count = (standing: ReturnType<typeof standingOf>): number => trials.filter((one) => standingOf(one) === standing).length;
  const missing = count('missing');
  // A case under another schedule is another task: what repeats is both together.
  const repeats = [...Map.groupBy(scored, (one) => JSON.stringify([one.case, one.schedule])).values()].map((own) => ({
    ...(own[0] && { cluster: own[0].case }),
    passes: own.filter(({ pass }) => pass === 'pass').length,
    trials: own.length,
  }));
  const most = Math.min(MOST_K, Math.max(0, ...repeats.map((one) => one.trials)));
  const each = Array.from({ length: most }, (_, at) => at + 1);
  const rate = (is: (one: TrialFacts) => boolean): Rate => rateOf(scored, is);
  return {
    agent,
    schedule,
    trials: trials.length,
    scored: scored.length,
    missing,
    open: count('open'),
    undetermined: count('undetermined'),
    views: {
      pass: rate(({ pass }) => pass === 'pass'),
      outcome: rate(({ outcome }) => outcome === 'pass'),
      constraints: rate(({ constraints }) => constraints === 'pass'),
      effects: rate(({ effects }) => effects === 'pass'),
    },
    bounds: rateBounds({ passed: count('pass'), scored: scored.length, missing }),
    forbidden: rate(({ forbidden }) => forbidden > 0),
    allOf: each.flatMap((k) => repeatRate(passHatK(repeats, k))),
    anyOf: each.flatMap((k) => repeatRate(passAtK(repeats, k))),
  };
}

function repeatRate(estimate: RepeatEstimate | null): readonly RepeatRate[] {
  return estimate === null ? [] : [{ k: estimate.k, rate: estimate.mean, interval: estimate.interval, cases: estimate.clusters, leftOut: estimate.leftOut }];
}
