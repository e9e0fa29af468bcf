import { type ClusteredMean, clusteredRate } from './clustered.ts';
import { LEVEL } from './interval.ts';

/** What became of the repetitions of one task: a case, under one fault schedule. */
export interface Repeats {
  readonly passes: number;
  /** Scored ones. */
  readonly trials: number;
  /** Tasks of one cluster are alike, such as those of a case under several schedules. Absent: each task is a cluster. */
  readonly cluster?: string;
}

/** An estimate over the tasks with at least `k` trials. */
export interface RepeatEstimate extends ClusteredMean {
  readonly k: number;
  /** Tasks with fewer than `k` trials: they are left out. */
  readonly leftOut: number;
}

/**
 * pass^k: the chance that every one of `k` repetitions of a case passes, averaged over cases. `C(passes, k) / C(trials, k)` is its unbiased estimate for a case (Yao et al., "tau-bench", 2024, section 3).
 * The interval is that of {@link clusteredRate} with one value for each task. Null where no case has `k` trials.
 */
export function passHatK(cases: readonly Repeats[], k: number, level: number = LEVEL): RepeatEstimate | null {
  return over(cases, k, level, ({ passes, trials }) => allOf(passes, trials, k));
}

/**
 * pass@k: the chance that at least one of `k` repetitions of a case passes, averaged over cases: `1 - C(trials - passes, k) / C(trials, k)` (Chen et al., "Evaluating large language models trained on code",
 * 2021, section 2.1). Interval and null as for {@link passHatK}.
 */
export function passAtK(cases: readonly Repeats[], k: number, level: number = LEVEL): RepeatEstimate | null {
  return over(cases, k, level, ({ passes, trials }) => 1 - allOf(trials - passes, trials, k));
}

function over(cases: readonly Repeats[], k: number, level: number, value: (repeats: Repeats) => number): RepeatEstimate | null {
  const enough = cases.filter(({ trials }) => trials >= k);
  const clusters = [...Map.groupBy(enough.entries(), ([at, { cluster }]) => cluster ?? at).values()];
  const estimate = clusteredRate(
    clusters.map((tasks) => tasks.map(([, repeats]) => value(repeats))),
    level,
  );
  return estimate === null ? null : { ...estimate, k, leftOut: cases.length - enough.length };
}

/** The share of the choices of `k` among `n` that take only from `some`: a product, since binomial coefficients grow beyond what a number holds. */
function allOf(some: number, n: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k; i += 1) share *= Math.max(0, some - i) / (n - i);
  return share;
}
