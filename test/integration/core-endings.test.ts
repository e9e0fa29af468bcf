import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
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

/** Runs the workflow of a trial once more, as a launcher does that does not know of its end. */
const again = (trial: TrialSummary): Promise<TrialSummary> =>
  testbed.root.temporal.workflow.execute('trial', {
    workflowId: trial.trial,
    taskQueue: testbed.config.taskQueue,
    args: [{ trial: trial.trial, batch: trial.batch, case: trial.case, agent: trial.agent, firstAttempt: 2, retries: 2 }],
  });

it('a trial that has its result keeps it, even when it is started again under an environment that has changed', async () => {
  const trial = await suites.run({ kind: 'do-nothing' });
  await sql.query(`update trialbed.batches set environment = (environment::jsonb || '{"generation": "another"}')::json where id = $1`, [trial.batch]);
  expect(await again(trial)).toEqual(trial);
  expect(await testbed.root.store.trial(trial.trial)).toMatchObject({ attempt: 1, summary: { ending: 'completed', pass: 'pass' } });
  expect(await testbed.root.store.attempts(trial.trial)).toHaveLength(1);
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
