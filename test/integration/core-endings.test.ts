import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
let sql: pg.Client;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'core-endings');
  sql = new pg.Client({ connectionString: testbed.config.store.url });
  await sql.connect();
});
afterAll(async () => {
  await sql.end();
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

it('a trial that has its result keeps it, even when it is started again under an environment that has changed', async () => {
  await using bed = await startTestbed(inject('services'), { worker: false });
  await using own = await blobs(bed, 'core-endings');
  const handle = await run(bed.root, { ...(await own.write({ kind: 'do-nothing' })), keep: 'never' }, new Promise(() => {}));
  const first = await startTrialWorker(bed.root);
  await handle.result();
  // The next worker has not read the batch yet.
  await first[Symbol.asyncDispose]();
  await using client = new AsyncDisposableStack();
  const store = new pg.Client({ connectionString: bed.config.store.url });
  await store.connect();
  client.defer(() => store.end());
  await store.query(`update trialbed.batches set environment = (environment::jsonb || '{"generation": "another"}')::json`);

  await using _second = await startTrialWorker(bed.root);
  const [trial] = await bed.root.store.trials(handle.id);
  const again = await bed.root.temporal.workflow.execute('trial', {
    workflowId: trial?.id ?? '',
    taskQueue: bed.config.taskQueue,
    args: [{ trial: trial?.id, batch: handle.id, case: trial?.caseId, agent: trial?.agentName, firstAttempt: 2, retries: 2 }],
  });
  expect(again).toEqual(trial?.summary);
  expect(again).toMatchObject({ ending: 'completed', pass: 'pass' });
  expect(await bed.root.store.trial(trial?.id ?? '')).toEqual(trial);
  expect(await bed.root.store.attempts(trial?.id ?? '')).toHaveLength(1);
});

it('state that a case cannot set is not tried again: the next world would refuse it too', async () => {
  const trial = await suites.run({ kind: 'do-nothing' }, { state: [{ update: 'notes', where: { id: 77 }, set: { body: 'x' } }] });
  expect(trial).toMatchObject({ ending: 'infra_error', pass: null, attempt: 1 });
  expect(trial.why).toContain('state[0]');
});

it('a snapshot that cannot be kept takes no verdict away', async () => {
  await sql.query('drop table trialbed.snapshots');
  const { trials } = await testbed.run({ ...(await suites.write({ kind: 'do-nothing' })), keep: 'always' });
  expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt: 1, snapshot: null }]);
  expect(await testbed.root.worlds.leased(`${trials[0]?.batch}-`)).toBe(0);
});
