import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { importTauBench } from '../../src/suite/import-tau-bench.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'tau-bench-retail');

/** A line of the published references: what an agent scores that does and says nothing. */
interface Published {
  readonly task: number;
  readonly empty_reward: number;
}

describe.skipIf(!datasets.met)(skipTitle('retail tasks of tau-bench as trials', datasets), () => {
  let testbed: Testbed;
  let folder: string;
  let suite: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-retail-'));
    ({ suite } = await importTauBench({ data, out: folder }));
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const passed = (trials: readonly TrialSummary[]) => trials.filter((trial) => trial.pass === 'pass').map((trial) => trial.case);

  it('all 115 gold solutions pass', async () => {
    const { trials, summary } = await testbed.run({ suite, agents: ['reference'], concurrency: 16, keep: 'never' });
    process.stdout.write(`115 gold solutions as trials: ${summary.seconds} s\n`);
    expect(trials.filter((trial) => trial.pass !== 'pass').map((trial) => `${trial.case}: ${trial.ending} ${trial.why}`)).toEqual([]);
    expect(trials).toHaveLength(115);
    expect(summary.worlds.leaked).toBe(0);
  }, 600_000);

  it('doing nothing passes exactly the 7 tasks that change nothing and ask for no answer', async () => {
    const { trials } = await testbed.run({ suite, agents: ['do-nothing'], concurrency: 16, keep: 'never' });
    expect(trials).toHaveLength(115);
    const lines = (await readFile(join(data, 'tau_retail_test_reference.jsonl'), 'utf8')).trim().split('\n');
    const solved = lines
      .map((line) => JSON.parse(line) as Published)
      .filter((line) => line.empty_reward === 1)
      .map((line) => `test-${line.task}`);
    expect(solved).toEqual([10, 12, 25, 50, 57, 65, 106].map((task) => `test-${task}`));
    expect(passed(trials).sort()).toEqual(solved.toSorted());
    expect(trials.filter((trial) => trial.pass !== 'pass').every((trial) => trial.pass === 'fail' && trial.ending === 'completed')).toBe(true);
    const { cases } = await loadSuite(suite);
    const nothing = cases.filter(({ kase }) => kase.expectsNothing).map(({ kase }) => kase.id);
    expect(nothing.sort()).toEqual(solved.toSorted());
  }, 600_000);

  it('nothing is written after the user was handed over to a human', async () => {
    const cancel = { call: 'cancel_pending_order', with: { order_id: '#W6779827', reason: 'no longer needed' } };
    const transfer = { call: 'transfer_to_human_agents', with: { summary: 'Wants a poem.' } };
    await mkdir(join(folder, 'agents'), { recursive: true });
    for (const [name, steps] of Object.entries({ after: [transfer, cancel], before: [cancel, transfer] })) {
      await writeFile(join(folder, 'agents', `${name}.yaml`), JSON.stringify({ kind: 'script', steps, answer: 'A human will help.' }));
    }
    const { trials } = await testbed.run({ suite, agents: ['after', 'before'], cases: ['test-10'], keep: 'never' });
    expect(Object.fromEntries(trials.map((trial) => [trial.agent, [trial.ending, trial.pass]]))).toEqual({
      after: ['completed', 'pass'],
      before: ['completed', 'fail'],
    });
  }, 120_000);
});
