import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { prepareBatch } from '../../src/client/run.ts';
import { sweep } from '../../src/client/sweep.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { trial as trialWorkflow } from '../../src/workflows/trial.ts';
import { calls, type Provider, type ProviderAnswer, type ProviderRequest, says, startProvider } from '../harness/provider.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs } from './core-trials.ts';

const KEY_VARIABLE = 'TRIALBED_TEST_MODEL_KEY';
const KEY = 'sk-integration-0123456789abcdef';
const PRICES = { input: 1, output: 10, cached: 0.5 };
/** Of one call: 60 fresh tokens, 40 cached, 20 of output. */
const PRICE = 0.00028;

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  process.env[KEY_VARIABLE] = KEY;
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'model-agent');
});
afterAll(async () => {
  delete process.env[KEY_VARIABLE];
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

function agent(provider: Provider, changes: JsonObject = {}, route: JsonObject = {}): JsonObject {
  return {
    kind: 'model',
    prompt: 'Be brief.',
    route: { name: 'tiny', url: provider.url, model: 'tiny', key: KEY_VARIABLE, prices: PRICES, ...route },
    ...changes,
  };
}

/** A provider that gives one answer after the other. */
function inTurn(...answers: readonly ProviderAnswer[]): Promise<Provider> {
  return startProvider((_request, number) => answers[number - 1] ?? { status: 500, text: 'nothing more to say' });
}

async function waitedForModel(trial: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: testbed.config.store.url });
  await client.connect();
  try {
    const { rows } = await client.query('select 1 from trialbed.trials where id = $1 and model_wait_until is not null', [trial]);
    return rows.length === 1;
  } finally {
    await client.end();
  }
}

