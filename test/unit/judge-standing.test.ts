import { describe, expect, it } from 'vitest';
import type { Calibration } from '../../src/domain/rubric.ts';
import { confusionTable, UnknownCategoryError } from '../../src/judges/confusion.ts';
import { judgeStanding } from '../../src/judges/standing.ts';

const scale = ['rude', 'kind'];
const ASKED: Calibration = { labels: 50, kappa: 0.4, at: 'point' };

/** Trials by the judge's category and the person's, as often as said. */
function series(counts: readonly (readonly [string, string, number])[]) {
  const trials = counts.flatMap(([score, label, times]) => Array.from({ length: times }, () => ({ score, label })));
  return {
    scale,
    scores: trials.map(({ score }, i) => ({ trial: `t${i}`, category: score })),
    labels: trials.map(({ label }, i) => ({ trial: `t${i}`, person: 'ana', category: label })),
    calibration: ASKED,
  };
}

describe('the standing of a judge', () => {
  it('counts rows by the first rater and columns by the second', () => {
    expect(confusionTable(scale, [{ first: 'rude', second: 'kind' }])).toEqual([
      [0, 1],
      [0, 0],
    ]);
    expect(() => confusionTable(scale, [{ first: 'rude', second: 'warm' }])).toThrow(UnknownCategoryError);
  });

  it('is calibrated by enough labels that agree beyond chance', () => {
    // (20 + 15) / 50 agree, chance gives 0.5: kappa is 0.4.
    const standing = judgeStanding(
      series([
        ['rude', 'rude', 20],
        ['rude', 'kind', 5],
        ['kind', 'rude', 10],
        ['kind', 'kind', 15],
      ]),
    );
    expect(standing).toMatchObject({ calibrated: true, labels: 50, split: 0 });
    expect(standing.kappa?.kappa).toBeCloseTo(0.4, 10);
    expect(standing.why).toBe(`kappa 0.40 [${standing.kappa?.interval.low.toFixed(2)}, ${standing.kappa?.interval.high.toFixed(2)}] on 50 trials`);
  });

  it('is uncalibrated with one label too few, by chance agreement, under its own bar, and with one category', () => {
    const good = series([
      ['rude', 'rude', 25],
      ['kind', 'kind', 24],
    ]);
    expect(judgeStanding(good)).toMatchObject({ calibrated: false, labels: 49, why: 'people labelled 49 of the 50 trials that are needed' });
    expect(judgeStanding({ ...good, calibration: { ...ASKED, labels: 49 } }).calibrated).toBe(true);
    expect(judgeStanding({ ...good, calibration: { labels: 49, kappa: 0.99, at: 'lower' } })).toMatchObject({
      calibrated: false,
      why: expect.stringMatching(/^kappa 1\.00 \[0\.\d\d, 1\.00\] on 49 trials; its lower bound has to be 0\.99 at least$/),
    });
    expect(
      judgeStanding(
        series([
          ['rude', 'rude', 15],
          ['rude', 'kind', 15],
          ['kind', 'rude', 15],
          ['kind', 'kind', 15],
        ]),
      ).calibrated,
    ).toBe(false);
    expect(judgeStanding(series([['kind', 'kind', 80]]))).toMatchObject({ calibrated: false, kappa: null });
  });

  it('counts a trial once, by what most people said, and leaves out one on which they are split', () => {
    const labels = [
      ['t0', 'a', 'kind'],
      ['t0', 'b', 'kind'],
      ['t0', 'c', 'rude'],
      ['t1', 'a', 'kind'],
      ['t1', 'b', 'rude'],
      ['t9', 'a', 'kind'],
    ] as const;
    const standing = judgeStanding({
      scale,
      scores: [
        { trial: 't0', category: 'kind' },
        { trial: 't1', category: 'kind' },
        { trial: 't2', category: 'rude' },
      ],
      labels: labels.map(([trial, person, category]) => ({ trial, person, category })),
      calibration: ASKED,
    });
    expect(standing).toMatchObject({ labels: 1, split: 1, calibrated: false });
  });
});
