import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateBounds } from '../../src/domain/statistics/bounds.ts';
import { clusteredMean, clusteredRate } from '../../src/domain/statistics/clustered.ts';
import { casesNeeded, detectableDifference } from '../../src/domain/statistics/detectable.ts';
import { cohensKappa } from '../../src/domain/statistics/kappa.ts';
import { type Pair, pairedDifference, pairedRateDifference } from '../../src/domain/statistics/paired.ts';
import { quantile, quantileOf } from '../../src/domain/statistics/quantiles.ts';
import { passAtK, passHatK } from '../../src/domain/statistics/repeats.ts';
import { signFlipTest } from '../../src/domain/statistics/sign-flip.ts';
import { wilson } from '../../src/domain/statistics/wilson.ts';
import { DATASETS } from '../harness/requirements.ts';

/** 50 tasks, 4 trials each: how many tasks passed 0, 1, 2, 3 and 4 times. */
const FIFTY = [14, 12, 10, 4, 10].flatMap((tasks, passes) => Array.from({ length: tasks }, () => ({ passes, trials: 4 })));
const scores = (passes: number, trials: number): number[] => Array.from({ length: trials }, (_, i) => (i < passes ? 1 : 0));
const FIFTY_SCORES = FIFTY.map(({ passes, trials }) => scores(passes, trials));
const shares = fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 12 });
const pairs = fc.array(fc.record({ case: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), difference: fc.constantFrom(-1, 0, 1) }), {
  minLength: 2,
  maxLength: 40,
});

