import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { startMark } from '../../src/infra/process.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { planned } from '../harness/planned.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-suite-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Writes a suite of one case over the support desk and an agent for it, and runs that one trial. */
async function runOne(name: string, agent: JsonObject, kase: JsonObject = {}): Promise<TrialSummary> {
  const { trials } = await testbed.run({ ...(await writeOneCaseSuite(folder, name, { environment: 'support-desk', agent, kase })), keep: 'never' });
  const [trial] = trials;
  if (!trial) throw new Error('the batch has no trial');
  return trial;
}

const module = (file: string, more: JsonObject = {}): JsonObject => ({ kind: 'module', file: resolve('test/fixtures/agents', file), ...more });
const recordOf = async (trial: TrialSummary) => {
  const record = await testbed.root.store.record(trial.trial, trial.attempt);
  if (!record) throw new Error('the trial has no record');
  return record;
};

describe('an agent that is not well', () => {
  it('that throws is graded on the world it left', async () => {
    const trial = await runOne('throws', module('throws.ts'));
    expect(trial).toMatchObject({ ending: 'agent_error', calls: 1 });
    expect((await recordOf(trial)).problem?.message).toContain('the agent lost its mind');
  });

  it('that exits without a word has an error of its own, not of the harness', async () => {
    const trial = await runOne('exits', module('exits.ts'));
    expect(trial).toMatchObject({ ending: 'agent_error', attempt: 1 });
    expect((await recordOf(trial)).problem?.message).toContain('status 7');
  });

  it('that leaves programs behind, one of them in another session, leaves none after the trial', async () => {
    const trial = await runOne('leaves-children', module('leaves-children.ts'));
    const pids = (await recordOf(trial)).messages.at(-1)?.text.split(' ').map(Number) ?? [];
    expect(pids).toHaveLength(2);
    expect(await Promise.all(pids.map((pid) => startMark(pid)))).toEqual([null, null]);
  });
});

describe('a module agent', () => {
  it('sees nothing of our environment but what its description names', async () => {
    process.env.TRIALBED_TEST_NAMED = 'yes';
    const trial = await runOne('environment', module('tells-environment.ts', { env: ['TRIALBED_TEST_NAMED'] }));
    expect((await recordOf(trial)).messages.at(-1)?.text).toBe('["TRIALBED_PROCESS","TRIALBED_TEST_NAMED"]');
  });

  it('has a conversation of as many turns as the user has messages', async () => {
    const trial = await runOne('two-turns', module('two-turns.ts'), { request: undefined as never, turns: ['first', 'second'] });
    expect((await recordOf(trial)).messages.map(({ from, text }) => `${from} ${text}`)).toEqual([
      'user first',
      'agent 1: first',
      'user second',
      'agent 2: second',
    ]);
  });
});

describe('a trial', () => {
  it('whose environment has changed since the batch was made is no result: neither 0 nor 1', async () => {
    const trial = await runOne('before', { kind: 'do-nothing' });
    const batch = await testbed.root.store.batch(trial.batch);
    if (!batch) throw new Error('the batch is gone');
    const changed = await planned(testbed, trial, { generation: 'f'.repeat(64) });
    expect(changed).toMatchObject({ ending: 'infra_error', pass: null, attempt: 1 });
    expect(changed.why).toContain('has changed since the batch was made');
  });

  it('can be cancelled while its agent acts; the world is released', async () => {
    const running = runOne('cancelled', module('hangs.ts'), { budget: { wall: '60s' } });
    const id = await firstRunning();
    await testbed.root.temporal.workflow.getHandle(id).cancel();
    const trial = await running;
    expect(trial).toMatchObject({ ending: 'cancelled', pass: null });
    expect(await testbed.root.worlds.leased(`${trial.batch}-`)).toBe(0);
  });

  it('keeps a snapshot from which its world can be made again', async () => {
    const { trials } = await testbed.run({ suite: 'support-desk', cases: ['refund-within-policy'], keep: 'always' });
    const [trial] = trials;
    const stored = await testbed.root.store.snapshot(trial?.snapshot ?? '');
    const record = await recordOf(trial as TrialSummary);
    expect(stored?.snapshot).toMatchObject({ effects: JSON.parse(JSON.stringify(record.effects)) });
  });

  it('shows its batch, case, agent and ending to Temporal, and says in words where it stands', async () => {
    const { trials } = await testbed.run({ suite: 'support-desk', cases: ['nothing-to-do'] });
    const handle = testbed.root.temporal.workflow.getHandle(trials[0]?.trial ?? '');
    const { typedSearchAttributes } = await handle.describe();
    const names = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, Array.isArray(value) ? value[0] : value]);
    expect(Object.fromEntries(names)).toMatchObject({
      TrialbedBatch: trials[0]?.batch,
      TrialbedCase: 'nothing-to-do',
      TrialbedAgent: 'reference',
      TrialbedEnding: 'completed',
    });
    const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain('Verdict: pass');
  });

  it('is a new trial when its agent, and a new batch when nothing changed', async () => {
    const first = await runOne('prompt', { kind: 'script', steps: [], answer: 'One.' });
    const again = await runOne('prompt', { kind: 'script', steps: [], answer: 'One.' });
    const edited = await runOne('prompt', { kind: 'script', steps: [], answer: 'Two.' });
    expect(again.batch).not.toBe(first.batch);
    const content = async (trial: TrialSummary) => (await testbed.root.store.trial(trial.trial))?.agentHash;
    expect(await content(again)).toBe(await content(first));
    expect(await content(edited)).not.toBe(await content(first));
  });
});

async function firstRunning(): Promise<string> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    for (const batch of await testbed.root.store.batches({ suite: 'cancelled' })) {
      for (const trial of await testbed.root.store.trials(batch.id)) if (trial.phase === 'drive') return trial.id;
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error('no trial began to run');
}
