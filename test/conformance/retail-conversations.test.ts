import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { readTasks } from '../../src/environments/retail/tasks.ts';
import { importTauBench } from '../../src/suite/import-tau-bench.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'tau-bench-retail');
const TASKS = Array.from({ length: 20 }, (_, index) => index * 5);
const cases = TASKS.map((task) => `test-${task}`);

describe.skipIf(!datasets.met)(skipTitle('twenty retail tasks with a scripted customer', datasets), () => {
  let testbed: Testbed;
  let folder: string;
  let suite: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-retail-talk-'));
    ({ suite } = await importTauBench({ data, out: folder, user: 'script' }));
    await mkdir(join(folder, 'agents'));
    await writeFile(join(folder, 'agents', 'clerk.yaml'), stringify({ kind: 'module', file: resolve('test/fixtures/agents/clerk.ts') }));
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('pass by their solutions, which ask before they act', async () => {
    const { trials } = await testbed.run({ suite, cases, agents: ['reference'], concurrency: 8, keep: 'never' });
    expect(trials.filter((trial) => trial.pass !== 'pass').map((trial) => `${trial.case}: ${trial.ending} ${trial.why}`)).toEqual([]);
    expect(trials).toHaveLength(20);
  }, 300_000);

  it('tell an agent who they are and what they want, and leave when that is all', async () => {
    const { trials, summary } = await testbed.run({ suite, cases, agents: ['clerk'], concurrency: 8, keep: 'never' });
    expect(trials.map(({ ending }) => ending)).toEqual(trials.map(() => 'completed'));
    expect(summary).toMatchObject({ trials: 20, infraErrors: 0 });
    const tasks = readTasks(data, 'test');
    for (const trial of trials) {
      const record = await testbed.root.store.record(trial.trial, trial.attempt);
      const { userId } = tasks[Number(trial.case.slice('test-'.length))] ?? {};
      expect([trial.case, record?.operations.at(-1)]).toMatchObject([trial.case, { tool: 'get_user_details', told: 'committed', args: { user_id: userId } }]);
      expect(record?.messages.at(-1)).toMatchObject({ from: 'user', text: 'No, thank you.' });
    }
  }, 300_000);
});
