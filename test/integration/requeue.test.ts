import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { trialbedOver } from '../../src/client/index.ts';
import type { Trialbed } from '../../src/client/api.ts';
import { prepareBatch } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import { runSharedWorker } from '../../src/worker/shared-worker.ts';
import { batchQueue } from '../../src/workflows/messages.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let client: Trialbed;
const stop = new AbortController();
let worker: Promise<void>;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-requeue-'));
  testbed = await startTestbed(inject('services'), { worker: false });
  client = trialbedOver(testbed.root, async () => {});
  worker = runSharedWorker(testbed.config, { signal: stop.signal });
});

afterAll(async () => {
  stop.abort();
  await worker;
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Launches as a command does that has no worker of its own, and is gone at once. */
async function launched(seed: string) {
  const { root } = testbed;
  const { batch } = await prepareBatch(root, { suite: 'support-desk', agents: ['reference'], cases: ['price-question'], seed });
  const handle = startBatch(root, batch, false, new Promise(() => {}), batchQueue(root.config.taskQueue, batch.id));
  return { batch, handle };
}

test('a trial of a finished batch is run again: the old attempt is kept, the newest counts, a repeated wish changes nothing', async () => {
  const { batch, handle } = await launched('finished');
  expect(await handle.result()).toMatchObject({ trials: 1, passed: 1 });
  const [trial] = await client.trials(batch.id);
  if (!trial) throw new Error('the batch has no trial');
  expect(await client.requeue(trial.id)).toEqual({ trial: trial.id, batch: batch.id, state: 'interrupted', attempt: 1, already: false, ended: false });
  expect(await client.requeue(trial.id.slice(0, -3))).toMatchObject({ already: true, attempt: 1 });
  expect((await client.results(batch.id)).trials).toMatchObject([{ attempt: 1, pass: 'pass' }]);
  // Nobody works on it any more, so whoever watches goes on with it.
  const watched = await client.watch();
  expect(watched).toMatchObject({ id: batch.id, work: 'ours', why: null });
  expect(await watched.result()).toMatchObject({ trials: 1, passed: 1, gate: 'met', worlds: { made: 2 } });
  const { attempts } = await client.show(trial.id);
  expect(attempts.map(({ attempt, ending, counts }) => [attempt, ending, counts])).toEqual([
    [1, 'completed', false],
    [2, 'completed', true],
  ]);
  expect(await client.watch(batch.id)).toMatchObject({ work: 'over' });
  await client.requeue(trial.id);
  await testbed.root.store.setBatchState(batch.id, 'cancelled');
  await expect(client.requeue(trial.id)).rejects.toMatchObject({ code: 'store_conflict' });
});

test('a trial that runs is refused, and by force its attempt ends cancelled and another follows in the running batch', async () => {
  const { root } = testbed;
  const agent = { kind: 'script', steps: [{ call: 'issue_refund', with: { order_id: 5012, amount: 60, reason: 'damaged' } }], answer: 'Done.' };
  const user = { name: 'mara', role: 'agent', approval: [{ tool: 'issue_refund' }] };
  const written = await writeOneCaseSuite(folder, 'runs', { environment: 'support-desk', agent, kase: { user, approver: 'deny' } });
  const { batch } = await prepareBatch(root, { ...written, human: true });
  startBatch(root, batch, false, new Promise(() => {}), batchQueue(root.config.taskQueue, batch.id));
  const asks = () => expect.poll(async () => (await client.approvals({ batch: batch.id })).map(({ attempt }) => attempt), { timeout: 60_000 });
  await asks().toEqual([1]);
  const [row] = await client.running({ batch: batch.id });
  expect(row).toMatchObject({ batch: batch.id, phase: 'drive', attempt: 1, waits: 'approval' });
  if (!row) throw new Error('no trial runs');
  await expect(client.requeue(row.trial)).rejects.toMatchObject({ code: 'trial_runs', message: expect.stringContaining('attempt 1 is in phase drive') });
  expect(await client.watch(batch.id)).toMatchObject({ work: 'others' });
  expect((await client.batches({ running: true })).map(({ id }) => id)).toContain(batch.id);
  expect(await client.requeue(row.trial, { force: true })).toMatchObject({ trial: row.trial, ended: true });
  // A batch that ended with the cancelled trial is gone on with.
  if ((await root.store.batch(batch.id))?.state !== 'running') await client.watch(batch.id);
  await asks().toEqual([2]);
  const { attempts } = await client.show(row.trial);
  expect(attempts.map(({ attempt, ending }) => [attempt, ending])).toEqual([
    [1, 'cancelled'],
    [2, null],
  ]);
  await root.temporal.workflow.getHandle(row.trial).cancel();
  await expect.poll(async () => (await client.outcomes([batch.id])).get(batch.id)?.cancelled, { timeout: 30_000 }).toBe(1);
});
