import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import type { ModelCall } from '../../src/domain/model.ts';
import { createStore } from '../../src/store/postgres-store.ts';
import { type Store, StoreConflictError } from '../../src/store/store.ts';
import { AGENT_HASH, CASE, CASE_HASH, DOCUMENTS, makeDatabase, planOf, recordOf, summaryOf, type TestDatabase, verdictOf } from './store-fixture.ts';

let database: TestDatabase;
let store: Store;
let clock = Date.parse('2026-03-02T08:00:00.000Z');

beforeAll(async () => {
  database = await makeDatabase(inject('services').postgresUrl);
  store = await createStore({
    url: database.url,
    now: () => {
      clock += 1000;
      return new Date(clock);
    },
  });
  await store.migrate();
  await store.putDocuments(DOCUMENTS);
});

afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A batch of so many trials under an id that no other test has. */
async function batchOf(trials: number): Promise<{ id: string; trial: string }> {
  const id = `b${randomUUID().replaceAll('-', '')}`;
  await store.createBatch(planOf(id, trials));
  return { id, trial: `${id}-0001` };
}

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

describe('documents', () => {
  test('are read back by hash, and putting them twice changes nothing', async () => {
    await Promise.all([store.putDocuments(DOCUMENTS), store.putDocuments(DOCUMENTS)]);
    expect(await store.caseDocument(CASE_HASH)).toEqual({ hash: CASE_HASH, kase: CASE });
    expect(await store.agentDocument(AGENT_HASH)).toEqual(DOCUMENTS.agents[0]);
    expect(await store.caseDocument('unknown')).toBeNull();
    expect(await store.agentDocument('unknown')).toBeNull();
  });

  test('overlapping sets in opposite order do not lock each other out', async () => {
    const cases = Array.from({ length: 300 }, (_, i) => ({ hash: `overlap-${i}`, kase: CASE }));
    const reversed = [...cases].reverse();
    await Promise.all(Array.from({ length: 6 }, (_, i) => store.putDocuments({ cases: i % 2 === 0 ? cases : reversed, agents: [] })));
    expect((await database.query(`select count(*)::int as n from trialbed.cases where hash like 'overlap-%'`))[0]).toEqual({ n: 300 });
  });
});

