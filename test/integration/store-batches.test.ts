import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Store, StoreConflictError } from '../../src/store/store.ts';
import { AGENT_HASH, CASE, CASE_HASH, DOCUMENTS, type OpenedStore, openStore, planOf } from './store-fixture.ts';

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
    expect((await opened.database.query(`select count(*)::int as n from trialbed.cases where hash like 'overlap-%'`))[0]).toEqual({ n: 300 });
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
