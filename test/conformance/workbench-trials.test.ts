import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { importWorkbench } from '../../src/suite/import-workbench.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'workbench');
const domains = ['email', 'project_management'];

interface Published {
  readonly domain: string;
  readonly row: number;
  readonly verdicts: { readonly empty: readonly [correct: boolean, sideEffects: boolean] };
}

describe.skipIf(!datasets.met)(skipTitle('WorkBench tasks as trials: e-mail and project management', datasets), () => {
  let testbed: Testbed;
  let folder: string;
  let suite: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-workbench-'));
    ({ suite } = await importWorkbench({ data, domains, out: folder }));
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const passed = (trials: readonly TrialSummary[]) => trials.filter((trial) => trial.pass === 'pass').map((trial) => trial.case);

  it('all 170 gold solutions pass', async () => {
    const { trials, summary } = await testbed.run({ suite, agents: ['reference'], concurrency: 16, keep: 'never' });
    process.stdout.write(`170 gold solutions as trials: ${summary.seconds} s\n`);
    expect(trials.filter((trial) => trial.pass !== 'pass').map((trial) => `${trial.case}: ${trial.ending} ${trial.why}`)).toEqual([]);
    expect(trials).toHaveLength(170);
    expect(summary.worlds.leaked).toBe(0);
  }, 600_000);

  it('doing nothing passes exactly the 22 tasks whose gold is empty', async () => {
    const { trials } = await testbed.run({ suite, agents: ['do-nothing'], concurrency: 16, keep: 'never' });
    expect(trials).toHaveLength(170);
    // The published verdicts say which tasks a run without any call solves.
    const published = (await readFile(join(data, 'gold_mutations.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Published);
    const solved = published.filter(({ domain, verdicts }) => domains.includes(domain) && verdicts.empty[0]).map(({ domain, row }) => `${domain} ${row}`);
    expect(solved).toHaveLength(22);
    const named = passed(trials).map((id) => id.replace(/-0*(\d+)$/, ' $1'));
    expect(named.sort()).toEqual(solved.sort());
    expect(trials.filter((trial) => trial.pass !== 'pass').every((trial) => trial.pass === 'fail' && trial.ending === 'completed')).toBe(true);
  }, 600_000);
});
