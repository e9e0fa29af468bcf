import type { Pair } from './paired.ts';

/**
 * Exact test of whether two agents differ: with equal agents it is chance which of the two is called the first, in each case anew, so every choice of signs of the cases' sums is as likely. The p-value is the share of the choices with a sum at least as
 * far from zero (Fisher, "The design of experiments", 1935, section 21; for clusters Gail et al., Stat. Med. 15, 1996). It needs no model and holds with any number of cases. Two-sided; 1 without a difference.
 *
 * @throws {RangeError} where a difference is no whole number
 */
export function signFlipTest(pairs: readonly Pair[]): number {
  const sums = [...Map.groupBy(pairs, (pair) => pair.case).values()].map((all) => all.reduce((total, { difference }) => total + difference, 0));
  if (!sums.every(Number.isInteger)) throw new RangeError('the exact test needs differences that are whole numbers');
  const sizes = sums.map(Math.abs).filter((size) => size > 0);
  const observed = Math.abs(sums.reduce((total, value) => total + value, 0));
  return Math.min(
    1,
    sharesOf(sizes).reduce((total, share, index, all) => (Math.abs(index - (all.length - 1) / 2) >= observed ? total + share : total), 0),
  );
}

/** How likely each sum from `-total` to `total` is, as the cases are added one by one. */
function sharesOf(sizes: readonly number[]): readonly number[] {
  let shares: readonly number[] = [1];
  for (const size of sizes) {
    const next = new Array<number>(shares.length + 2 * size).fill(0);
    shares.forEach((share, index) => {
      next[index] = (next[index] ?? 0) + share / 2;
      next[index + 2 * size] = (next[index + 2 * size] ?? 0) + share / 2;
    });
    shares = next;
  }
  return shares;
}
