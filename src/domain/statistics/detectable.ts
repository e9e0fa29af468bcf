import { LEVEL } from './interval.ts';
import { quantileOf } from './quantiles.ts';

/** What decides how fine a comparison is. */
export interface Precision {
  /** Standard error of the difference. */
  readonly standardError: number;
  /** Cases that it rests on. */
  readonly cases: number;
  /** Default 0.95. */
  readonly level?: number;
  /** Chance that a difference of that size is shown. Default 0.8. */
  readonly power?: number;
}

/**
 * The smallest true difference that a comparison with this standard error shows with a chance of `power`: `(t(1 - a/2) + t(power)) * SE`, t with cases - 1 degrees of freedom (Bloom, "Minimum detectable effects", Eval. Rev. 19,
 * 1995). Infinite with fewer than two cases.
 */
export function detectableDifference({ standardError, cases, level = LEVEL, power = POWER }: Precision): number {
  return cases < 2 ? Number.POSITIVE_INFINITY : reach(cases, level, power) * standardError;
}

/**
 * How many cases, with as many repetitions each, a comparison needs so that it shows a true difference of `difference`: the same formula solved for the number, the standard error shrinking with its root. Null where that is
 * beyond a million, or where nothing is known of the standard error.
 */
export function casesNeeded(difference: number, { standardError, cases, level = LEVEL, power = POWER }: Precision): number | null {
  if (cases < 2 || !Number.isFinite(standardError) || difference <= 0) return null;
  const deviation = standardError * Math.sqrt(cases);
  const enough = (count: number): boolean => (reach(count, level, power) * deviation) / Math.sqrt(count) <= difference;
  if (!enough(MOST)) return null;
  let [few, many] = [1, MOST];
  // More cases are never coarser, so the least number lies where halving leads.
  while (many - few > 1) {
    const middle = Math.floor((few + many) / 2);
    if (enough(middle)) many = middle;
    else few = middle;
  }
  return many;
}

/**
 * How many times as many trials of each case a comparison needs, with the cases that it has, so that it shows a true difference of `difference`. More trials shrink only the part of the variance that lies within cases, `within / repeats`
 * of the mean of a case. Null where no number of them is enough.
 */
export function repeatsNeeded(
  difference: number,
  { standardError, cases, level = LEVEL, power = POWER, within, repeats }: Precision & { readonly within: number; readonly repeats: number },
): number | null {
  if (cases < 2 || !Number.isFinite(standardError) || difference <= 0) return null;
  const share = Math.min(standardError ** 2, within / repeats / cases);
  const room = (difference / reach(cases, level, power)) ** 2 - (standardError ** 2 - share);
  if (standardError ** 2 <= (difference / reach(cases, level, power)) ** 2) return 1;
  const times = room > 0 ? share / room : Number.POSITIVE_INFINITY;
  return times <= MOST ? times : null;
}

const POWER = 0.8;
const MOST = 1_000_000;

function reach(cases: number, level: number, power: number): number {
  return quantileOf((1 + level) / 2, cases - 1) + quantileOf(power, cases - 1);
}
