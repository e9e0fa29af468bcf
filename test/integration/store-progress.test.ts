import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ModelCall } from '../../src/domain/model.ts';
import type { Store } from '../../src/store/store.ts';
import { CASE, type OpenedStore, openStore, planOf, summaryOf } from './store-fixture.ts';

let opened: OpenedStore;
let store: Store;
let batchOf: OpenedStore['batchOf'];

beforeAll(async () => {
  opened = await openStore(inject('services').postgresUrl);
  ({ store, batchOf } = opened);
});

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
});

describe('progress', () => {
  test('trials are counted by phase, attempt, result and what they wait for, and those under way are listed by age', async () => {
    const { id } = await batchOf(8);
    const trial = (n: number) => `${id}-000${n}`;
    const begin = async (n: number, attempt: number, startedAt: string) => store.beginAttempt(trial(n), attempt, startedAt);
    for (const n of [1, 2, 3, 4, 5, 6]) await begin(n, 1, `2026-03-02T08:00:0${n}.000Z`);
    await store.finishAttempt(trial(1), 1, summaryOf(trial(1), 1), '2026-03-02T08:01:00.000Z');
    // An operator that reads json would refuse this escape, and "pass" within a text is no verdict.
    const why = 'said "pass":"pass" and \u0000';
    await store.finishAttempt(trial(2), 1, summaryOf(trial(2), 1, { pass: 'fail', why }), '2026-03-02T08:01:00.000Z');
    await store.finishAttempt(trial(3), 1, summaryOf(trial(3), 1, { ending: 'infra_error', pass: null }), '2026-03-02T08:01:00.000Z');
    await begin(4, 2, '2026-03-02T07:00:00.000Z');
    await store.setPhase(trial(5), 1, 'drive');
    await store.setPhase(trial(6), 1, 'drive');
    await store.setModelWait(trial(5), 1, 60_000);
    await store.setModelWait(trial(6), 1, -1);
    const asks = false;
    expect(new Set(await store.progress(id))).toEqual(
      new Set([
        { phase: 'waiting', attempt: 'none', asks, waits: null, result: null, trials: 2 },
        { phase: 'done', attempt: 'first', asks, waits: null, result: 'pass', trials: 1 },
        { phase: 'done', attempt: 'first', asks, waits: null, result: 'fail', trials: 1 },
        { phase: 'done', attempt: 'first', asks, waits: null, result: 'infra_error', trials: 1 },
        { phase: 'waiting', attempt: 'further', asks, waits: null, result: null, trials: 1 },
        { phase: 'drive', attempt: 'first', asks, waits: 'model', result: null, trials: 1 },
        { phase: 'drive', attempt: 'first', asks, waits: null, result: null, trials: 1 },
      ]),
    );
    const running = await store.running({ batch: id, limit: 2 });
    expect(running.map((row) => [row.trial, row.attempt, row.phase, row.waits])).toEqual([
      [trial(4), 2, 'waiting', null],
      [trial(5), 1, 'drive', 'model'],
    ]);
    expect(running[0]?.seconds).toBeGreaterThan(running[1]?.seconds ?? 0);
    expect((await store.running({ limit: 1000 })).filter((row) => row.batch === id)).toHaveLength(3);
  });
});

describe('what earlier trials took', () => {
  test('is summed over the attempts of each trial, the newest of each kind, without those that say nothing', async () => {
    const suite = `s${randomUUID()}`;
    const id = `b${randomUUID().replaceAll('-', '')}`;
    await store.createBatch({ ...planOf(id, 25), suite });
    const trial = (n: number) => `${id}-${String(n).padStart(4, '0')}`;
    const end = async (n: number, attempt: number, seconds: number, changes = {}) => {
      await store.beginAttempt(trial(n), attempt, '2026-03-02T08:00:00.000Z');
      const endedAt = new Date(Date.parse('2026-03-02T08:00:00.000Z') + seconds * 1000).toISOString();
      await store.finishAttempt(trial(n), attempt, summaryOf(trial(n), attempt, changes), endedAt);
    };
    await end(1, 1, 10, { ending: 'infra_error', pass: null });
    await end(1, 2, 5);
    await end(2, 1, 7, { ending: 'cancelled', pass: null });
    await end(3, 1, 7, { ending: 'infra_error', pass: null });
    const call = (over: Partial<ModelCall>): ModelCall => ({
      ...{ id: randomUUID(), who: 'agent', agent: null, source: 'loop', route: 'r', url: null, model: 'm', reported: null, parameters: {}, seed: null },
      ...{ usage: { input: 100, output: 10, cached: null, reasoning: null }, price: { amount: 0.5, currency: 'USD' }, latencyMs: 20, tries: 1 },
      ...{ end: 'replied', problem: null, at: '2026-03-02T08:00:01.000Z', ...over },
    });
    await store.addModelCall(trial(1), 1, call({}));
    await store.addModelCall(trial(1), 2, call({ price: { amount: 0.25, currency: 'EUR' } }));
    await store.addModelCall(trial(1), 2, call({ usage: null, price: null }));
    await store.addModelCall(trial(1), 2, call({ usage: null, price: null, latencyMs: null, end: 'failed' }));
    expect(await store.samples(suite, ['reference'])).toEqual([
      {
        ...{ case: CASE.id, schedule: 'none', agent: 'reference', seconds: 15, calls: 3, input: 200, output: 20, cost: { USD: 0.5, EUR: 0.25 } },
        unmeasured: { tokens: 1, cost: 1 },
      },
    ]);
    for (let n = 4; n <= 25; n++) await end(n, 1, n);
    expect(await store.samples(suite, ['reference'])).toHaveLength(20);
    expect(await store.samples(suite, ['another'])).toEqual([]);
    expect(await store.samples('another', ['reference'])).toEqual([]);
  });
});
