import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'conversation');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

/** Knows an order and a colour, and nothing else. */
const conversation = {
  user: 'script',
  rules: [
    { topic: ['order number', 'which order'], say: ['It is order 1007.', 'As I said: 1007.'] },
    { topic: ['colour'], says: [['which', 'what']], say: 'Blue.' },
    { topic: ['confirm'], say: 'Yes, please.' },
    { topic: ['goodbye'], say: 'Bye.', end: true },
  ],
  otherwise: 'I do not know.',
};

const run = (agent: JsonObject, kase: JsonObject = {}) => suites.run(agent, { request: 'I want something.', conversation, ...kase });
const script = (steps: readonly JsonObject[], answer = 'Done.') => ({ kind: 'script', steps: [...steps], answer }) as JsonObject;

async function said(trial: TrialSummary): Promise<readonly (readonly [number, string, string])[]> {
  return (await suites.record(trial)).messages.map(({ turn, from, text }) => [turn, from, text] as const);
}

describe('a script agent', () => {
  it('is answered by what it asks, by message and by tool, and may use the answer', async () => {
    const trial = await run(
      script(
        [
          { say: 'Which order is it, and what colour?' },
          { call: 'ask_user', with: { question: 'Can you confirm?' }, as: 'reply' },
          { say: 'Which order was it?' },
        ],
        'You said: ${reply.answer}',
      ),
    );
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 1, attempt: 1 });
    expect(await said(trial)).toEqual([
      [1, 'user', 'I want something.'],
      [1, 'agent', 'Which order is it, and what colour?'],
      [2, 'user', 'It is order 1007.\nBlue.'],
      [2, 'agent', 'Can you confirm?'],
      [3, 'user', 'Yes, please.'],
      [3, 'agent', 'Which order was it?'],
      [4, 'user', 'As I said: 1007.'],
      [4, 'agent', 'You said: Yes, please.'],
    ]);
    expect((await suites.record(trial)).operations).toMatchObject([
      { tool: 'ask_user', told: 'committed', known: 'committed', result: { answer: 'Yes, please.' } },
    ]);
  });
});

describe('a module agent', () => {
  it('has questions answered in their order, and turns by its replies', async () => {
    const trial = await run(moduleAgent('asks.ts', { asks: [['Which order is it?', 'What colour?', 'Anything else?']], says: ['Please confirm.'] }));
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1 });
    const messages = await said(trial);
    expect(messages.slice(0, -1)).toEqual([
      [1, 'user', 'I want something.'],
      [1, 'agent', 'Which order is it?'],
      [2, 'user', 'It is order 1007.'],
      [2, 'agent', 'What colour?'],
      [3, 'user', 'Blue.'],
      [3, 'agent', 'Anything else?'],
      [4, 'user', 'I do not know.'],
      [4, 'agent', 'Please confirm.'],
      [5, 'user', 'Yes, please.'],
    ]);
    expect(JSON.parse(messages.at(-1)?.[2] ?? '')).toEqual({
      heard: ['I want something.', { answer: 'It is order 1007.' }, { answer: 'Blue.' }, { answer: 'I do not know.' }, [5, 'Yes, please.']],
      tools: ['ask_user'],
    });
  });

  it('hears no more from a user who has left', async () => {
    const trial = await run(moduleAgent('asks.ts', { asks: [['Goodbye?'], ['Which order is it?']], says: ['Hello?'] }));
    expect(JSON.parse((await said(trial)).at(-1)?.[2] ?? '').heard).toEqual(['I want something.', { answer: 'Bye.' }, ['failed', 'user_left'], null]);
  });

  it('has nobody to ask where the case has no simulated user', async () => {
    const trial = await suites.run(moduleAgent('asks.ts', { asks: [['Who is there?']] }));
    expect(JSON.parse((await said(trial)).at(-1)?.[2] ?? '')).toEqual({ heard: ['Do it.', ['rejected', 'unknown_tool']], tools: [] });
  });
});
