import { describe, expect, it } from 'vitest';
import { clusteredMean, clusteredRate } from '../../src/domain/statistics/clustered.ts';
import type { Interval } from '../../src/domain/statistics/interval.ts';
import { cohensKappa } from '../../src/domain/statistics/kappa.ts';
import { type Pair, pairedDifference, pairedRateDifference } from '../../src/domain/statistics/paired.ts';
import { passAtK, passHatK } from '../../src/domain/statistics/repeats.ts';
import { signFlipTest } from '../../src/domain/statistics/sign-flip.ts';
import { wilson } from '../../src/domain/statistics/wilson.ts';

const DRAWS = 2_000;
/** Nominal. */
const NOMINAL = 0.95;
/** How far from nominal a coverage may be. */
const POINTS = 0.02;

/** Cases whose chances of a pass are drawn from a beta distribution with this mean and this correlation of two trials of a case. */
interface Setting {
  readonly cases: number;
  readonly repetitions: number;
  readonly mean: number;
  readonly correlation: number;
}

const setting = (cases: number, repetitions: number, mean: number, correlation: number): Setting => ({ cases, repetitions, mean, correlation });

/** Both outcomes are seen in many cases. */
const PLENTY = [
  setting(50, 4, 0.5, 0.3),
  setting(50, 4, 0.5, 0.7),
  setting(50, 4, 0.2, 0.7),
  setting(100, 3, 0.2, 0.3),
  setting(100, 3, 0.2, 0.7),
  setting(100, 3, 0.5, 0.3),
  setting(200, 3, 0.05, 0.7),
  setting(200, 3, 0.9, 0.7),
];
/** Few cases, or an outcome that few of them show. */
const SCARCE = [
  setting(10, 5, 0.05, 0.3),
  setting(10, 5, 0.2, 0.7),
  setting(10, 5, 0.5, 0.3),
  setting(20, 4, 0.9, 0.7),
  setting(20, 4, 0.2, 0.3),
  setting(50, 4, 0.05, 0.7),
  setting(50, 4, 0.9, 0.3),
];

describe.each(PLENTY)('$cases cases, $repetitions trials each, $mean pass, correlation $correlation', (of) => {
  it('each interval covers the truth within two points of nominal', () => {
    const covers = coverage(of, 1);
    report(of, covers);
    for (const [name, share] of Object.entries(covers)) {
      expect(share, name).toBeGreaterThanOrEqual(NOMINAL - POINTS);
      // pass^3 and pass@3 are rare where a pass or a failure is: their coverage may be above, as of few cases.
      if (name === 'rate') expect(share, name).toBeLessThanOrEqual(NOMINAL + POINTS);
    }
  });

  it('equal agents are told apart as often as nominal, and a true difference is covered', () => {
    const equal = comparisons(of, 0, 2);
    report(of, equal);
    expect(equal.shown).toBeLessThanOrEqual(1 - NOMINAL + POINTS);
    expect(equal.shown).toBeGreaterThanOrEqual(1 - NOMINAL - POINTS);
    expect(equal.exact).toBeLessThanOrEqual(1 - NOMINAL + POINTS);
    const better = comparisons(of, 0.1, 3);
    report(of, better);
    expect(Math.abs(better.covered - NOMINAL)).toBeLessThanOrEqual(POINTS);
  });
});

describe.each(SCARCE)('few: $cases cases, $repetitions trials each, $mean pass, correlation $correlation', (of) => {
  it('intervals cover at least as often as nominal, less two points, and equal agents are told apart at most as often, and two points', () => {
    const [covers, equal, better] = [coverage(of, 4), comparisons(of, 0, 5), comparisons(of, 0.1, 6)];
    report(of, { ...covers, shown: equal.shown, exact: equal.exact, covered: better.covered });
    for (const [name, share] of Object.entries(covers)) expect(share, name).toBeGreaterThanOrEqual(NOMINAL - POINTS);
    expect(equal.shown).toBeLessThanOrEqual(1 - NOMINAL + POINTS);
    expect(equal.exact).toBeLessThanOrEqual(1 - NOMINAL + POINTS);
    expect(better.covered).toBeGreaterThanOrEqual(NOMINAL - POINTS);
  });
});

it.each([
  [50, 0.5],
  [200, 0.2],
  [690, 0.05],
])('Wilson of %i independent trials with a chance of %f', (n, chance) => {
  const random = generator(7);
  const share = drawn(() => holds(wilson(trialsOf(random, n, chance), n), chance));
  expect(Math.abs(share - NOMINAL)).toBeLessThanOrEqual(POINTS);
});

it.each([
  [30, 2],
  [30, 10],
  [100, 5],
])('a mean of amounts over %i clusters of up to %i values, and their paired difference', (clusters, most) => {
  const random = generator(8);
  const draw = (): number[][] =>
    Array.from({ length: clusters }, () => {
      const shift = gaussian(random);
      return Array.from({ length: 1 + Math.floor(random() * most) }, () => 10 + shift + gaussian(random));
    });
  const means = drawn(() => holds(clusteredMean(draw())?.interval, 10));
  const differences = drawn(() => {
    const pairs = draw().flatMap((values, index) => values.map((difference): Pair => ({ case: `${index}`, difference })));
    return holds(pairedDifference(pairs)?.interval, 10);
  });
  for (const share of [means, differences]) expect(Math.abs(share - NOMINAL)).toBeLessThanOrEqual(POINTS);
});

