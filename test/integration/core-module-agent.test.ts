import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'core-module-agent');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const misbehaves = (how: string) => moduleAgent('misbehaves.ts', { how });

describe('an agent that breaks its protocol has an error of its own, and the worker goes on', () => {
  it.each([
    ['garbage', 'agent_error', 'not JSON'],
    ['other messages', 'agent_error', 'not of the protocol'],
    ['a message without end', 'agent_error', 'longer than'],
    ['a closed channel', 'agent_error', 'closed its channel'],
    ['answers without end', 'agent_error', 'without end'],
    ['questions without end', 'agent_error', 'without end'],
    ['an exit while a call is in flight', 'agent_error', 'status 9'],
    ['output without end', 'agent_timeout', 'used up'],
  ])('%s', async (how, ending, words) => {
    const trial = await suites.run(misbehaves(how), { budget: { wall: how === 'output without end' ? '3s' : '20s' } });
    expect(trial).toMatchObject({ ending, attempt: 1 });
    expect((await suites.record(trial)).problem?.message).toContain(words);
    expect(await testbed.root.worlds.leased(`${trial.batch}-`)).toBe(0);
  });

  it('words after the last one are not heard', async () => {
    const trial = await suites.run(misbehaves('words after the last one'));
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 0, attempt: 1 });
  });

  it('a call that was in flight when its agent ended is in the record with what became of it', async () => {
    const trial = await suites.run(misbehaves('an exit while a call is in flight'));
    const record = await suites.record(trial);
    expect(record.operations).toMatchObject([{ id: 'op-1', tool: 'add_note', known: 'committed' }]);
    expect(record.effects).toHaveLength(1);
  });
});

it('a call that outlives its agent is cut off: the trial ends, and whoever waited for the call is told', async () => {
  const trial = await suites.run(misbehaves('an exit while a long call is in flight'));
  expect(trial).toMatchObject({ ending: 'agent_error', attempt: 1 });
  expect((await suites.record(trial)).operations).toMatchObject([{ told: 'unknown', known: 'failed', problem: { code: 'cut_off' } }]);
  const { events } = await testbed.root.temporal.workflow.getHandle(trial.trial).fetchHistory();
  const count = (attributes: 'workflowExecutionUpdateAcceptedEventAttributes' | 'workflowExecutionUpdateCompletedEventAttributes') =>
    events?.filter((event) => event[attributes]).length;
  expect(count('workflowExecutionUpdateAcceptedEventAttributes')).toBe(1);
  expect(count('workflowExecutionUpdateCompletedEventAttributes')).toBe(1);
});

it('a tool that fails with the code of the budget does not end the conversation', async () => {
  const refuse = { tool: 'refuse', args: { length: 5, code: 'budget_exhausted' } };
  const trial = await suites.run(moduleAgent('calls.ts', { calls: [refuse, refuse] }));
  expect(trial).toMatchObject({ ending: 'completed', calls: 2 });
});
