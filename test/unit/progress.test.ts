import { describe, expect, test } from 'vitest';
import { countTrials, Rate, type TrialGroup, type Workforce, waitReason } from '../../src/domain/progress.ts';

const RUNS: Workforce = { state: 'running', launches: true, worker: true };

function group(over: Partial<TrialGroup>): TrialGroup {
  return { phase: 'drive', attempt: 'first', asks: false, waits: null, result: null, trials: 1, ...over };
}

describe('where the trials of a batch are', () => {
  test('each trial is counted once: done, running or waiting', () => {
    const counts = countTrials(
      [
        group({ phase: 'done', result: 'pass', trials: 5 }),
        group({ phase: 'done', result: 'fail', trials: 2 }),
        group({ phase: 'done', result: 'infra_error', attempt: 'further', trials: 1 }),
        group({ trials: 3 }),
        group({ phase: 'grade', trials: 1 }),
        group({ asks: true, trials: 2 }),
        group({ waits: 'model', trials: 4 }),
        group({ phase: 'provision', trials: 2 }),
        group({ phase: 'waiting', attempt: 'further', trials: 1 }),
        group({ phase: 'waiting', attempt: 'launched', trials: 1 }),
        group({ phase: 'waiting', attempt: 'none', trials: 78 }),
      ],
      RUNS,
    );
    expect(counts).toEqual({
      ...{ trials: 100, done: 8, running: 4, waiting: 88 },
      waits: { approval: 2, model: 4, world: 2, retry: 1, worker: 1, turn: 78 },
      ...{ passed: 5, failed: 2, undetermined: 0, infraErrors: 1, userErrors: 0, cancelled: 0 },
    });
  });

  test.each([
    ['a batch that is paused launches no more, and what runs goes on', { ...RUNS, state: 'paused' }, 'paused', null],
    ['nobody launches', { ...RUNS, launches: false }, 'launcher', null],
    ['no worker takes what was launched', { ...RUNS, worker: false }, 'turn', 'worker'],
    ['whether a worker is there is not known', { ...RUNS, worker: null }, 'turn', null],
  ] as const)('%s', (_what, workforce, unbegun, begun) => {
    expect(waitReason(group({ phase: 'waiting', attempt: 'none' }), workforce)).toBe(unbegun);
    expect(waitReason(group({}), workforce)).toBe(begun);
    expect(waitReason(group({ phase: 'done', result: 'pass' }), workforce)).toBeNull();
  });
});

describe('rate', () => {
  test('is of the last minute while trials end quickly', () => {
    const rate = new Rate();
    for (let seconds = 0; seconds <= 300; seconds++) rate.add(seconds, seconds < 200 ? seconds : 200 + (seconds - 200) * 3);
    expect(rate.perMinute).toBeCloseTo(180, 0);
    expect(rate.secondsFor(90)).toBeCloseTo(30, 0);
  });

  test('is of the last twenty trials while they end slowly, and tells no more than it knows', () => {
    const rate = new Rate();
    expect(rate.perMinute).toBeNull();
    // One in two minutes, asked each second.
    for (let seconds = 0; seconds <= 6000; seconds++) rate.add(seconds, Math.floor(seconds / 120));
    expect(rate.perMinute).toBeCloseTo(0.5, 1);
  });

  test('begins again when trials are begun again', () => {
    const rate = new Rate();
    rate.add(0, 0);
    rate.add(10, 10);
    expect(rate.perMinute).toBe(60);
    rate.add(11, 2);
    expect(rate.perMinute).toBeNull();
    rate.add(21, 3);
    expect(rate.perMinute).toBe(6);
  });

  test('keeps little, however often it is asked', () => {
    const rate = new Rate();
    for (let seconds = 0; seconds < 20_000; seconds++) rate.add(seconds, 3);
    expect(rate.perMinute).toBeNull();
    expect(rate.samples).toBeLessThan(5);
  });
});