it.each([
  [100, 0.9, 0.5],
  [200, 0.7, 0.3],
  [50, 0.8, 0.5],
])('kappa of %i subjects on which raters agree with a chance of %f', (n, agree, first) => {
  // The second rater says what the first one does with a chance of `agree`, else the other.
  const second = first * agree + (1 - first) * (1 - agree);
  const expected = first * second + (1 - first) * (1 - second);
  const truth = (agree - expected) / (1 - expected);
  const random = generator(9);
  const share = drawn(() => {
    const table = [
      [0, 0],
      [0, 0],
    ];
    for (let i = 0; i < n; i += 1) {
      const one = random() < first ? 1 : 0;
      const other = random() < agree ? one : 1 - one;
      const row = table[one];
      if (row) row[other] = (row[other] ?? 0) + 1;
    }
    return holds(cohensKappa(table)?.interval, truth);
  });
  expect(Math.abs(share - NOMINAL)).toBeLessThanOrEqual(POINTS);
});

function coverage(of: Setting, seed: number): { readonly rate: number; readonly 'pass^3': number; readonly 'pass@3': number } {
  const random = generator(seed);
  const [a, b] = shapes(of);
  const rising = (x: number): number => x * (x + 1) * (x + 2);
  const truth = { hat: rising(a) / rising(a + b), at: 1 - rising(b) / rising(a + b) };
  const hits = { rate: 0, 'pass^3': 0, 'pass@3': 0 };
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const clusters = Array.from({ length: of.cases }, () => {
      const chance = beta(random, a, b);
      return Array.from({ length: of.repetitions }, () => (random() < chance ? 1 : 0));
    });
    const repeats = clusters.map((values) => ({ passes: values.filter((value) => value === 1).length, trials: values.length }));
    hits.rate += holds(clusteredRate(clusters)?.interval, of.mean) ? 1 : 0;
    hits['pass^3'] += holds(passHatK(repeats, 3)?.interval, truth.hat) ? 1 : 0;
    hits['pass@3'] += holds(passAtK(repeats, 3)?.interval, truth.at) ? 1 : 0;
  }
  return { rate: hits.rate / DRAWS, 'pass^3': hits['pass^3'] / DRAWS, 'pass@3': hits['pass@3'] / DRAWS };
}

/** The second agent also passes this share of what it would have failed. */
function comparisons(of: Setting, gain: number, seed: number): { readonly covered: number; readonly shown: number; readonly exact: number } {
  const random = generator(seed);
  const [a, b] = shapes(of);
  const truth = gain * (1 - of.mean);
  let [covered, shown, exact] = [0, 0, 0];
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const pairs = Array.from({ length: of.cases }, (_, index) => {
      const chance = beta(random, a, b);
      const other = chance + gain * (1 - chance);
      return Array.from({ length: of.repetitions }, (): Pair => ({ case: `${index}`, difference: (random() < other ? 1 : 0) - (random() < chance ? 1 : 0) }));
    }).flat();
    const interval = pairedRateDifference(pairs)?.interval;
    covered += holds(interval, truth) ? 1 : 0;
    shown += holds(interval, 0) ? 0 : 1;
    exact += signFlipTest(pairs) <= 1 - NOMINAL ? 1 : 0;
  }
  return { covered: covered / DRAWS, shown: shown / DRAWS, exact: exact / DRAWS };
}

/** The figures of docs/statistics.md. */
function report(of: Setting, shares: { readonly [name: string]: number }): void {
  process.stdout.write(`${JSON.stringify({ ...of, ...shares })}\n`);
}

function drawn(hit: () => boolean): number {
  let hits = 0;
  for (let draw = 0; draw < DRAWS; draw += 1) hits += hit() ? 1 : 0;
  return hits / DRAWS;
}

function holds(interval: Interval | undefined, truth: number): boolean {
  return interval !== undefined && interval.low <= truth && truth <= interval.high;
}

function shapes({ mean, correlation }: Setting): readonly [number, number] {
  const size = 1 / correlation - 1;
  return [mean * size, (1 - mean) * size];
}

function trialsOf(random: () => number, n: number, chance: number): number {
  return Array.from({ length: n }, () => random() < chance).filter(Boolean).length;
}

/** Numbers from 0 to 1 that look random and are the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed * 7_919;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function beta(random: () => number, a: number, b: number): number {
  const [x, y] = [gamma(random, a), gamma(random, b)];
  return x + y > 0 ? x / (x + y) : 0.5;
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
function gamma(random: () => number, shape: number): number {
  if (shape < 1) return gamma(random, shape + 1) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = gaussian(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}
