import { type Interval, LEVEL } from './interval.ts';
import { critical } from './quantiles.ts';
import { scoreInterval } from './wilson.ts';

/** A mean of values that come in clusters: those of one case are alike. */
export interface ClusteredMean {
  readonly mean: number;
  /** Of the mean, for clusters drawn at random. Infinite with a single cluster: nothing is known of how clusters differ. */
  readonly standardError: number;
  /** As if all values were independent: what clustering makes of it is the ratio to {@link standardError}. */
  readonly naiveStandardError: number;
  /** Degrees of freedom of the standard error; at most one less than clusters. */
  readonly freedom: number;
  readonly interval: Interval;
  /** Clusters with a value. */
  readonly clusters: number;
  /** Values. */
  readonly n: number;
}

/**
 * Mean of clustered values, each value with equal weight, with a t interval.
 *
 * Standard error: cluster-robust (Liang and Zeger, 1986; for evaluations Miller, "Adding error bars to evals", 2024, section 2.2) with the correction CR2 of Bell and McCaffrey ("Bias reduction
 * in standard errors for linear regression with multi-stage samples", Survey Methodology 28, 2002), which for equal clusters is C/(C-1). Degrees of freedom: theirs, by
 * Satterthwaite's rule, C-1 for equal clusters. Null without a value.
 */
export function clusteredMean(clusters: readonly (readonly number[])[], level: number = LEVEL): ClusteredMean | null {
  const filled = clusters.filter((cluster) => cluster.length > 0);
  const n = sum(filled.map((cluster) => cluster.length));
  if (n === 0) return null;
  const mean = sum(filled.map(sum)) / n;
  const standardError = filled.length < 2 ? Number.POSITIVE_INFINITY : robustError(filled, mean, n);
  const freedom = freedomOf(
    filled.map((cluster) => cluster.length),
    n,
  );
  const reach = filled.length < 2 ? Number.POSITIVE_INFINITY : critical(level, freedom) * standardError;
  const squares = sum(filled.map((cluster) => sum(cluster.map((value) => (value - mean) ** 2))));
  return {
    mean,
    standardError,
    naiveStandardError: Math.sqrt(squares) / n,
    freedom,
    interval: { low: mean - reach, high: mean + reach },
    clusters: filled.length,
    n,
  };
}

/**
 * {@link clusteredMean} of values from 0 to 1, such as passes, with Wilson's interval for the number of independent trials that would have the same standard error (Dean and Pagano, "Evaluating confidence
 * interval methods for binomial proportions in clustered surveys", J. Surv. Stat. Methodol. 3, 2015), t for z. Where all values are 0 or all 1, which shows nothing of how clusters differ, each
 * cluster counts as one trial: that holds however alike the trials of a cluster are.
 *
 * Of a rare outcome the few clusters that have it say little about the standard error, which then tends to be too small. So what is taken for the variance is an average, weighted by how many clusters have the rarer outcome, with the largest
 * that clusters can have, which is that of one trial each and counts as {@link PRIOR_CLUSTERS}. This is our own; what it gains is measured in docs/statistics.md.
 * A share that is only one part of an interval does without (`prior` 0).
 */
export function clusteredRate(clusters: readonly (readonly number[])[], level: number = LEVEL, prior: number = PRIOR_CLUSTERS): ClusteredMean | null {
  const found = clusteredMean(clusters, level);
  return found === null ? null : { ...found, interval: rateInterval(clusters, found, level, prior) };
}

/** Clusters as which the largest variance counts. */
const PRIOR_CLUSTERS = 2;

function rateInterval(
  given: readonly (readonly number[])[],
  { mean, standardError, freedom, clusters }: ClusteredMean,
  level: number,
  prior: number,
): Interval {
  const spread = mean * (1 - mean);
  if (clusters < 2 || spread <= 0) return scoreInterval(mean, clusters, critical(level));
  const having = given.filter((values) => values.some((value) => value > 0)).length;
  const lacking = given.filter((values) => values.some((value) => value < 1)).length;
  const weight = Math.min(having, lacking);
  const variance = (weight * standardError ** 2 + (prior * spread) / clusters) / (weight + prior);
  return scoreInterval(mean, spread / variance, critical(level, freedom));
}

function robustError(clusters: readonly (readonly number[])[], mean: number, n: number): number {
  const parts = clusters.map((cluster) => sum(cluster.map((value) => value - mean)) ** 2 / (1 - cluster.length / n));
  return Math.sqrt(sum(parts)) / n;
}

/** For a mean, the rule has this closed form: the eigenvalues are not needed, only the traces of the matrix and of its square. */
function freedomOf(sizes: readonly number[], n: number): number {
  if (sizes.length < 2) return 0;
  const squares = sum(sizes.map((size) => size ** 2));
  const corrected = sizes.map((size) => size ** 2 / (1 - size / n));
  const pairs = sum(corrected) ** 2 - sum(corrected.map((value) => value ** 2));
  return n ** 2 / (squares + pairs / n ** 2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
