import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Blobs, blobs, moduleAgent } from '../integration/core-trials.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'public-08');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

/** Around what Temporal takes as one payload and as one message, and the size of the report. */
const SIZES = [2_097_151, 2_097_152, 2_097_153, 4_194_303, 4_194_304, 4_194_305, 4_194_474, 10_000_000];

const historyBytes = async (trial: string): Promise<number> => (await testbed.root.temporal.workflow.getHandle(trial).describe()).historySize ?? 0;

it('public-08: a script reads results of about 2 MiB, about 4 MiB, and beyond; the trial ends, and its history stays small', async () => {
  const last = SIZES.length - 1;
  const trial = await suites.run({
    kind: 'script',
    steps: SIZES.map((bytes, n) => ({ call: 'read_text', with: { bytes }, as: `r${n}` })),
    answer: `\${r${last}}`,
  });
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: SIZES.length, attempt: 1, disturbed: false });
  const record = await suites.record(trial);
  expect(record.messages.at(-1)?.text).toHaveLength((SIZES[last] ?? 0) - 2);
  expect(record.operations.map(({ result }) => JSON.stringify(result).length)).toEqual(SIZES);
  expect(await historyBytes(trial.trial)).toBeLessThan(200_000);
});

it('public-08: they reach a module agent whole; the trial ends, and others are not disturbed', async () => {
  const [trial, other] = await Promise.all([
    suites.run(moduleAgent('calls.ts', { calls: SIZES.map((bytes) => ({ tool: 'read_text', args: { bytes } })) })),
    suites.run(moduleAgent('calls.ts', { calls: [{ tool: 'slow_read', args: {} }] })),
  ]);
  expect(other).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1, disturbed: false });
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: SIZES.length, attempt: 1, disturbed: false });
  expect(JSON.parse((await suites.record(trial)).messages.at(-1)?.text ?? '')).toEqual(SIZES.map((bytes) => ['committed', bytes, null]));
});

it('public-08: arguments of these sizes are carried out, or refused for good; the trial ends at its first attempt', async () => {
  const trial = await suites.run(moduleAgent('big-arguments.ts', { sizes: SIZES }), {
    expect: { outcomes: [{ name: 'any', effects: [] }], allowed: [{ row: 'notes', change: 'insert' }] },
  });
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: SIZES.length, attempt: 1, disturbed: false });
  const record = await suites.record(trial);
  const outcomes = JSON.parse(record.messages.at(-1)?.text ?? '') as [string, string | null][];
  expect(outcomes.filter(([state, code]) => state !== 'committed' && code !== 'payload_too_large' && code !== 'invalid_args')).toEqual([]);
  expect(record.effects).toHaveLength(outcomes.filter(([state]) => state === 'committed').length);
  expect(await historyBytes(trial.trial)).toBeLessThan(200_000);
});
