import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { onlyLastFailed } from '../../src/client/last-failed.ts';
import type { PlannedTrial } from '../../src/client/plan.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { createStore } from '../../src/store/postgres-store.ts';
import type { Store, TrialPlan } from '../../src/store/store.ts';
import { AGENT_HASH, CASE, CASE_HASH, DOCUMENTS, makeDatabase, planOf, summaryOf, type TestDatabase } from './store-fixture.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await makeDatabase(inject('services').postgresUrl);
  store = await createStore({ url: database.url });
  await store.migrate();
  await store.putDocuments(DOCUMENTS);
});
afterAll(async () => {
  await store?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

let clock = Date.parse('2026-03-02T09:00:00Z');

/** A batch of trials `case repetition`, each with the verdict that it ends with; null: it has none yet. */
async function batch(suite: string, id: string, ends: { readonly [trial: string]: Partial<TrialSummary> | null }): Promise<void> {
  const trials: TrialPlan[] = Object.keys(ends).map((name, index) => {
    const [caseId = '', repetition = ''] = name.split(' ');
    const content = { caseId, caseHash: CASE_HASH, agentName: 'reference', agentHash: AGENT_HASH, schedule: 'none', scheduleHash: null };
    return { id: `${id}-${index}`, ...content, repetition: Number(repetition) };
  });
  await store.createBatch(planOf(id, 0, { suite, trials }));
  for (const [index, end] of Object.values(ends).entries()) {
    if (end === null) continue;
    const trial = `${id}-${index}`;
    clock += 1000;
    await store.beginAttempt(trial, 1, new Date(clock).toISOString());
    await store.finishAttempt(trial, 1, summaryOf(trial, 1, end), new Date(clock).toISOString());
  }
}

const PASS = {};
const FAIL = { pass: 'fail' } as const;

async function chosen(suite: string, repetitions?: number): Promise<readonly string[]> {
  const loaded = (id: string) => ({ kase: { ...CASE, id }, file: '', hash: CASE_HASH, lineOf: () => null });
  const agent = { spec: { kind: 'reference', name: 'reference', version: '1' }, hash: AGENT_HASH } as const;
  const trialsFor = (count: number): PlannedTrial[] =>
    ['a', 'b', 'c', 'd'].flatMap((id) => Array.from({ length: count }, (_, index) => ({ kase: loaded(id), schedule: null, agent, repetition: index + 1 })));
  return (await onlyLastFailed(store, suite, trialsFor, repetitions)).map(({ kase, repetition }) => `${kase.kase.id} ${repetition}`);
}

describe('what failed last', () => {
  test('is taken from every shard, not from the one that ran last', async () => {
    await batch('shards', 'sh1', { 'a 1': FAIL, 'b 1': PASS });
    await batch('shards', 'sh2', { 'c 1': PASS, 'd 1': FAIL });
    await store.setBatchState('sh2', 'finished');
    expect(await chosen('shards')).toEqual(['a 1', 'd 1']);
  });

  test('is not what passed since, and is what failed since', async () => {
    await batch('since', 'si1', { 'a 1': FAIL, 'b 1': FAIL, 'c 1': PASS });
    await batch('since', 'si2', { 'a 1': PASS, 'c 1': FAIL });
    expect(await chosen('since')).toEqual(['b 1', 'c 1']);
  });

  test('a trial that was cancelled, or has not ended, says nothing; trouble of the harness is no pass', async () => {
    await batch('endings', 'en1', { 'a 1': FAIL, 'b 1': FAIL, 'c 1': PASS });
    await batch('endings', 'en2', { 'a 1': { ending: 'cancelled', pass: null }, 'b 1': null, 'c 1': { ending: 'infra_error', pass: null } });
    expect(await chosen('endings')).toEqual(['a 1', 'b 1', 'c 1']);
  });

  test('counts repetitions, as many as failed unless told otherwise', async () => {
    await batch('often', 'of1', { 'a 1': PASS, 'a 2': PASS, 'a 3': FAIL, 'b 1': FAIL, 'b 2': PASS, 'b 3': PASS });
    expect(await chosen('often')).toEqual(['a 3', 'b 1']);
    expect(await chosen('often', 2)).toEqual(['b 1']);
  });

  test('of another suite does not count, and where nothing failed that is told', async () => {
    await batch('good', 'go1', { 'a 1': PASS });
    await expect(chosen('good')).rejects.toThrow('no trial of suite good with these cases, schedules and agents failed last');
    await expect(chosen('nowhere')).rejects.toThrow('--last-failed needs a trial of suite nowhere that came to its end; there is none yet');
  });
});