describe('batches', () => {
  test('a batch is read back as it was planned, its trials in the order of the manifest', async () => {
    const id = `b${randomUUID()}`;
    const plan = planOf(id, 3);
    await store.createBatch({ ...plan, trials: [...plan.trials].reverse() });
    const batch = await store.batch(id);
    expect(batch).toMatchObject({
      id,
      suite: 'support-desk',
      state: 'running',
      trials: 3,
      done: 0,
      finishedAt: null,
      environment: plan.environment,
      sources: plan.sources,
    });
    expect((await store.trials(id)).map((trial) => trial.repetition)).toEqual([3, 2, 1]);
    expect((await store.trials(id))[0]).toEqual({ ...plan.trials[2], batch: id, phase: 'waiting', attempt: 0, summary: null });
    expect(await store.batch('unknown')).toBeNull();
    expect(await store.trials('unknown')).toEqual([]);
  });

  test('two callers at once make one batch', async () => {
    const plan = planOf(`b${randomUUID()}`, 50);
    await Promise.all(Array.from({ length: 6 }, () => store.createBatch(plan)));
    expect(await store.trials(plan.id)).toHaveLength(50);
  });

  test('of two callers at once with different manifests one is told of the conflict', async () => {
    const plan = planOf(`b${randomUUID()}`, 5);
    const results = await Promise.allSettled([store.createBatch(plan), store.createBatch({ ...plan, manifestHash: 'other', trials: plan.trials.slice(0, 2) })]);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toBeInstanceOf(StoreConflictError);
    const kept = await store.batch(plan.id);
    expect(kept?.trials).toBe(kept?.manifestHash === 'other' ? 2 : 5);
  });

  test('a batch of thousands of trials is made in one go', async () => {
    const { id } = await batchOf(4000);
    expect((await store.batch(id))?.trials).toBe(4000);
  });

  test('a batch keeps the labels of its cases that it was made with; without any they are those of the document', async () => {
    const labelsIn = async (id: string): Promise<unknown> => {
      const found = [];
      for await (const page of store.facts(id)) found.push(...page.map(({ tags, severity, quarantine }) => ({ tags, severity, quarantine })));
      return found;
    };
    const { id: plain } = await batchOf(1);
    expect(await labelsIn(plain)).toEqual([{ tags: ['smoke'], severity: 'medium', quarantine: null }]);
    const labels = { tags: ["it's", 'mail'], severity: 'critical', quarantine: { reason: 'lags', owner: 'mara', until: '2027-01-31' } } as const;
    const plan = planOf(`b${randomUUID()}`, 2, { labels: { [CASE.id]: labels } });
    await store.createBatch(plan);
    expect(await labelsIn(plan.id)).toEqual([labels, labels]);
    expect(await labelsIn(plain)).toEqual([{ tags: ['smoke'], severity: 'medium', quarantine: null }]);
  });

  test('a trial whose documents are missing, and a trial id that is taken, are conflicts that leave nothing behind', async () => {
    const id = `b${randomUUID()}`;
    const plan = planOf(id, 1);
    const trials = plan.trials.map((trial) => ({ ...trial, caseHash: 'not stored' }));
    await expect(store.createBatch({ ...plan, trials })).rejects.toThrow(/putDocuments first/);
    expect(await store.batch(id)).toBeNull();
    const other = await batchOf(1);
    await expect(store.createBatch({ ...plan, trials: plan.trials.map((trial) => ({ ...trial, id: other.trial })) })).rejects.toBeInstanceOf(
      StoreConflictError,
    );
    expect(await store.batch(id)).toBeNull();
  });

  test('only a batch that runs or was interrupted is resumed, and one that ended stays so', async () => {
    const { id } = await batchOf(1);
    const manifest = `manifest of ${id}`;
    expect((await store.unfinishedBatch(manifest))?.id).toBe(id);
    await store.setBatchState(id, 'interrupted');
    expect((await store.unfinishedBatch(manifest))?.id).toBe(id);
    await store.createBatch(planOf(`${id}x`, 1, { manifestHash: manifest }));
    expect((await store.unfinishedBatch(manifest))?.id).toBe(`${id}x`);
    await store.setBatchState(`${id}x`, 'cancelled');
    expect((await store.unfinishedBatch(manifest))?.id).toBe(id);
    await store.setBatchState(id, 'finished');
    const finishedAt = (await store.batch(id))?.finishedAt;
    expect(finishedAt).toMatch(/^2026-03-02T/);
    await store.setBatchState(id, 'finished');
    expect((await store.batch(id))?.finishedAt).toBe(finishedAt);
    expect(await store.unfinishedBatch(manifest)).toBeNull();
    await expect(store.setBatchState(id, 'running')).rejects.toThrow(/is finished and stays so/);
    await expect(store.setBatchState('unknown', 'finished')).rejects.toBeInstanceOf(StoreConflictError);
  });

  test('are listed newest first, by state and suite, up to a limit', async () => {
    const suite = `suite-${randomUUID()}`;
    for (const name of ['one', 'two', 'three']) await store.createBatch(planOf(`${suite}-${name}`, 1, { suite }));
    await store.setBatchState(`${suite}-two`, 'finished');
    const ids = async (filter: Parameters<Store['batches']>[0]): Promise<string[]> =>
      (await store.batches(filter)).map((batch) => batch.id.slice(suite.length + 1));
    expect(await ids({ suite })).toEqual(['three', 'two', 'one']);
    expect(await ids({ suite, limit: 2 })).toEqual(['three', 'two']);
    expect(await ids({ suite, state: 'running' })).toEqual(['three', 'one']);
    expect(await ids({ suite, state: 'cancelled' })).toEqual([]);
  });
});

