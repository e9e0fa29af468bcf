import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { run as runBatch } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { callTool, startAgentServer } from '../harness/agent-server.ts';
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

  it('keeps its calls in order beside questions that are in flight', async () => {
    const beside = { tool: 'add_note', args: { body: 'meanwhile' } };
    const expect_ = { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert' }] }] };
    const trial = await run(moduleAgent('asks.ts', { asks: [['Which order is it?', 'What colour?']], beside } as JsonObject), {
      expect: expect_,
      expects_nothing: false,
      reference: { steps: [{ call: 'add_note', with: { body: 'meanwhile' } }], answer: 'Done.' },
    });
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 3 });
    expect((await suites.record(trial)).operations.map(({ id, tool, told }) => [id, tool, told])).toEqual([
      ['op-1', 'ask_user', 'committed'],
      ['op-2', 'ask_user', 'committed'],
      ['op-3', 'add_note', 'committed'],
    ]);
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

/** Answers with what it was sent, and asks in its first turn. */
const PROGRAM = `
import json, os, sys, urllib.request
start = json.load(sys.stdin)
def ask(question):
    request = urllib.request.Request(os.environ["TRIALBED_GATEWAY"] + "/tools/ask_user", json.dumps({"question": question}).encode(), {"authorization": "Bearer " + os.environ["TRIALBED_TOKEN"]})
    return json.load(urllib.request.urlopen(request))["result"]["answer"]
if start["turn"] == 1:
    print(json.dumps({"text": "You said " + ask("Which order is it?") + " And what colour?"}))
else:
    print(json.dumps({"text": "Done.", "data": {"turn": start["turn"], "heard": [[m["turn"], m["from"], m["text"], m.get("operation")] for m in start["messages"]]}, "end": True}))
`;

describe('agents beyond the gateway', () => {
  it('a program is run once for each message, asks in its turn, and says when the conversation is over', async () => {
    const trial = await run({ kind: 'command', program: 'python3', args: ['-c', PROGRAM], output: 'json' });
    expect(trial).toMatchObject({ ending: 'completed', calls: 1 });
    expect((await suites.record(trial)).messages.at(-1)).toMatchObject({
      turn: 3,
      data: {
        turn: 3,
        heard: [
          [1, 'user', 'I want something.', null],
          [1, 'agent', 'Which order is it?', 'op-1'],
          [2, 'user', 'It is order 1007.', 'op-1'],
          [2, 'agent', 'You said It is order 1007. And what colour?', null],
          [3, 'user', 'Blue.', null],
        ],
      },
    });
  });

  it('a server is posted each message, and asks over HTTP and MCP', async () => {
    await using server = await startAgentServer({
      'POST turns': async ({ response, start }) => {
        if (start.turn > 1) return response.end(JSON.stringify({ text: start.text, end: true }));
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(new StreamableHTTPClientTransport(new URL(start.mcp), { requestInit: { headers: { authorization: `Bearer ${start.token}` } } }));
        const { tools } = await client.listTools();
        const byMcp = await client.callTool({ name: 'ask_user', arguments: { question: 'What colour?' } });
        await client.close();
        await callTool(start, 'ask_user', { question: 'Which order is it?' });
        return response.end(JSON.stringify({ text: `${tools.some(({ name }) => name === 'ask_user')} ${JSON.stringify(byMcp.structuredContent)} confirm?` }));
      },
    });
    const trial = await run({ kind: 'http', url: `${server.url}/turns`, output: 'json' });
    expect(trial).toMatchObject({ ending: 'completed', calls: 2 });
    expect((await said(trial)).slice(1)).toEqual([
      [1, 'agent', 'What colour?'],
      [2, 'user', 'Blue.'],
      [2, 'agent', 'Which order is it?'],
      [3, 'user', 'It is order 1007.'],
      [3, 'agent', expect.stringMatching(/^true .*"state":"committed","result":\{"answer":"Blue\."\}.* confirm\?$/)],
      [4, 'user', 'Yes, please.'],
      [4, 'agent', 'Yes, please.'],
    ]);
  });
});

describe('the budget of turns', () => {
  const budget = { turns: 2 };
  const left = { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert' }] }] };
  const reference = { steps: [{ call: 'add_note', with: { body: 'a' } }], answer: 'Done.' };
  const note = { call: 'add_note', with: { body: 'a' } };

  it('ends a conversation by messages exactly at its limit, and the world is graded', async () => {
    const agent = script([note, { say: 'What colour?' }, { say: 'And which order?' }, { call: 'add_note', with: { body: 'too late' } }]);
    const trial = await run(agent, { budget, expect: left, expects_nothing: false, reference });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', pass: 'pass', calls: 1 });
    expect((await said(trial)).map(([turn, from]) => [turn, from])).toEqual([
      [1, 'user'],
      [1, 'agent'],
      [2, 'user'],
      [2, 'agent'],
    ]);
    expect((await suites.record(trial)).problem?.message).toContain('2 turns');
  });

  it('lets the user say goodbye beyond it', async () => {
    const trial = await run(script([{ say: 'What colour?' }, { say: 'Goodbye then?' }]), { budget });
    expect(trial).toMatchObject({ ending: 'completed' });
    expect((await said(trial)).at(-2)).toEqual([3, 'user', 'Bye.']);
  });

  it.each([
    [
      'a script',
      script([
        { call: 'ask_user', with: { question: 'Colour?' } },
        { call: 'ask_user', with: { question: 'Order?' } },
      ]),
    ],
    ['a module', moduleAgent('asks.ts', { asks: [['Colour?', 'Order?', 'Size?']] })],
  ])('refuses a question beyond it: %s', async (_kind, agent) => {
    const trial = await run(agent, { budget });
    expect(trial).toMatchObject({ ending: 'budget_exhausted' });
    const { operations, messages } = await suites.record(trial);
    expect(operations.slice(0, 2)).toMatchObject([{ told: 'committed' }, { told: 'rejected', problem: { code: 'budget_exhausted' } }]);
    expect(messages.filter(({ from }) => from === 'user')).toHaveLength(2);
  });
});

describe('a fault of the simulated user', () => {
  const strict = { ...conversation, otherwise: { fail: true } };
  const forbidden = { call: 'add_note', with: { body: 'of nobody' } };

  it.each([
    ['by a message', script([forbidden, { say: 'How old are you?' }])],
    ['by a question', script([forbidden, { call: 'ask_user', with: { question: 'How old are you?' } }])],
    ['by a question of a module', moduleAgent('asks.ts', { asks: [['How old are you?']] })],
    ['by a reply of a module', moduleAgent('asks.ts', { says: ['How old are you?'] })],
  ])('is user_error, neither passed nor failed, and not tried again: %s', async (_how, agent) => {
    const { suite, agents } = await suites.write(agent, { request: 'I want something.', conversation: strict });
    const { trials, summary } = await testbed.run({ suite, agents, keep: 'never' });
    expect(trials).toMatchObject([{ ending: 'user_error', pass: 'undetermined', attempt: 1 }]);
    expect(summary).toMatchObject({ passed: 0, failed: 0, undetermined: 0, infraErrors: 0, userErrors: 1, gate: 'infrastructure' });
    const { problem, messages } = await suites.record(trials[0] as TrialSummary);
    expect(problem).toMatchObject({ code: 'no_rule', message: expect.stringContaining('How old are you?') });
    expect(messages.at(-1)).toMatchObject({ from: 'agent', text: 'How old are you?' });
    expect(await testbed.root.worlds.leased(`${summary.batch}-`)).toBe(0);
  });

  it('is also a pattern that finds no end', async () => {
    const endless = { user: 'script', rules: [{ matches: '(a+)+$', say: 'Never.' }], otherwise: 'I do not know.' };
    const trial = await run(script([{ say: `${'a'.repeat(40)}!` }]), { conversation: endless });
    expect(trial).toMatchObject({ ending: 'user_error', pass: 'undetermined' });
    expect((await suites.record(trial)).problem?.code).toBe('script_timeout');
  });
});

it('claims are held against every message that the user saw, questions too', async () => {
  const claims = [{ claim: 'text', name: 'promises nothing', rule: { not_says: ['guarantee'] } }];
  const kase = { expect: { outcomes: [{ name: 'nothing', effects: [] }], claims } };
  const byMessage = await run(script([{ say: 'I guarantee it. What colour?' }]), kase);
  const byQuestion = await run(script([{ call: 'ask_user', with: { question: 'Shall I guarantee it?' } }]), kase);
  expect([byMessage.pass, byQuestion.pass]).toEqual(['fail', 'fail']);
  // Refused for its arguments, so nobody saw it.
  const unseen = await run(script([{ call: 'ask_user', with: { text: 'I guarantee it.' }, invalid: true }]), kase);
  expect(unseen.pass).toBe('pass');
});

it('a conversation goes on where it was when its worker is killed', async () => {
  const { suite, agents } = await suites.write(
    script(
      [{ say: 'Which order?' }, { call: 'ask_user', with: { question: 'Which order was it?' }, as: 'reply' }, { say: 'Which order again?' }],
      '${reply.answer}',
    ),
    { request: 'I want something.', conversation },
  );
  await using killed = await startTestbed(inject('services'), { worker: false, config: { home: testbed.config.home } });
  const doomed = await startWorkerProcess({ ...killed.config, failpoints: [{ name: 'user_spoke_before_ledger', hit: 2 }] });
  const handle = await runBatch(killed.root, { suite, agents, keep: 'never' }, new Promise(() => {}));
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(killed.root);
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1, calls: 1 }]);
  const messages = await killed.root.store.messages(trials[0]?.trial ?? '', 1);
  expect(messages.map(({ turn, from, text }) => [turn, from, text])).toEqual([
    [1, 'user', 'I want something.'],
    [1, 'agent', 'Which order?'],
    [2, 'user', 'It is order 1007.'],
    [2, 'agent', 'Which order was it?'],
    [3, 'user', 'As I said: 1007.'],
    [3, 'agent', 'Which order again?'],
    [4, 'user', 'As I said: 1007.'],
    [4, 'agent', 'As I said: 1007.'],
  ]);
});
