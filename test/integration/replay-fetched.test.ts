import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { NotFoundError, replayFile, trialbedOver } from '../../src/client/index.ts';
import { prepareBatch } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'replayed');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const script = { kind: 'script', steps: [{ call: 'add_note', with: { body: 'a' } }], answer: 'Done.' } as const;

test('a batch is replayed with the runs that it continued from, and saved with them', async () => {
  const { root } = testbed;
  const client = trialbedOver(root, async () => {});
  const { batch } = await prepareBatch(root, { ...(await suites.write(script)), trials: 6, concurrency: 2, keep: 'never' });
  await startBatch(root, batch, false, new Promise(() => {}), root.config.taskQueue, null, { endsPerRun: 2 }).result();
  const file = join(root.config.home, 'batch.json');
  const report = await client.replay(batch.id, { steps: true, save: file });
  expect(report).toMatchObject({ workflow: batch.id, kind: 'batch', compatible: true, saved: file });
  expect(report.runs.length).toBeGreaterThan(1);
  expect(report.runs.slice(0, -1).every(({ last }) => last === 'WorkflowExecutionContinuedAsNew')).toBe(true);
  expect(report.runs.at(-1)?.last).toBe('WorkflowExecutionCompleted');
  expect(report.runs.at(-1)?.timeline?.at(-1)?.after?.workflow).toMatchObject({ kind: 'batch', inFlight: 0, exhausted: true });
  expect(await replayFile(file, { steps: true, home: root.config.home, env: {} })).toEqual({ ...report, saved: null });
  // For the SDK and Temporal's own tools it is the history of the last run.
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ workflowId: batch.id, runId: report.runs.at(-1)?.run });
});

test('a trial is replayed by the beginning of its id, with what ran under it before it was put into the queue again', async () => {
  const { root } = testbed;
  const client = trialbedOver(root, async () => {});
  const trial = await suites.run(script);
  const once = await client.replay(trial.trial.slice(0, -4));
  expect(once).toMatchObject({ workflow: trial.trial, kind: 'trial', compatible: true, saved: null });
  expect(once.runs).toHaveLength(1);
  expect(once.runs[0]).not.toHaveProperty('timeline');
  await root.temporal.workflow.start('trial', {
    workflowId: trial.trial,
    taskQueue: root.config.taskQueue,
    args: [{ trial: trial.trial, batch: trial.batch, case: trial.case, agent: trial.agent, firstAttempt: 1, retries: 0, together: true }],
  });
  await root.temporal.workflow.getHandle(trial.trial).result();
  await expect.poll(async () => (await client.replay(trial.trial)).runs.length, { timeout: 10_000 }).toBe(2);
  const again = await client.replay(trial.trial);
  expect(again.runs[0]).toEqual(once.runs[0]);
  expect(again.compatible).toBe(true);
});

test('what the server has not is said', async () => {
  const client = trialbedOver(testbed.root, async () => {});
  await expect(client.replay('no-such-trial')).rejects.toThrow(NotFoundError);
  await expect(client.replay('no-such-trial')).rejects.toThrow(/the server has no history of no-such-trial/);
});

test('a history whose payloads are encrypted is saved as it is, and replays where the key is', async () => {
  const keys = [{ id: 'k1', secret: Buffer.alloc(32, 7).toString('base64') }];
  await using sealed = await startTestbed(inject('services'), { config: { keys } });
  await using own = await blobs(sealed, 'replayed');
  const trial = await own.run({ kind: 'script', steps: [{ call: 'refuse', with: { length: 5 } }], answer: 'Done.' });
  const file = join(sealed.root.config.home, 'trial.json');
  const report = await trialbedOver(sealed.root, async () => {}).replay(trial.trial, { steps: true, save: file });
  expect(report.compatible).toBe(true);
  expect(report.runs[0]?.timeline?.flatMap(({ operations }) => operations)).toMatchObject([{ id: 'op-1', tool: 'refuse', state: 'failed' }]);
  expect(await readFile(file, 'utf8')).toContain('"encryption-key-id"');
  const env = { TRIALBED_KEYS: `k1=${keys[0]?.secret}` };
  expect(await replayFile(file, { steps: true, home: sealed.root.config.home, env })).toEqual({ ...report, saved: null });
  await expect(replayFile(file, { home: sealed.root.config.home, env: {} })).rejects.toThrow(/k1/);
});