const note = (body: string) => ['add_note', { body }] as const;
const ONE_NOTE = { expects_nothing: false, expect: { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert', where: { body: 'one' } }] }] } };
const ENDED = (trial: TrialSummary) => ({ ending: trial.ending, pass: trial.pass, attempt: trial.attempt });

describe.concurrent('an agent that is a model', () => {
  it('calls tools until it answers; each call of it is recorded with tokens, price and version', async () => {
    await using provider = await inTurn(
      calls(note('one'), ['read_text', { bytes: 10 }]),
      calls(['read_text', '{"bytes": ']),
      says('I added it. My key is sk-abcdefghijklmnop1234.'),
    );
    const trial = await suites.run(agent(provider, {}, { seed: 7, parameters: { temperature: 0.5 } }), ONE_NOTE);
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 3 });

    const [first, second, third] = provider.requests as [ProviderRequest, ProviderRequest, ProviderRequest];
    expect(first.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(first.body).toMatchObject({ model: 'tiny', seed: 7, temperature: 0.5 });
    expect(first.body.messages).toMatchObject([
      { role: 'system', content: expect.stringMatching(/^Be brief\.\n\nYou act for mara/) },
      { role: 'user', content: 'Do it.' },
    ]);
    expect(first.body.tools?.map(({ function: { name } }) => name)).toContain('add_note');
    expect(second.body.messages.slice(2)).toEqual([
      { role: 'assistant', content: null, tool_calls: expect.any(Array) },
      { role: 'tool', tool_call_id: 'call-0', content: '{"operation":"op-1","state":"committed","result":{"id":1},"problem":null}' },
      { role: 'tool', tool_call_id: 'call-1', content: '{"operation":"op-2","state":"committed","result":"xxxxxxxx","problem":null}' },
    ]);
    expect(third.body.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('The arguments are not JSON') });

    const record = await suites.record(trial);
    expect(record.operations.map(({ id, tool, told }) => [id, tool, told])).toEqual([
      ['op-1', 'add_note', 'committed'],
      ['op-2', 'read_text', 'committed'],
      ['op-3', 'read_text', 'rejected'],
    ]);
    const { store } = testbed.root;
    expect(await store.messages(trial.trial, 1)).toMatchObject([
      { from: 'user', text: 'Do it.' },
      { from: 'agent', text: 'I added it. My key is sk-abcdefghijklmnop1234.' },
    ]);
    const made = await store.modelCalls(trial.trial, 1);
    expect(made).toHaveLength(3);
    expect(made[0]).toEqual({
      ...{ id: 'agent-1', who: 'agent', agent: null, source: 'loop', route: 'tiny', url: provider.url, model: 'tiny', reported: 'tiny-2026-01' },
      ...{ parameters: { temperature: 0.5 }, seed: 7, usage: { input: 100, output: 20, cached: 40, reasoning: 5 }, price: { amount: PRICE, currency: 'USD' } },
      ...{ latencyMs: expect.any(Number), tries: 1, end: 'replied', problem: null, at: expect.any(String) },
    });
    const kept = await store.conversation(trial.trial, 1);
    expect(kept.map(({ seq, role, call }) => [seq, role, call])).toEqual([
      ...[
        [1, 'system', 'agent-1'],
        [2, 'user', 'agent-1'],
        [3, 'assistant', 'agent-1'],
      ],
      ...[
        [4, 'tool', 'agent-2'],
        [5, 'tool', 'agent-2'],
        [6, 'assistant', 'agent-2'],
      ],
      ...[
        [7, 'tool', 'agent-3'],
        [8, 'assistant', 'agent-3'],
      ],
    ]);
    expect(kept.at(-1)?.body).toEqual({ text: 'I added it. My key is [redacted: api key].' });
    expect(await store.liveConversation(trial.trial, 1, { who: 'agent', agent: null })).toEqual([]);
    const history = await testbed.root.temporal.workflow.getHandle(trial.trial).fetchHistory();
    expect(JSON.stringify(history)).not.toMatch(/Be brief|xxxxxxxx|integration-0123/);
  });

  it('answers every message of the user, with what was said before in view', async () => {
    await using provider = await inTurn(says('Hello.'), says('{"text": "Bye.", "data": {"n": 1}}'));
    const turns = { turns: ['Hi.', 'Go.'], request: undefined as never };
    const texts = await suites.run(agent(provider), turns);
    expect(ENDED(texts)).toEqual({ ending: 'completed', pass: 'pass', attempt: 1 });
    expect(provider.requests[1]?.body.messages.slice(1).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Hi.'],
      ['assistant', 'Hello.'],
      ['user', 'Go.'],
    ]);
    await using structured = await inTurn(says('{"text": "Hello."}'), says('Bye.'));
    const badly = await suites.run(agent(structured, { output: 'json' }), turns);
    expect(badly).toMatchObject({ ending: 'agent_error', why: expect.stringContaining('no JSON') });
  });

  it('talks with a simulated user by messages and by a tool, until the user leaves', async () => {
    await using provider = await inTurn(says('Which order is it?'), calls(['ask_user', { question: 'What colour?' }]), says('Goodbye.'));
    const conversation = {
      ...{ user: 'script', otherwise: 'I do not know.' },
      rules: [
        { topic: ['order'], say: 'It is 1007.' },
        { topic: ['colour'], say: 'Blue.' },
        { topic: ['goodbye'], say: 'Bye.', end: true },
      ],
    };
    const trial = await suites.run(agent(provider), { conversation });
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 1 });
    expect((await suites.record(trial)).messages.map(({ turn, from, text }) => [turn, from, text])).toEqual([
      [1, 'user', 'Do it.'],
      [1, 'agent', 'Which order is it?'],
      [2, 'user', 'It is 1007.'],
      [2, 'agent', 'What colour?'],
      [3, 'user', 'Blue.'],
      [3, 'agent', 'Goodbye.'],
      [4, 'user', 'Bye.'],
    ]);
    expect(provider.requests[2]?.body.messages.at(-1)?.content).toContain('"result":{"answer":"Blue."}');
  });

  it.each<[string, JsonObject, JsonObject, readonly ProviderAnswer[], { readonly requests: number; readonly operations: number; readonly why: string }]>([
    [
      'model calls',
      { budget: { steps: 2 } },
      {},
      [calls(note('one')), calls(note('two')), says('Never.')],
      { requests: 2, operations: 2, why: 'The budget of 2 model calls is used up.' },
    ],
    [
      'calls of tools',
      {},
      { budget: { calls: 1 } },
      [calls(note('one'), note('two'), note('three')), says('Never.')],
      { requests: 1, operations: 1, why: 'The budget of 1 calls is used up.' },
    ],
    [
      'tokens, met exactly',
      {},
      { budget: { tokens: 120 } },
      [calls(note('one')), says('Never.')],
      { requests: 1, operations: 1, why: 'The budget of 120 tokens is used up (120).' },
    ],
    [
      'tokens, overdrawn',
      {},
      { budget: { tokens: 119 } },
      [calls(note('one')), says('Never.')],
      { requests: 1, operations: 0, why: 'The budget of 119 tokens is overdrawn (120).' },
    ],
    [
      'money',
      { budget: { money: '0.00056 USD' } },
      {},
      [calls(note('one')), calls(note('two')), says('Never.')],
      { requests: 2, operations: 2, why: 'The budget of 0.00056 USD is used up (0.00056 USD).' },
    ],
  ])('ends exactly at its budget of %s, and its world is graded', async (_name, own, kase, answers, expected) => {
    await using provider = await inTurn(...answers);
    const trial = await suites.run(agent(provider, own), kase);
    expect(trial).toMatchObject({ ending: 'budget_exhausted', pass: expected.operations === 0 ? 'pass' : 'fail', why: expect.stringContaining(expected.why) });
    expect(provider.requests).toHaveLength(expected.requests);
    expect((await suites.record(trial)).operations).toHaveLength(expected.operations);
  });

  it('runs out of its own time by the time of replies alone', async () => {
    await using provider = await startProvider((_request, number) => (number === 1 ? calls(note('one')) : { hang: true }));
    const trial = await suites.run(agent(provider), { budget: { wall: '700ms' } });
    expect(trial).toMatchObject({ ending: 'agent_timeout', pass: 'fail', attempt: 1 });
  });

  it('a provider in trouble is asked again, and the time of its failed tries is not the agent’s', async () => {
    await using provider = await inTurn(
      { status: 429, headers: { 'retry-after-ms': '20' }, json: {} },
      { status: 503, headers: { 'retry-after-ms': '20' } },
      { text: 'nonsense', headers: {} },
      says('Done.'),
    );
    const trial = await suites.run(agent(provider));
    expect(ENDED(trial)).toEqual({ ending: 'completed', pass: 'pass', attempt: 1 });
    expect(await testbed.root.store.modelCalls(trial.trial, 1)).toMatchObject([{ tries: 4, end: 'replied' }]);
    expect(provider.requests).toHaveLength(4);
    // For whoever watches meanwhile.
    expect(await waitedForModel(trial.trial)).toBe(true);
  });

  it('a provider that stays in trouble is never the agent’s failure', async () => {
    await using provider = await startProvider(() => ({ status: 503 }));
    const trial = await suites.run(agent(provider, {}, { retries: 0 }));
    expect(trial).toMatchObject({ ending: 'infra_error', pass: null, attempt: 3 });
    expect(await testbed.root.store.modelCalls(trial.trial, 3)).toMatchObject([
      { tries: 1, end: 'failed', usage: null, price: null, problem: { code: 'model_unavailable' } },
    ]);
  });

  it.each<[string, ProviderAnswer, JsonObject, JsonObject, object, JsonObject?]>([
    [
      'a request that the provider refuses',
      { status: 400, json: { error: { message: 'too long' } } },
      {},
      {},
      { ending: 'agent_error', pass: 'pass', attempt: 1 },
    ],
    ['a wrong key', { status: 401, json: {} }, {}, {}, { ending: 'infra_error', pass: null, attempt: 1 }],
    ['a key that is not set', says('Never.'), {}, { key: 'TRIALBED_TEST_NO_KEY' }, { ending: 'infra_error', pass: null, attempt: 1 }],
    ['a budget in another currency than the prices', says('Hm.'), {}, {}, { ending: 'infra_error', pass: null, attempt: 1 }, { budget: { money: '1 EUR' } }],
    ['a budget of tokens where none are reported', says('Hm.', null), { budget: { tokens: 10 } }, {}, { ending: 'infra_error', pass: null, attempt: 1 }],
  ])('%s', async (_name, answer, own, route, expected, kase = {}) => {
    await using provider = await startProvider(() => answer);
    expect(await suites.run(agent(provider, own, route), kase)).toMatchObject(expected);
  });
});

