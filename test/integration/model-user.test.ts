import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { run as runBatch } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { totalsOf } from '../../src/domain/model.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { calls, type Provider, type ProviderAnswer, says, startProvider } from '../harness/provider.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'model-user');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const inTurn = (...answers: readonly ProviderAnswer[]) =>
  startProvider((_request, number) => answers[number - 1] ?? { status: 400, text: 'nothing more to say' });
const brief = { persona: 'Anna, in a hurry.', wants: 'A note.', facts: ['It is about order 1007.'], if_asked: ['The colour is blue.'] };
const conversationWith = ({ url }: Provider, route: JsonObject = {}): JsonObject => ({
  ...{ user: 'model', ...brief, route: { name: 'tiny', url, model: 'tiny', prices: { input: 1, output: 10, cached: 0.5 }, retries: 1, ...route } },
});
const script = (steps: readonly JsonObject[], answer = 'Done.') => ({ kind: 'script', steps: [...steps], answer }) as JsonObject;
const ask = (question: string) => ({ call: 'ask_user', with: { question }, as: 'reply' });

const expectation = {
  outcomes: [{ name: 'SECRET OUTCOME', effects: [] }],
  claims: [{ claim: 'text', name: 'SECRET CLAIM', rule: { not_says: ['SECRET WORD'] } }],
};
const kase = (provider: Provider, more: JsonObject = {}, route: JsonObject = {}): JsonObject => ({
  ...{ request: 'Hello.', conversation: conversationWith(provider, route), expect: expectation, ...more },
});

it('talks with an agent that is a model, by messages and by its tool; each has its own side of the conversation', async () => {
  await using provider = await startProvider(({ body }) => answers[body.model]?.shift() ?? { status: 400, text: 'nothing more to say' });
  const answers: { readonly [model: string]: ProviderAnswer[] } = {
    agent: [says('Which order?'), calls(['ask_user', { question: 'What colour?' }], ['add_note', { body: 'n' }]), says('Goodbye.')],
    user: [says('Order 1007.'), says('Blue.'), says('Bye. [END]')],
  };
  const agent = { kind: 'model', prompt: 'Ask first.', route: { name: 'tiny', url: provider.url, model: 'agent' } };
  const noted = { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert' }] }] };
  const trial = await suites.run(agent, kase(provider, { expects_nothing: false, expect: noted }, { model: 'user' }));
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 2 });
  const { store } = testbed.root;
  expect((await store.messages(trial.trial, 1)).map(({ turn, from, text, operation }) => [turn, from, text, operation ?? null])).toEqual([
    [1, 'user', 'Hello.', null],
    [1, 'agent', 'Which order?', null],
    [2, 'user', 'Order 1007.', null],
    [2, 'agent', 'What colour?', 'op-1'],
    [3, 'user', 'Blue.', 'op-1'],
    [3, 'agent', 'Goodbye.', null],
    [4, 'user', 'Bye.', null],
  ]);
  const of = (model: string) => provider.requests.filter(({ body }) => body.model === model).map(({ body }) => body.messages);
  expect(of('agent')[2]?.slice(-2)).toMatchObject([{ content: expect.stringContaining('{"answer":"Blue."}') }, { content: expect.stringContaining('"op-2"') }]);
  expect(
    of('user')[2]
      ?.slice(1)
      .map(({ role }) => role),
  ).toEqual(['assistant', 'user', 'assistant', 'user', 'assistant', 'user']);
  expect(JSON.stringify(of('user'))).not.toMatch(/Ask first|add_note/);
  expect(JSON.stringify(of('agent'))).not.toContain('Anna');
  expect(trial.models).toMatchObject({ agent: { calls: 3 }, user: { calls: 3 } });
});