describe('published numbers', () => {
  it.each([
    [294, 690, 0.3897, 0.4633],
    [340, 690, 0.4556, 0.53],
    [16, 690, 0.0143, 0.0373],
    [25, 25, 0.8668, 1],
    [0, 25, 0, 0.1332],
  ])('Wilson of %i in %i', (successes, n, low, high) => {
    const interval = wilson(successes, n);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  it.each([
    [1, 0.42, 0.42],
    [2, 0.2733, 0.5667],
    [3, 0.22, 0.66],
    [4, 0.2, 0.72],
  ])('pass^%i and pass@k of fifty tasks', (k, hat, at) => {
    expect(passHatK(FIFTY, k)?.mean).toBeCloseTo(hat, 4);
    expect(passAtK(FIFTY, k)?.mean).toBeCloseTo(at, 4);
  });

  it('tasks of one cluster count as alike: what a case does under many schedules is no proof of other cases', () => {
    const under = (cluster: string) => Array.from({ length: 10 }, () => ({ passes: 2, trials: 2, cluster }));
    const clustered = passHatK(['a', 'b', 'c'].flatMap(under), 2);
    expect(clustered).toMatchObject({ mean: 1, clusters: 3, n: 30, interval: wilson(3, 3) });
    expect(
      passHatK(
        Array.from({ length: 30 }, () => ({ passes: 2, trials: 2 })),
        2,
      )?.interval,
    ).toEqual(wilson(30, 30));
  });

  it('the standard error clustered by task, and the naive one', () => {
    expect(clusteredMean(FIFTY_SCORES)).toMatchObject({
      mean: expect.closeTo(0.42, 10),
      standardError: expect.closeTo(0.0522, 4),
      naiveStandardError: expect.closeTo(0.0349, 4),
      freedom: expect.closeTo(49, 8),
      clusters: 50,
      n: 200,
    });
  });

  it('kappa of the diagnoses in Fleiss, "Statistical methods for rates and proportions", table 13.1: 0.68, standard error 0.087, which its rounding in between makes of 0.0877', () => {
    const table = [
      [75, 1, 4],
      [5, 4, 1],
      [0, 0, 10],
    ];
    expect(cohensKappa(table)).toMatchObject({ kappa: expect.closeTo(0.6765, 4), standardError: expect.closeTo(0.0875, 3) });
  });

  it('quantiles as tables of Student’s t have them, and a multiplier of 2.80 for a power of 80 % with many cases', () => {
    expect(quantileOf(0.975, 49)).toBeCloseTo(2.0096, 4);
    expect(quantileOf(0.975, 10)).toBeCloseTo(2.2281, 4);
    expect(detectableDifference({ standardError: 1, cases: 2_000_000 })).toBeCloseTo(2.8016, 4);
    expect(detectableDifference({ standardError: 0.05, cases: 21 }) / 0.05).toBeCloseTo(2.086 + 0.86, 3);
  });

  it('of the published tasks of tau-bench retail 115 of 115 solutions pass, and 7 do where nothing is done', () => {
    const tasks = readFileSync(join(DATASETS, 'tau-bench-retail/tau_retail_test_reference.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly gold_reward: number; readonly empty_reward: number });
    const twice = (reward: 'gold_reward' | 'empty_reward') => tasks.map((task) => ({ passes: 2 * task[reward], trials: 2 }));
    expect(passHatK(twice('gold_reward'), 2)?.mean).toBe(1);
    for (const estimate of [passHatK(twice('empty_reward'), 2), passAtK(twice('empty_reward'), 2)]) expect(estimate?.mean).toBeCloseTo(7 / 115, 12);
    expect(clusteredMean(tasks.map((task) => [task.empty_reward]))?.naiveStandardError).toBeCloseTo(Math.sqrt((7 * 108) / 115 ** 3), 12);
  });
});

describe('properties', () => {
  it('correction and degrees of freedom are those that the matrices of Bell and McCaffrey give', () => {
    const clusters = fc.array(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(clusters, (given) => {
        const [ours, theirs] = [clusteredMean(given), byMatrices(given)];
        expect(ours?.standardError).toBeCloseTo(theirs.standardError, 9);
        expect(ours?.freedom).toBeCloseTo(theirs.freedom, 9);
      }),
      { numRuns: 60 },
    );
  });

  it('pass^k and pass@k are the shares among all choices of k trials', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), fc.nat(7), fc.integer({ min: 1, max: 7 }), (trials, some, k) => {
        const passes = Math.min(some, trials);
        if (k > trials) {
          expect(passHatK([{ passes, trials }], k)).toBeNull();
          return;
        }
        const chosen = choices(scores(passes, trials), k);
        expect(passHatK([{ passes, trials }], k)?.mean).toBeCloseTo(chosen.filter((all) => all.every((one) => one === 1)).length / chosen.length, 10);
        expect(passAtK([{ passes, trials }], k)?.mean).toBeCloseTo(chosen.filter((all) => all.includes(1)).length / chosen.length, 10);
      }),
    );
  });

  it('an interval holds what was seen, stays among what is possible, and grows with the level', () => {
    fc.assert(
      fc.property(shares, (clusters) => {
        const [wide, narrow] = [clusteredRate(clusters, 0.99), clusteredRate(clusters, 0.8)];
        if (wide === null || narrow === null) throw new Error('there are values');
        expect(wide.interval.low).toBeLessThanOrEqual(narrow.interval.low);
        expect(narrow.interval.low).toBeLessThanOrEqual(narrow.mean);
        expect(narrow.interval.high).toBeGreaterThanOrEqual(narrow.mean);
        expect(wide.interval.high).toBeGreaterThanOrEqual(narrow.interval.high);
        expect(wide.interval.low).toBeGreaterThanOrEqual(0);
        expect(wide.interval.high).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('agents that change places change the sign of what they differ by', () => {
    fc.assert(
      fc.property(pairs, (given) => {
        const turned = given.map(({ difference, ...pair }) => ({ ...pair, difference: -difference }));
        const [a, b] = [pairedRateDifference(given), pairedRateDifference(turned)];
        if (a === null || b === null) throw new Error('there are pairs');
        expect(b.difference).toBeCloseTo(-a.difference, 12);
        expect(b.interval.low).toBeCloseTo(-a.interval.high, 9);
        expect([b.higher, b.lower, b.same]).toEqual([a.lower, a.higher, a.same]);
        expect(a.interval.low).toBeLessThanOrEqual(a.difference + 1e-12);
        expect(a.interval.high).toBeGreaterThanOrEqual(a.difference - 1e-12);
        expect(signFlipTest(turned)).toBeCloseTo(signFlipTest(given), 12);
      }),
    );
  });

  it('the exact test counts all choices of signs', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 8 }), (sums) => {
        const seen = Math.abs(sums.reduce((a, b) => a + b, 0));
        const all = sums.reduce<readonly number[]>((totals, sum) => totals.flatMap((total) => [total + sum, total - sum]), [0]);
        const expected = all.filter((total) => Math.abs(total) >= seen).length / all.length;
        expect(signFlipTest(sums.map((difference, i) => ({ case: `${i}`, difference })))).toBeCloseTo(expected, 12);
      }),
    );
  });

  it('as many cases as are needed show the difference, and one fewer does not', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 2, max: 100 }), (percent, cases) => {
        const standardError = 0.4 / Math.sqrt(cases);
        const needed = casesNeeded(percent / 100, { standardError, cases }) ?? Number.NaN;
        const at = (count: number): number => detectableDifference({ standardError: 0.4 / Math.sqrt(count), cases: count });
        expect(at(needed)).toBeLessThanOrEqual(percent / 100 + 1e-12);
        expect(at(needed - 1)).toBeGreaterThan(percent / 100 - 1e-12);
      }),
    );
  });
});