it('a batch stops launching when its money is spent, says so, and is resumed with more', async () => {
  await using provider = await startProvider(() => says('Done.'));
  const request = { ...(await suites.write(agent(provider))), keep: 'never', concurrency: 1, trials: 4 } as const;
  const limit = { amount: 2 * PRICE, currency: 'USD' };
  const first = await testbed.run({ ...request, maxCost: limit });
  expect(first.summary).toMatchObject({ passed: 2, gate: 'not_met', stopped: { limit, spent: limit, left: 2 } });
  expect(first.summary.models).toMatchObject([
    { agent: 'agent', who: 'agent', totals: { calls: 2, cost: { USD: 2 * PRICE }, tokens: { input: 200, output: 40 } } },
  ]);
  expect(first.trials[0]?.models).toMatchObject({ agent: { calls: 1, cost: { USD: PRICE } }, user: null });
  expect((await testbed.root.store.batch(first.summary.batch))?.state).toBe('interrupted');
  const second = await testbed.run({ ...request, maxCost: { amount: 1, currency: 'USD' } });
  expect(second.summary).toMatchObject({ batch: first.summary.batch, passed: 4, gate: 'met' });
  expect(second.summary).not.toHaveProperty('stopped');
  expect(provider.requests).toHaveLength(4);
});

