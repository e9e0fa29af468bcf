import { type ClusteredMean, clusteredMean, clusteredRate } from './clustered.ts';
import { type Interval, LEVEL } from './interval.ts';

/** What two agents differ by in one matched trial. */
export interface Pair {
  readonly case: string;
  /** The second agent's value less the first one's. */
  readonly difference: number;
}

/** A mean difference over matched trials, clustered by case. */
export interface PairedDifference extends Omit<ClusteredMean, 'mean'> {
  readonly difference: number;
  /** Matched trials in which the second agent's value is the higher one, the lower one, and the same. */
  readonly higher: number;
  readonly lower: number;
  readonly same: number;
}

/** Mean of the differences with the t interval of {@link clusteredMean}: for amounts such as seconds or tokens. Null without a pair. */
export function pairedDifference(pairs: readonly Pair[], level: number = LEVEL): PairedDifference | null {
  const found = clusteredMean(
    byCase(pairs, ({ difference }) => difference),
    level,
  );
  if (found === null) return null;
  const { mean, ...rest } = found;
  const count = (sign: number): number => pairs.filter(({ difference }) => Math.sign(difference) === sign).length;
  return { ...rest, difference: mean, higher: count(1), lower: count(-1), same: count(0) };
}

/**
 * Mean of differences of shares, each from -1 to 1, for passes and violations: {@link pairedDifference} with an interval that is not empty where few or no pairs differ.
 *
 * The difference is that of two shares, of pairs in which the second is higher and of those in which the first is. Each has the interval of `clusteredRate`, and the two are put together by the method of
 * variance estimates recovery (Zou and Donner, "Construction of confidence limits about effect measures", Stat. Med. 27, 2008; for paired shares Newcombe, Stat. Med. 17, 1998, method 10) with the correlation of the two over cases.
 */
export function pairedRateDifference(pairs: readonly Pair[], level: number = LEVEL): PairedDifference | null {
  const found = pairedDifference(pairs, level);
  const gains = clusteredRate(
    byCase(pairs, ({ difference }) => Math.max(0, difference)),
    level,
    0,
  );
  const losses = clusteredRate(
    byCase(pairs, ({ difference }) => Math.max(0, -difference)),
    level,
    0,
  );
  if (found === null || gains === null || losses === null) return null;
  return { ...found, interval: recovered(found, gains, losses) };
}

function recovered(found: PairedDifference, gains: ClusteredMean, losses: ClusteredMean): Interval {
  const [up, down] = [gains.interval, losses.interval];
  // Var(gains - losses) = Var(gains) + Var(losses) - 2 cov: all three variances are known, so the covariance is.
  const product = gains.standardError * losses.standardError;
  const covariance = (gains.standardError ** 2 + losses.standardError ** 2 - found.standardError ** 2) / 2;
  const correlation = Number.isFinite(product) && product > 0 ? Math.min(1, Math.max(-1, covariance / product)) : 0;
  const reach = (a: number, b: number): number => Math.sqrt(Math.max(0, a ** 2 + b ** 2 - 2 * correlation * a * b));
  return {
    low: Math.max(-1, found.difference - reach(gains.mean - up.low, down.high - losses.mean)),
    high: Math.min(1, found.difference + reach(up.high - gains.mean, losses.mean - down.low)),
  };
}

function byCase(pairs: readonly Pair[], value: (pair: Pair) => number): number[][] {
  return [...Map.groupBy(pairs, (pair) => pair.case).values()].map((all) => all.map(value));
}