it('speaks from its brief and never sees what is expected; its tokens are its own', async () => {
  await using provider = await inTurn(says('Order 1007.'), says('Blue.'), says('Bye. [END]'));
  const trial = await suites.run(script([{ say: 'Which order?' }, ask('What colour?'), { say: 'Noted.' }], 'Goodbye: ${reply.answer}'), kase(provider));
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 1 });
  const { store } = testbed.root;
  expect((await store.messages(trial.trial, 1)).map(({ turn, from, text }) => [turn, from, text])).toEqual([
    [1, 'user', 'Hello.'],
    [1, 'agent', 'Which order?'],
    [2, 'user', 'Order 1007.'],
    [2, 'agent', 'What colour?'],
    [3, 'user', 'Blue.'],
    [3, 'agent', 'Noted.'],
    [4, 'user', 'Bye.'],
    [4, 'agent', 'Goodbye: Blue.'],
  ]);
  const [first, second, third] = provider.requests.map(({ body }) => body.messages);
  expect(first?.[0]).toMatchObject({ role: 'system', content: expect.stringMatching(/Anna, in a hurry.*A note\..*order 1007.*only when.*blue/s) });
  expect(first?.slice(1)).toEqual([
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'Which order?' },
  ]);
  expect(second?.slice(-2)).toEqual([
    { role: 'assistant', content: 'Order 1007.' },
    { role: 'user', content: 'What colour?' },
  ]);
  expect(third?.at(-1)).toEqual({ role: 'user', content: 'Noted.' });
  expect(provider.requests.every(({ body }) => body.tools === undefined)).toBe(true);
  expect(JSON.stringify(provider.requests)).not.toContain('SECRET');
  const made = await store.modelCalls(trial.trial, 1);
  expect(made.map(({ id, who, route, end }) => [id, who, route, end])).toEqual([2, 3, 4].map((turn) => [`user-${turn}`, 'user', 'tiny', 'replied']));
  expect(totalsOf(made.filter(({ who }) => who === 'agent'))).toBeNull();
  expect(totalsOf(made.filter(({ who }) => who === 'user'))).toMatchObject({ calls: 3, tokens: { input: 300, output: 60 }, cost: { USD: 0.00084 } });
  expect((await store.conversation(trial.trial, 1)).map(({ who, seq, role }) => [who, seq, role])).toEqual([
    ['user', 1, 'system'],
    ...[2, 4, 6].flatMap((seq) => [
      ['user', seq, 'user'],
      ['user', seq + 1, 'assistant'],
    ]),
  ]);
});

it('talks with a module agent, whose questions at once it answers one by one', async () => {
  await using provider = await startProvider(({ body }) => says(`You asked: ${String(body.messages.at(-1)?.content)}`));
  const trial = await suites.run(moduleAgent('asks.ts', { asks: [['One?', 'Two?']], says: ['Three?'] }), kase(provider));
  expect(trial).toMatchObject({ ending: 'completed', calls: 2 });
  expect((await suites.record(trial)).messages.filter(({ from }) => from === 'user').map(({ turn, text }) => [turn, text])).toEqual([
    [1, 'Hello.'],
    [2, 'You asked: One?'],
    [3, 'You asked: Two?'],
    [4, 'You asked: Three?'],
  ]);
});

it('a provider that is in trouble is asked again; what no try mends is a fault of the user', async () => {
  await using passing = await inTurn({ status: 503, text: 'busy' }, says('Order 1007.'));
  expect(await suites.run(script([{ say: 'Which order?' }]), kase(passing))).toMatchObject({ ending: 'completed', pass: 'pass' });
  await using broken = await startProvider(() => ({ status: 500, text: 'broken' }));
  const failed = await suites.run(script([{ say: 'Which order?' }]), kase(broken, {}, { retries: 1 }));
  expect(failed).toMatchObject({ ending: 'user_error', pass: 'undetermined', attempt: 1 });
  expect(broken.requests).toHaveLength(2);
  expect(await testbed.root.store.modelCalls(failed.trial, 1)).toMatchObject([{ who: 'user', end: 'failed', tries: 2, usage: null, price: null }]);
  await using silent = await inTurn(says('  '));
  const empty = await suites.run(script([ask('Which order?')]), kase(silent));
  expect([empty.ending, (await suites.record(empty)).problem?.code]).toEqual(['user_error', 'empty_reply']);
});

it('a key that is not set where the worker runs is trouble of the test bed', async () => {
  await using provider = await inTurn(says('Order 1007.'));
  const trial = await suites.run(script([{ say: 'Which order?' }]), kase(provider, {}, { key: 'TRIALBED_TEST_NO_SUCH_KEY' }));
  expect(trial).toMatchObject({ ending: 'infra_error', pass: null, attempt: 1 });
  expect(provider.requests).toHaveLength(0);
});

it('is not asked again for what it said before its worker was killed', async () => {
  await using provider = await inTurn(says('Order 1007.'), says('Blue.'), says('Asked too often.'));
  const { suite, agents } = await suites.write(script([{ say: 'Which order?' }, ask('What colour?')], '${reply.answer}'), kase(provider));
  await using killed = await startTestbed(inject('services'), { worker: false, config: { home: testbed.config.home } });
  const doomed = await startWorkerProcess({ ...killed.config, failpoints: [{ name: 'model_replied_before_reported', hit: 2 }] });
  const handle = await runBatch(killed.root, { suite, agents, keep: 'never' }, new Promise(() => {}));
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(killed.root);
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1 }]);
  expect(provider.requests).toHaveLength(2);
  expect((await killed.root.store.messages(trials[0]?.trial ?? '', 1)).at(-1)).toMatchObject({ text: 'Blue.' });
});
