import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { compareBatch, type Trialbed, trialbedOver, writeBatchReport, writeComparison } from '../../src/client/index.ts';
import { openingLines } from '../../src/report/comparison/wording.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const RUN = {
  suite: 'support-desk',
  cases: ['cancel-before-shipping', 'policy-question'],
  faults: ['none', 'mail-reply-lost'],
  keep: 'never',
  seed: '7',
} as const;

let testbed: Testbed;
let bed: Trialbed;
let both: string;
let again: string;

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  bed = trialbedOver(testbed.root, async () => {});
  both = (await testbed.run({ ...RUN, agents: ['hasty', 'careful'] })).summary.batch;
  again = (await testbed.run({ ...RUN, agents: ['careful'], trials: 2 })).summary.batch;
}, 120_000);

afterAll(async () => {
  await bed?.[Symbol.asyncDispose]();
  await testbed?.[Symbol.asyncDispose]();
});

it('two agents of a batch are compared under each schedule, with the timelines of what changed, and written for people', async () => {
  const comparison = await bed.compare({ a: { batch: both, agent: 'hasty' }, b: { batch: both, agent: 'careful' } });
  expect(comparison).toMatchObject({ a: { agent: 'hasty' }, b: { agent: 'careful' }, unmatched: [], generationsDiffer: false, seedsDiffer: false });
  expect(comparison.a.matched).toBe(comparison.a.trials);
  const twice = comparison.changed.find((one) => one.case === 'cancel-before-shipping' && one.schedule === 'mail-reply-lost');
  expect(twice).toMatchObject({ change: 'better', a: { harm: true }, b: { harm: false } });
  const rows = twice?.timeline ?? [];
  expect(rows.some(({ a }) => a?.fault?.includes('smtp_final_dot'))).toBe(true);
  expect(rows.some(({ a, b }) => a !== null && b === null)).toBe(true);
  expect(rows.filter(({ a, b }) => a !== null && b !== null).length).toBeGreaterThan(1);
  // Two cases show nothing, however they came out.
  expect(openingLines(comparison)[0]).toMatchObject({ label: 'Safer', answer: 'not_shown' });
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-compare-'));
  try {
    await writeComparison(comparison, { html: join(folder, 'new', 'c.html'), markdown: join(folder, 'c.md') });
    expect(await readFile(join(folder, 'new', 'c.html'), 'utf8')).toContain('smtp_final_dot');
    expect(await readFile(join(folder, 'c.md'), 'utf8')).toMatch(/^\*\*Not tested:\*\*/m);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('an agent against itself in another batch: nothing is shown, and the second repetition matches nothing', async () => {
  const comparison = await bed.compare({ a: { batch: both, agent: 'careful' }, b: { batch: again } });
  expect([comparison.safer.answer, comparison.useful.answer, comparison.changes]).toEqual(['not_shown', 'not_shown', 0]);
  expect(comparison.unmatched).toEqual([{ reason: 'only_b', trials: comparison.a.matched, examples: expect.any(Array) }]);
});

it('the report of a batch opens with how its agents compare with what is there, and shows how the suite came to it', async () => {
  const comparisons = await compareBatch(bed, { batch: again, against: { batch: both } });
  expect(comparisons).toMatchObject([{ agent: 'careful', against: `${both}:careful`, comparison: { changes: 0 } }]);
  const beside = await compareBatch(bed, { batch: both, against: { batch: both, agent: 'hasty' } });
  expect(beside).toMatchObject([{ agent: 'careful', against: `${both}:hasty` }]);
  await expect(compareBatch(bed, { batch: both, against: { batch: both } })).rejects.toThrow(`as in ${both}:careful`);
  await expect(compareBatch(bed, { batch: again, against: { batch: again, agent: 'careful' } })).rejects.toMatchObject({ code: 'comparison_refused' });
  const series = await bed.series(again);
  expect(series).toMatchObject({
    leftOut: 0,
    agents: [
      {
        agent: 'careful',
        points: [
          { batch: both, fresh: [] },
          { batch: again, fresh: [] },
        ],
      },
    ],
  });
  const [first, last] = series.agents[0]?.points ?? [];
  expect([first?.passed.of, last?.passed.of, last?.harmless.count]).toEqual([3, 6, 6]);
  expect((await bed.series(again, { limit: 1 })).agents[0]?.points).toHaveLength(1);
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-beside-'));
  try {
    const { data, files } = await writeBatchReport(bed, { batch: again, folder, comparisons, series });
    expect(data.opening[0]).toMatch(/^Safer: not shown\. /);
    expect(data.isolation).toMatchObject({ leakedWorlds: 0, unlikeWorlds: 0, strayEffects: 0, strayTrials: 0, untold: 0, ungraded: 0 });
    const markdown = await readFile(files.markdown ?? '', 'utf8');
    expect(markdown).toMatch(/## Progress[\s\S]*\| `careful` \| 20/);
    expect(markdown).toContain('data of the trials in clear');
    expect(await readFile(files.html ?? '', 'utf8')).toContain('id="progress"');
    expect(await readFile(files.csv ?? '', 'utf8')).toMatch(/^[^\n]*stray_effects,leaked_worlds_of_batch,unlike_worlds_of_batch/);
    expect(await readFile(files.junit ?? '', 'utf8')).toContain('<property name="stray_effects" value="0"/>');
    expect(JSON.parse(await readFile(files.json ?? '', 'utf8'))).toMatchObject({ comparisons: [{ agent: 'careful' }], series: { leftOut: 0 } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('says which agent is meant where that is not clear, and refuses an agent against its own trials', async () => {
  await expect(bed.compare({ a: { batch: both }, b: { batch: again } })).rejects.toThrow(
    `batch ${both} has the agents hasty, careful; say which to compare, as in ${both}:hasty`,
  );
  await expect(bed.compare({ a: { batch: again }, b: { batch: again, agent: 'careful' } })).rejects.toMatchObject({ code: 'comparison_refused' });
  await expect(bed.compare({ a: { batch: both, agent: 'nobody' }, b: { batch: again } })).rejects.toThrow('it has hasty, careful');
  await expect(bed.compare({ a: { batch: 'none' }, b: { batch: again } })).rejects.toThrow('there is no batch none');
});
