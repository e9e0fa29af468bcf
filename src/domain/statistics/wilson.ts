import { type Interval, LEVEL, within } from './interval.ts';
import { critical } from './quantiles.ts';

/**
 * Interval of a share by the score method: all shares that so many successes in `n` independent trials do not refute. Wilson, "Probable inference, the law of succession, and statistical
 * inference", J. Am. Stat. Assoc. 22 (1927), without continuity correction. With no trial: `[0, 1]`.
 */
export function wilson(successes: number, n: number, level: number = LEVEL): Interval {
  return n > 0 ? scoreInterval(successes / n, n, critical(level)) : { low: 0, high: 1 };
}

/** Wilson's interval of a share that was seen in a number of trials that need not be whole, for so many standard errors. */
export function scoreInterval(share: number, n: number, z: number): Interval {
  const z2 = z ** 2 / n;
  const centre = (share + z2 / 2) / (1 + z2);
  const half = (z / (1 + z2)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n));
  // Rounding must not leave out what was seen.
  return within({ low: Math.min(share, centre - half), high: Math.max(share, centre + half) }, 0, 1);
}
