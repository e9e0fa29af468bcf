import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'core-limits');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

/** Size of the trial's history, in bytes, as Temporal counts it. */
const historyBytes = async (trial: TrialSummary): Promise<number> => (await testbed.root.temporal.workflow.getHandle(trial.trial).describe()).historySize ?? 0;

it('names, arguments and keys that no column holds are refused to the agent, and are no trouble of the harness', async () => {
  const trial = await suites.run(moduleAgent('odd-calls.ts'));
  expect(trial).toMatchObject({ ending: 'completed', attempt: 1, calls: 8 });
  expect(JSON.parse((await suites.record(trial)).messages.at(-1)?.text ?? '')).toEqual([
    ['rejected', 'unknown_tool'],
    ['rejected', 'unknown_tool'],
    ['rejected', 'invalid_args'],
    ['rejected', 'invalid_args'],
    ['failed', 'tool_error'],
    ['rejected', 'invalid_args'],
    ['rejected', 'invalid_args'],
    ['rejected', 'invalid_args'],
  ]);
  expect(await historyBytes(trial)).toBeLessThan(200_000);
});

describe('what a tool says when it fails is told, recorded and kept in bounds', () => {
  it.each([20_000, 3_000_000])('in %i characters', async (length) => {
    const trial = await suites.run(moduleAgent('calls.ts', { calls: [{ tool: 'refuse', args: { length } }] }));
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1, calls: 1, disturbed: false });
    const record = await suites.record(trial);
    expect(record.operations).toMatchObject([{ told: 'failed', known: 'failed', problem: { code: 'refused' } }]);
    expect(await historyBytes(trial)).toBeLessThan(100_000);
  });
});

describe('a script', () => {
  it('of many named steps has a history that grows by the step, not by all names at every step', async () => {
    const script = (steps: number) => ({
      kind: 'script',
      steps: Array.from({ length: steps }, (_none, n) => ({ call: 'read_text', with: { bytes: 10 }, as: `a_name_that_is_not_short_${n}` })),
      answer: 'Done.',
    });
    const budget = { budget: { calls: 500 } };
    const [few, many] = [await suites.run(script(50), budget), await suites.run(script(200), budget)];
    expect(many).toMatchObject({ ending: 'completed', calls: 200 });
    expect((await historyBytes(many)) / (await historyBytes(few))).toBeLessThan(5);
  });
});