it('a batch with a limit in a currency in which nothing is counted does not begin', async () => {
  await using provider = await startProvider(() => says('Never.'));
  const request = await suites.write(agent(provider));
  await expect(testbed.run({ ...request, maxCost: { amount: 1, currency: 'EUR' } })).rejects.toMatchObject({
    code: 'agent_access',
    message: expect.stringContaining('EUR'),
  });
});

it('what is kept of a conversation has no mailboxes where the suite says so; the model has them', async () => {
  await using provider = await inTurn(calls(note('for ada@example.org')), says('Done.'));
  const request = await suites.write(agent(provider));
  const file = join(request.suite, 'suite.yaml');
  await writeFile(file, `${await readFile(file, 'utf8')}defaults: { addresses: mask }\n`);
  const { trials } = await testbed.run({ ...request, keep: 'never' });
  const kept = await testbed.root.store.conversation(trials[0]?.trial ?? '', 1);
  expect(JSON.stringify(kept)).toContain('for [redacted]@example.org');
  expect(JSON.stringify(kept)).not.toContain('ada@');
  expect(JSON.stringify(provider.requests[1]?.body.messages)).toContain('ada@example.org');
});

it('of a trial that was terminated the sweeper forgets what was said word for word, and of one that goes on nothing', async () => {
  const { promise: asked, resolve: hears } = Promise.withResolvers<void>();
  await using provider = await startProvider((_request, number) => {
    if (number === 1) return calls(note('a secret sk-abcdefghijklmnop1234'));
    hears();
    return { hang: true };
  });
  const { root } = testbed;
  // Without anybody who follows the batch: whoever does records the end of a trial that was terminated.
  const { batch } = await prepareBatch(root, { ...(await suites.write(agent(provider))), keep: 'never' });
  const [row] = await root.store.trials(batch.id);
  if (!row) throw new Error('the batch has no trial');
  const { id: trial } = row;
  const input = { trial, batch: batch.id, case: row.caseId, agent: row.agentName, firstAttempt: 1, retries: 0 };
  const { taskQueue } = root.config;
  const handle = await root.temporal.workflow.start<typeof trialWorkflow>('trial', { workflowId: trial, taskQueue, args: [input] });
  await asked;
  const exact = () => root.store.liveConversation(trial, 1, { who: 'agent', agent: null });
  expect((await sweep(root, {})).forgotten).toBe(0);
  expect(JSON.stringify(await exact())).toContain('abcdefghijklmnop1234');
  await handle.terminate('ended by an operator');
  expect((await sweep(root, { dryRun: true })).forgotten).toBe(1);
  expect(await exact()).not.toEqual([]);
  expect((await sweep(root, {})).forgotten).toBe(1);
  expect(await exact()).toEqual([]);
  const kept = JSON.stringify(await root.store.conversation(trial, 1));
  expect(kept).toContain('a secret');
  expect(kept).not.toContain('abcdefghijklmnop1234');
  expect((await sweep(root, {})).forgotten).toBe(0);
});
