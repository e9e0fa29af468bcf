import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Store, StoreConflictError } from '../../src/store/store.ts';
import { CASE_HASH, type OpenedStore, openStore, recordOf, summaryOf, verdictOf } from './store-fixture.ts';

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

describe('attempts', () => {
  test('a trial from beginning to end', async () => {
    const { id, trial } = await batchOf(2);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    await store.beginAttempt(trial, 1, '2026-03-02T09:00:00.000Z');
    await store.setPhase(trial, 1, 'provision');
    await store.setAttemptWorld(trial, 1, { id: 'abc', host: 'embedded' });
    await store.setPhase(trial, 1, 'drive');
    expect(await store.trial(trial)).toMatchObject({ phase: 'drive', attempt: 1, summary: null });
    await store.addMessage(trial, 1, { turn: 1, from: 'user', text: 'Refund it.' });
    await store.addMessage(trial, 1, { turn: 1, from: 'agent', text: 'One moment.' });
    await store.addMessage(trial, 1, { turn: 1, from: 'agent', text: 'Done.', data: { refund: 7 } });
    await store.addMessage(trial, 1, { turn: 1, from: 'agent', text: 'One moment.' });
    expect((await store.messages(trial, 1)).map((message) => message.text)).toEqual(['Refund it.', 'One moment.', 'Done.']);
    await Promise.all([store.putRecord(trial, 1, recordOf()), store.putRecord(trial, 1, recordOf())]);
    await store.putRecord(trial, 1, recordOf({ ending: 'agent_error' }));
    expect((await store.record(trial, 1))?.ending).toBe('completed');
    await store.finishAttempt(trial, 1, summaryOf(trial, 1), '2026-03-02T08:31:00.000Z');
    await store.finishAttempt(trial, 1, summaryOf(trial, 1, { ending: 'cancelled', pass: null }), '2026-03-02T08:32:00.000Z');
    await store.setPhase(trial, 1, 'release');
    expect(await store.trial(trial)).toMatchObject({ phase: 'done', attempt: 1, summary: summaryOf(trial, 1) });
    expect(await store.attempts(trial)).toEqual([
      {
        trial,
        attempt: 1,
        ending: 'completed',
        counts: true,
        problem: null,
        startedAt: '2026-03-02T08:30:00.000Z',
        endedAt: '2026-03-02T08:31:00.000Z',
        world: { id: 'abc', host: 'embedded' },
      },
    ]);
    expect((await store.batch(id))?.done).toBe(1);
    expect(await store.record(trial, 2)).toBeNull();
    expect(await store.messages(trial, 2)).toEqual([]);
  });

  test('the attempt with the highest number counts, and an older one that reports late changes nothing', async () => {
    const { id, trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    await store.finishAttempt(trial, 1, summaryOf(trial, 1, { ending: 'infra_error', pass: null, why: 'the world was lost' }), '2026-03-02T08:31:00.000Z');
    expect((await store.batch(id))?.done).toBe(1);
    await store.beginAttempt(trial, 2, '2026-03-02T08:32:00.000Z');
    expect(await store.trial(trial)).toMatchObject({ phase: 'waiting', attempt: 2, summary: null });
    expect((await store.batch(id))?.done).toBe(0);
    await store.setPhase(trial, 1, 'grade');
    await store.beginAttempt(trial, 1, '2026-03-02T08:33:00.000Z');
    expect(await store.trial(trial)).toMatchObject({ phase: 'waiting', attempt: 2 });
    await store.finishAttempt(trial, 2, summaryOf(trial, 2), '2026-03-02T08:34:00.000Z');
    expect((await store.attempts(trial)).map(({ attempt, counts, ending, problem }) => ({ attempt, counts, ending, problem }))).toEqual([
      { attempt: 1, counts: false, ending: 'infra_error', problem: { code: 'infra_error', message: 'the world was lost' } },
      { attempt: 2, counts: true, ending: 'completed', problem: null },
    ]);
  });

  test('an attempt that never came to begin is recorded with its end', async () => {
    const { trial } = await batchOf(1);
    await store.finishAttempt(trial, 1, summaryOf(trial, 1, { ending: 'infra_error', pass: null }), '2026-03-02T08:31:00.000Z');
    expect(await store.trial(trial)).toMatchObject({ phase: 'done', attempt: 1, summary: { ending: 'infra_error' } });
  });

  test('what belongs to an attempt that does not exist is refused', async () => {
    const { trial } = await batchOf(1);
    await expect(store.putRecord(trial, 1, recordOf())).rejects.toBeInstanceOf(StoreConflictError);
    await expect(store.addMessage(trial, 1, { turn: 1, from: 'user', text: 'x' })).rejects.toBeInstanceOf(StoreConflictError);
    await expect(store.setAttemptWorld(trial, 1, { id: 'a', host: 'b' })).rejects.toBeInstanceOf(StoreConflictError);
    await expect(store.addVerdict(trial, 1, verdictOf())).rejects.toBeInstanceOf(StoreConflictError);
    await expect(store.putSnapshot('s', trial, 1, {})).rejects.toBeInstanceOf(StoreConflictError);
    await expect(store.beginAttempt('unknown', 1, '2026-03-02T08:31:00.000Z')).rejects.toBeInstanceOf(StoreConflictError);
    await expect(store.finishAttempt('unknown', 1, summaryOf('unknown', 1), '2026-03-02T08:31:00.000Z')).rejects.toBeInstanceOf(StoreConflictError);
  });
});

describe('verdicts', () => {
  test('an equal one is added once; a new one becomes current and the summary follows it; going back makes the old one current again', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    await Promise.all([store.addVerdict(trial, 1, verdictOf()), store.addVerdict(trial, 1, verdictOf())]);
    await store.finishAttempt(trial, 1, summaryOf(trial, 1), '2026-03-02T08:31:00.000Z');
    expect(await store.verdicts(trial)).toMatchObject([{ attempt: 1, current: true, pass: 'pass', caseHash: CASE_HASH }]);

    const finding = { code: 'missing_effect', judgement: 'fail' as const, rule: 'outcomes[0]', message: 'no refund' };
    await store.addVerdict(trial, 1, verdictOf({ caseHash: 'edited', pass: 'fail', outcome: { judgement: 'fail', findings: [finding] } }));
    expect((await store.verdicts(trial)).map(({ caseHash, current }) => ({ caseHash, current }))).toEqual([
      { caseHash: CASE_HASH, current: false },
      { caseHash: 'edited', current: true },
    ]);
    expect((await store.trial(trial))?.summary).toMatchObject({ pass: 'fail', outcome: 'fail', effects: 'pass', why: 'no refund', calls: 2 });

    await store.addVerdict(trial, 1, verdictOf());
    expect((await store.verdicts(trial)).map(({ caseHash, current }) => ({ caseHash, current }))).toEqual([
      { caseHash: 'edited', current: false },
      { caseHash: CASE_HASH, current: true },
    ]);
    expect((await store.trial(trial))?.summary).toEqual(summaryOf(trial, 1));
  });

  test('of an attempt that no longer counts none is current, and an attempt that was never scored gets no score', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    await store.finishAttempt(
      trial,
      1,
      summaryOf(trial, 1, { ending: 'infra_error', pass: null, outcome: null, constraints: null, effects: null }),
      '2026-03-02T08:31:00.000Z',
    );
    await store.addVerdict(trial, 1, verdictOf());
    expect((await store.trial(trial))?.summary?.pass).toBeNull();
    await store.beginAttempt(trial, 2, '2026-03-02T08:32:00.000Z');
    expect((await store.verdicts(trial)).map((verdict) => verdict.current)).toEqual([false]);
  });
});

test('end states of reference solutions are kept by generation and case', async () => {
  expect(await store.referenceEffects('g1', CASE_HASH)).toBeNull();
  await store.putReferenceEffects('g1', CASE_HASH, []);
  await store.putReferenceEffects('g1', CASE_HASH, []);
  expect(await store.referenceEffects('g1', CASE_HASH)).toEqual([]);
  expect(await store.referenceEffects('g2', CASE_HASH)).toBeNull();
});