describe('where little is known', () => {
  it('nothing was tried: no estimate, and every share is possible', () => {
    expect([clusteredMean([]), clusteredRate([[]]), pairedDifference([]), passHatK([], 1), cohensKappa([]), quantile([], 0.5)]).toEqual([
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
    expect(rateBounds({ passed: 0, scored: 0, missing: 0 })).toEqual({ low: 0, high: 1 });
  });

  it('one case says nothing of others: no difference is shown', () => {
    const alone: readonly Pair[] = [1, 1, 1].map((difference) => ({ case: 'a', difference }));
    expect(pairedDifference(alone)?.interval).toEqual({ low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY });
    expect(pairedRateDifference(alone)?.interval.low).toBeLessThanOrEqual(0);
    expect(casesNeeded(0.1, { standardError: Number.POSITIVE_INFINITY, cases: 1 })).toBeNull();
  });

  it('pairs without any difference leave one as large as the cases cannot exclude', () => {
    const same: readonly Pair[] = Array.from({ length: 25 }, (_, i) => ({ case: `${i}`, difference: 0 }));
    expect(pairedRateDifference(same)).toMatchObject({ difference: 0, interval: { low: expect.closeTo(-0.1332, 4), high: expect.closeTo(0.1332, 4) } });
    expect(pairedDifference(same)?.interval).toEqual({ low: 0, high: 0 });
  });

  it('nothing bad in 4 trials of each of 25 cases is no more than nothing bad in 25', () => {
    expect(clusteredRate(Array.from({ length: 25 }, () => [0, 0, 0, 0]))?.interval).toEqual(wilson(0, 25));
  });

  it('what is missing may have passed or failed', () => {
    expect(rateBounds({ passed: 6, scored: 8, missing: 2 })).toEqual({ low: 0.6, high: 0.8 });
  });

  it('cases with fewer trials than k are left out and counted', () => {
    expect(passHatK([...FIFTY, { passes: 1, trials: 1 }], 2)).toMatchObject({ clusters: 50, leftOut: 1 });
  });

  it('raters who agree on everything have an interval; those who only ever say one thing have no kappa', () => {
    expect(
      cohensKappa([
        [25, 0],
        [0, 25],
      ]),
    ).toMatchObject({ kappa: 1, interval: { low: expect.closeTo(0.8573, 4), high: 1 } });
    expect(
      cohensKappa([
        [25, 0],
        [0, 0],
      ]),
    ).toBeNull();
  });

  it('quantiles lie between the values of a sample', () => {
    expect([quantile([1, 2, 3, 10], 0.5), quantile([1, 2, 3, 10], 0.95), quantile([7], 0.1)]).toEqual([2.5, expect.closeTo(8.95, 10), 7]);
  });

  it('the exact test refuses what it cannot count', () => {
    expect(() => signFlipTest([{ case: 'a', difference: 0.5 }])).toThrow(RangeError);
  });
});

/** All choices of `k` values. */
function choices(values: readonly number[], k: number): readonly (readonly number[])[] {
  if (k === 0) return [[]];
  return values.flatMap((value, i) => choices(values.slice(i + 1), k - 1).map((rest) => [value, ...rest]));
}

/** Standard error and degrees of freedom of a mean with the whole matrices: residual maker, its blocks adjusted, traces. */
function byMatrices(clusters: readonly (readonly number[])[]): { readonly standardError: number; readonly freedom: number } {
  const values = clusters.flat();
  const n = values.length;
  const of = clusters.flatMap((cluster, index) => cluster.map(() => index));
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const columns = clusters.map((cluster, index) => {
    const adjusted = 1 / Math.sqrt(1 - cluster.length / n) / n;
    return of.map((_, row) => of.reduce((total, owner, column) => (owner === index ? total + ((row === column ? 1 : 0) - 1 / n) * adjusted : total), 0));
  });
  const variance = columns.reduce((total, column) => total + column.reduce((sum, weight, i) => sum + weight * ((values[i] ?? 0) - mean), 0) ** 2, 0);
  const products = columns.map((a) => columns.map((b) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)));
  const trace = products.reduce((sum, row, i) => sum + (row[i] ?? 0), 0);
  const squares = products.flat().reduce((sum, value) => sum + value ** 2, 0);
  return { standardError: Math.sqrt(variance), freedom: trace ** 2 / squares };
}