describe('trials by prefix', () => {
  test('one is found, several are a conflict, none is null', async () => {
    const { id } = await batchOf(12);
    expect((await store.trial(`${id}-0003`))?.repetition).toBe(3);
    expect((await store.trial(`${id}-001`).catch((error: unknown) => error)) as Error).toBeInstanceOf(StoreConflictError);
    expect((await store.trial(`${id}-0012`))?.repetition).toBe(12);
    await expect(store.trial(id)).rejects.toThrow(/give more of the id/);
    expect(await store.trial('zzz')).toBeNull();
    expect(await store.trial('')).toBeNull();
    expect(await store.trial('a\0b')).toBeNull();
  });

  test('an id that is the beginning of another is itself; the pattern characters of SQL are plain text', async () => {
    const id = `b${randomUUID()}`;
    const [trial] = planOf(id, 1).trials;
    if (trial === undefined) throw new Error('no trial');
    await store.createBatch(
      planOf(id, 0, {
        trials: [
          { ...trial, id: `${id}_a` },
          { ...trial, id: `${id}_ab`, repetition: 2 },
          { ...trial, id: `${id}%\\`, repetition: 3 },
        ],
      }),
    );
    expect((await store.trial(`${id}_a`))?.id).toBe(`${id}_a`);
    expect((await store.trial(`${id}%`))?.id).toBe(`${id}%\\`);
    expect((await store.trial(`${id}%\\`))?.id).toBe(`${id}%\\`);
    expect(await store.trial(`${id.slice(0, -1)}_`)).toBeNull();
  });
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

describe('what agents write', () => {
  test('text with NUL, unpaired surrogates and every other character comes back as it was', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    const text = 'NUL \0, halves \ud83d and \ude00, whole \u{1f600}, \\u0000 spelled out, e\u0301 not composed, \u2028, \ufeff';
    await store.addMessage(trial, 1, { turn: 1, from: 'agent', text, data: { ['key \0 \ud800']: text } });
    expect(await store.messages(trial, 1)).toEqual([{ turn: 1, from: 'agent', text, data: { ['key \0 \ud800']: text } }]);
    const operation = { ...OPERATION, args: { text, nested: [text] }, result: text };
    await store.putRecord(trial, 1, recordOf({ operations: [operation] }));
    expect((await store.record(trial, 1))?.operations).toEqual([operation]);
    await store.putSnapshot(`s-${trial}`, trial, 1, { text });
    await store.putSnapshot(`s-${trial}`, trial, 1, { text: 'second' });
    expect(await store.snapshot(`s-${trial}`)).toEqual({ trial, attempt: 1, snapshot: { text } });
    await store.finishAttempt(trial, 1, summaryOf(trial, 1, { why: text, ending: 'agent_error' }), '2026-03-02T08:31:00.000Z');
    expect((await store.trial(trial))?.summary?.why).toBe(text);
    expect((await store.attempts(trial))[0]?.problem?.message).toBe(text);
  });

  test('any JSON value comes back as it was', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: false, stringUnit: 'binary' }), async (value) => {
        n += 1;
        const json = JSON.parse(JSON.stringify(value)) as Json;
        await store.putSnapshot(`any-${trial}-${n}`, trial, 1, { value: json });
        expect((await store.snapshot(`any-${trial}-${n}`))?.snapshot.value).toEqual(json);
      }),
      { numRuns: 60 },
    );
  });

  test('keys of an object keep their order, and __proto__ is a key like any other', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    const text = '{"z":1,"a":2,"__proto__":{"polluted":true},"1":3}';
    await store.putSnapshot(`keys-${trial}`, trial, 1, JSON.parse(text));
    expect(JSON.stringify((await store.snapshot(`keys-${trial}`))?.snapshot)).toBe(JSON.stringify(JSON.parse(text)));
  });

  test('a record of many megabytes, and one nested a thousand deep', async () => {
    const { id, trial } = await batchOf(2);
    await store.beginAttempt(trial, 1, '2026-03-02T08:30:00.000Z');
    const big = 'a line of a long file\0\n'.repeat(1_000_000);
    await store.putRecord(trial, 1, recordOf({ operations: [{ ...OPERATION, result: big }] }));
    expect((await store.record(trial, 1))?.operations[0]?.result === big).toBe(true);
    let deep: Json = 1;
    for (let i = 0; i < 1000; i++) deep = i % 2 === 0 ? [deep] : { deep };
    await store.beginAttempt(`${id}-0002`, 1, '2026-03-02T08:30:00.000Z');
    await store.putRecord(`${id}-0002`, 1, recordOf({ operations: [{ ...OPERATION, args: deep }] }));
    expect(JSON.stringify((await store.record(`${id}-0002`, 1))?.operations[0]?.args)).toBe(JSON.stringify(deep));
  });
});

test('end states of reference solutions are kept by generation and case', async () => {
  expect(await store.referenceEffects('g1', CASE_HASH)).toBeNull();
  await store.putReferenceEffects('g1', CASE_HASH, []);
  await store.putReferenceEffects('g1', CASE_HASH, []);
  expect(await store.referenceEffects('g1', CASE_HASH)).toEqual([]);
  expect(await store.referenceEffects('g2', CASE_HASH)).toBeNull();
});

const OPERATION = {
  id: 'op1',
  seq: 1,
  tool: 'write_note',
  effect: 'write' as const,
  args: {},
  idempotencyKey: null,
  position: 1,
  told: 'committed' as const,
  known: 'committed' as const,
  result: null,
  problem: null,
  durationMs: 3,
  at: '2026-03-02T08:30:00.000Z',
  disturbed: false,
};

describe('calls of models', () => {
  const call = (id: string, changes: Partial<ModelCall> = {}): ModelCall => ({
    ...{ id, who: 'agent', agent: null, source: 'loop', route: 'tiny', url: 'http://127.0.0.1:1/v1', model: 'tiny', reported: 'v1' },
    ...{
      parameters: { temperature: 0 },
      seed: 7,
      usage: { input: 10, output: 2, cached: null, reasoning: null },
      price: { amount: 0.000001, currency: 'USD' },
    },
    ...{ latencyMs: 12.5, tries: 2, end: 'replied', problem: null, at: '2026-03-02T08:00:00.000Z' },
    ...changes,
  });

  test('are kept once, in order, for an attempt that exists', async () => {
    const { trial } = await batchOf(1);
    await expect(store.addModelCall(trial, 1, call('model-1'))).rejects.toThrow(StoreConflictError);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00.000Z');
    const calls = [call('model-2'), call('model-1', { usage: null, price: null, latencyMs: null, end: 'failed', problem: { code: 'x', message: '\u0000' } })];
    for (const one of calls) await store.addModelCall(trial, 1, one);
    await store.addModelCall(trial, 1, call('model-2', { tries: 9 }));
    expect(await store.modelCalls(trial, 1)).toEqual(calls);
  });

  test('a conversation goes on from what was said, and keeps what may be kept', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00.000Z');
    const entry = (seq: number, text: string) => ({
      ...{ who: 'agent' as const, agent: null, seq, role: 'user' as const, call: null, body: { text: 'kept' } },
      exact: { role: 'user' as const, text },
    });
    await store.addConversation(trial, 1, [entry(2, 'b'), entry(1, 'a\u0000')]);
    await store.addConversation(trial, 1, [entry(2, 'another')]);
    await store.addConversation(trial, 1, [{ who: 'user', agent: null, seq: 1, role: 'system', call: 'model-1', body: { text: 'brief' } }]);
    expect(await store.liveConversation(trial, 1, { who: 'agent', agent: null })).toEqual([
      { role: 'user', text: 'a\u0000' },
      { role: 'user', text: 'b' },
    ]);
    const kept = [
      { who: 'agent', agent: null, seq: 1, role: 'user', call: null, body: { text: 'kept' } },
      { who: 'agent', agent: null, seq: 2, role: 'user', call: null, body: { text: 'kept' } },
      { who: 'user', agent: null, seq: 1, role: 'system', call: 'model-1', body: { text: 'brief' } },
    ];
    expect(await store.conversation(trial, 1)).toEqual(kept);
    await store.finishAttempt(trial, 1, summaryOf(trial, 1), '2026-03-02T08:01:00.000Z');
    expect(await store.liveConversation(trial, 1, { who: 'agent', agent: null })).toEqual([]);
    expect(await store.conversation(trial, 1)).toEqual(kept);
  });
});

describe('the gateway', () => {
  test('finds a token by its name, and its agent, until it or its attempt has ended', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00Z');
    const place = { trial, attempt: 1, agent: 'clerk' };
    const token = { ...place, place: 'http://10.0.0.1:8080', name: randomUUID(), digest: 'd' };
    await store.putGatewayToken({ ...token, name: randomUUID() });
    await store.putGatewayToken(token);
    expect(await store.gatewayTokenOf(place)).toEqual(token);
    expect(await store.gatewayToken(token.name)).toEqual({ ...token, ended: false });
    await store.moveGatewayToken(token.name, 'http://10.0.0.2:8080');
    await store.endGatewayToken(token.name);
    expect(await store.gatewayTokenOf(place)).toBeNull();
    expect(await store.gatewayToken(token.name)).toEqual({ ...token, place: 'http://10.0.0.2:8080', ended: true });
    const other = { ...token, agent: 'other', name: randomUUID(), digest: 'e' };
    await store.putGatewayToken(other);
    await store.beginAttempt(trial, 2, '2026-03-02T08:01:00Z');
    expect(await store.gatewayToken(other.name)).toMatchObject({ ended: true });
    expect(await store.gatewayToken('nobody')).toBeNull();
  });

  test('keeps the operation of a named call, the first one, and a bounded number of late requests', async () => {
    const { trial } = await batchOf(1);
    await store.beginAttempt(trial, 1, '2026-03-02T08:00:00Z');
    await store.putGatewayCall(trial, 1, { id: 'mine', digest: 'd', operation: 'op-1' });
    await store.putGatewayCall(trial, 1, { id: 'mine', digest: 'd', operation: 'op-2' });
    expect(await store.gatewayCalls(trial, 1)).toEqual([{ id: 'mine', digest: 'd', operation: 'op-1' }]);
    await store.setOpenTurn(trial, 1, { asked: 1, status: 'http://agent/1' });
    await store.setOpenTurn(trial, 1, { asked: 2, status: 'http://agent/2' });
    expect(await store.openTurn(trial, 1)).toEqual({ asked: 2, status: 'http://agent/2' });
    await store.setOpenTurn(trial, 1, null);
    expect(await store.openTurn(trial, 1)).toBeNull();
    for (let n = 1; n <= 102; n++) await store.addLateRequest(trial, 1, `request ${n}`);
    const late = await store.lateRequests(trial, 1);
    expect(late).toHaveLength(100);
    expect(late[0]).toMatchObject({ detail: 'request 1' });
  });
});
