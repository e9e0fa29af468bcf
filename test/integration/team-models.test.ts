import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { run as runBatch } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { callTool, startAgentServer } from '../harness/agent-server.ts';
import { calls, type Provider, type ProviderAnswer, type ProviderRequest, says, startProvider } from '../harness/provider.ts';
import { type WrittenMembers, writeTeamSuite } from '../harness/team-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-team-models-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const PRICES = { input: 1, output: 10, cached: 0.5 };
const note = (body: string) => ['add_note', { body }] as const;
const handOver = (to: string, text = 'Yours.') => ['hand_over', { to, text }] as const;
const fixture = (file: string) => resolve('test/fixtures/agents/team', file);

/** A provider at which each member is a model of its own, which gives one answer after the other. */
async function members(answers: {
  readonly [member: string]: readonly ProviderAnswer[];
}): Promise<Provider & { readonly of: (member: string) => ProviderRequest[] }> {
  const left = new Map(Object.entries(answers).map(([member, list]) => [member, [...list]]));
  const provider = await startProvider(({ body }) => left.get(body.model)?.shift() ?? { status: 400, text: `${body.model} has nothing more to say` });
  return { ...provider, of: (member) => provider.requests.filter(({ body }) => body.model === member) };
}

const model = ({ url }: Provider, name: string, more: JsonObject = {}): JsonObject => ({
  ...{ kind: 'model', prompt: `You are ${name}.`, route: { name: 'tiny', url, model: name, prices: PRICES } },
  ...more,
});

let count = 0;
async function play(team: WrittenMembers, kase: JsonObject = {}): Promise<{ readonly trial: TrialSummary; readonly record: TrialRecord }> {
  const environment = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt: 'team-models' } };
  const suite = await writeTeamSuite(folder, `team-${++count}`, { environment, members: team, kase });
  const { trials } = await testbed.run({ ...suite, keep: 'never' });
  const trial = trials[0] as TrialSummary;
  const record = await testbed.root.store.record(trial.trial, trial.attempt);
  if (!record) throw new Error(`no record: ${trial.why}`);
  return { trial, record };
}

const acted = ({ operations }: TrialRecord) => operations.map(({ tool, actor, told }) => [tool, actor, told]);
const said = ({ messages }: TrialRecord) => messages.map(({ turn, from, text, actor }) => [turn, actor ?? from, text]);
const toolNames = ({ body }: ProviderRequest) => body.tools?.map(({ function: { name } }) => name);

describe.concurrent('a team of models', () => {
  it('each has a conversation, tools and permissions of its own; what one may the other may not; one goes on with what it knew', async () => {
    await using provider = await members({
      front: [calls(['read_text', { bytes: 4 }], note('no'), handOver('clerk', 'Add a note.')), says('All done.')],
      clerk: [calls(['read_text', { bytes: 4 }], note('one')), calls(handOver('front', 'It is there.'), note('late'))],
    });
    const { trial, record } = await play(
      {
        front: [model(provider, 'front'), { user: { name: 'the front desk', tools: ['read_text'] } }],
        clerk: [model(provider, 'clerk'), { user: { tools: ['add_note'] } }],
      },
      { expects_nothing: false, expect: { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert', where: { body: 'one' } }] }] } },
    );
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 7 });
    expect(acted(record)).toEqual([
      ['read_text', 'front', 'committed'],
      ['add_note', 'front', 'denied'],
      ['hand_over', 'front', 'committed'],
      ['read_text', 'clerk', 'denied'],
      ['add_note', 'clerk', 'committed'],
      ['hand_over', 'clerk', 'committed'],
      ['add_note', 'clerk', 'denied'],
    ]);
    expect(record.operations.map(({ problem }) => problem?.code ?? null)).toEqual([null, 'not_permitted', null, 'not_permitted', null, null, 'handed_over']);
    expect(record.handOvers).toEqual([
      { operation: 'op-3', from: 'front', to: 'clerk', turn: 1, text: 'Add a note.' },
      { operation: 'op-6', from: 'clerk', to: 'front', turn: 1, text: 'It is there.' },
    ]);
    expect(said(record)).toEqual([
      [1, 'user', 'Do it.'],
      [1, 'front', 'All done.'],
    ]);
    const [[front, again], [clerk]] = [provider.of('front'), provider.of('clerk')] as [[ProviderRequest, ProviderRequest], [ProviderRequest]];
    expect([toolNames(front), toolNames(clerk)]).toEqual([
      ['read_text', 'hand_over'],
      ['add_note', 'hand_over'],
    ]);
    expect(front.body.messages[0]?.content).toMatch(/^You are front\.\n\nYou act for the front desk/);
    expect(clerk.body.messages).toEqual([
      { role: 'system', content: expect.stringMatching(/^You are clerk\.\n\nYou act for mara/) },
      { role: 'user', content: 'What was said: [{"turn":1,"from":"user","text":"Do it."}]\n\nfront hands the conversation over to you: Add a note.' },
    ]);
    expect(again.body.messages.slice(2)).toEqual([
      { role: 'assistant', content: null, tool_calls: expect.any(Array) },
      { role: 'tool', tool_call_id: 'call-0', content: expect.stringContaining('"op-1"') },
      { role: 'tool', tool_call_id: 'call-1', content: expect.stringContaining('not_permitted') },
      { role: 'tool', tool_call_id: 'call-2', content: expect.stringContaining('{"handed_over_to":"clerk"}') },
      { role: 'user', content: 'clerk hands the conversation over to you: It is there.' },
    ]);
    const { store } = testbed.root;
    expect((await store.modelCalls(trial.trial, 1)).map(({ id, agent, source }) => [id, agent, source])).toEqual([
      ['agent-1', 'front', 'loop'],
      ['agent-2', 'clerk', 'loop'],
      ['agent-3', 'clerk', 'loop'],
      ['agent-4', 'front', 'loop'],
    ]);
    const kept = await store.conversation(trial.trial, 1);
    const places = (member: string) => kept.filter(({ agent }) => agent === member).map(({ seq }) => seq);
    expect([places('front'), places('clerk')]).toEqual([
      [1, 2, 3, 4, 5, 6, 7, 8],
      [1, 2, 3, 4, 5, 6],
    ]);
    const verdict = (await store.verdicts(trial.trial))[0];
    expect(verdict?.diagnostics).toMatchObject({ handOvers: 2, repeatedHandOvers: 0, callsByActor: { front: 3, clerk: 4 } });
  });

  it('answers the user through whoever has the conversation, and is told what was said since', async () => {
    await using provider = await members({
      a: [says('Hello.'), calls(handOver('b', 'First.')), calls(handOver('b', 'Again.'))],
      b: [says('It is b.'), calls(handOver('a', 'Back.')), says('Bye.')],
    });
    const { trial, record } = await play(
      { a: [model(provider, 'a')], b: [model(provider, 'b')] },
      { request: undefined as never, turns: ['One.', 'Two.', 'Three.'] },
    );
    expect(trial).toMatchObject({ ending: 'completed', calls: 3 });
    expect(said(record)).toEqual([
      [1, 'user', 'One.'],
      [1, 'a', 'Hello.'],
      [2, 'user', 'Two.'],
      [2, 'b', 'It is b.'],
      [3, 'user', 'Three.'],
      [3, 'b', 'Bye.'],
    ]);
    const opening = ({ body }: ProviderRequest) => String(body.messages.at(-1)?.content);
    expect(opening(provider.of('b')[0] as ProviderRequest)).toContain(
      '{"turn":1,"from":"agent","text":"Hello.","member":"a"},{"turn":2,"from":"user","text":"Two."}]',
    );
    expect(opening(provider.of('a')[2] as ProviderRequest)).toBe(
      'What was said: [{"turn":2,"from":"agent","text":"It is b.","member":"b"},{"turn":3,"from":"user","text":"Three."}]\n\nb hands the conversation over to you: Back.',
    );
    expect(opening(provider.of('b')[2] as ProviderRequest)).toBe('a hands the conversation over to you: Again.');
    const verdict = (await testbed.root.store.verdicts(trial.trial))[0];
    expect(verdict?.diagnostics).toMatchObject({ handOvers: 3, repeatedHandOvers: 1 });
  });

  it.each<[string, JsonObject, JsonObject, { readonly why: string; readonly notes: number }]>([
    ['steps', { budget: { steps: 2 } }, {}, { why: 'The budget of 2 model calls is used up.', notes: 1 }],
    ['tokens', { budget: { tokens: 200 } }, {}, { why: 'The budget of 200 tokens is overdrawn (240).', notes: 0 }],
    ['money', { budget: { money: '0.00056 USD' } }, {}, { why: 'The budget of 0.00056 USD is used up (0.00056 USD).', notes: 1 }],
    ['calls', { budget: { calls: 1 } }, {}, { why: 'The budget of 1 calls is used up.', notes: 0 }],
    ['steps of its own', {}, { budget: { steps: 1 } }, { why: 'b: The budget of 1 model calls is used up.', notes: 1 }],
  ])('ends in the second member when the budget of all is used up: %s', async (_name, kase, own, { why, notes }) => {
    await using provider = await members({ a: [calls(handOver('b'))], b: [calls(note('one')), says('Never.')] });
    const { trial, record } = await play({ a: [model(provider, 'a')], b: [model(provider, 'b', own)] }, kase);
    expect(trial).toMatchObject({ ending: 'budget_exhausted', why: expect.stringContaining(why) });
    expect(provider.of('b')).toHaveLength(1);
    expect(record.operations.filter(({ tool }) => tool === 'add_note')).toHaveLength(notes);
  });

  it('shares time, tokens and steps with members that ask models through the gateway', async () => {
    await using provider = await members({ a: [calls(handOver('b')), calls(handOver('b')), says('Never.')], b: [says('x'), says('y')] });
    const asks = {
      kind: 'module',
      file: fixture('asks-and-passes.ts'),
      parameters: { to: 'a' },
      provider_variables: true,
      route: { name: 'b', url: provider.url, model: 'b' },
    };
    const { trial } = await play({ a: [model(provider, 'a')], b: [asks] }, { budget: { steps: 4 } });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 4, why: expect.stringContaining('The budget of 4 model calls is used up.') });
    expect([provider.of('a').length, provider.of('b').length]).toEqual([2, 2]);
    expect((await testbed.root.store.modelCalls(trial.trial, 1)).map(({ agent, source }) => [agent, source])).toEqual([
      ['a', 'loop'],
      ['b', 'gateway'],
      ['a', 'loop'],
      ['b', 'gateway'],
    ]);
  });
});

it('a model, a module, a program, a script and a server hand over to each other in one trial', async () => {
  await using provider = await members({ model: [calls(note('model'), handOver('module', 'From the model.')), says('The model answers the second.')] });
  await using server = await startAgentServer({
    'POST turns': async ({ response, start }) => {
      await callTool(start, 'hand_over', { to: 'model', text: `The server had: ${start.text}` });
      response.end('Nobody hears this.');
    },
  });
  const passes = { kind: 'module', file: fixture('passes-on.ts'), parameters: { to: 'program' } };
  const program = { kind: 'command', folder: resolve('test/fixtures/agents/team'), program: 'python3', args: ['passes-on.py', 'script'] };
  const script = {
    kind: 'script',
    steps: [
      { call: 'add_note', with: { body: 'script' }, as: 'noted' },
      { say: 'The script answers the first.' },
      { call: 'hand_over', with: { to: 'server', text: 'Noted as ${noted.id}.' } },
    ],
    answer: 'Never said.',
  };
  const { trial, record } = await play(
    { model: [model(provider, 'model')], module: [passes], program: [program], script: [script], server: [{ kind: 'http', url: `${server.url}/turns` }] },
    { request: undefined as never, turns: ['One.', 'Two.'] },
  );
  expect(trial).toMatchObject({ ending: 'completed', attempt: 1, calls: 7 });
  expect(acted(record)).toEqual([
    ['add_note', 'model', 'committed'],
    ['hand_over', 'model', 'committed'],
    ['hand_over', 'module', 'committed'],
    ['hand_over', 'program', 'committed'],
    ['add_note', 'script', 'committed'],
    ['hand_over', 'script', 'committed'],
    ['hand_over', 'server', 'committed'],
  ]);
  expect(said(record)).toEqual([
    [1, 'user', 'One.'],
    [1, 'script', 'The script answers the first.'],
    [2, 'user', 'Two.'],
    [2, 'model', 'The model answers the second.'],
  ]);
  expect(record.handOvers?.map(({ from, to, turn }) => [from, to, turn])).toEqual([
    ['model', 'module', 1],
    ['module', 'program', 1],
    ['program', 'script', 1],
    ['script', 'server', 2],
    ['server', 'model', 2],
  ]);
  expect(provider.requests[1]?.body.messages.at(-1)?.content).toContain('server hands the conversation over to you: The server had: Noted as 2.');
});

it('goes on in its second member where it was when the worker is killed; nothing is asked or done twice', async () => {
  await using provider = await members({ a: [calls(note('a'), handOver('b')), says('Done.')], b: [calls(note('b')), calls(handOver('a'))] });
  await using killed = await startTestbed(inject('services'), { worker: false, config: { home: testbed.config.home } });
  const environment = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt: 'team-models' } };
  const suite = await writeTeamSuite(folder, 'killed', { environment, members: { a: [model(provider, 'a')], b: [model(provider, 'b')] } });
  const doomed = await startWorkerProcess({ ...killed.config, failpoints: [{ name: 'model_replied_before_reported', hit: 2 }] });
  const handle = await runBatch(killed.root, { ...suite, keep: 'never' }, new Promise(() => {}));
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(killed.root);
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1, calls: 4 }]);
  const record = await killed.root.store.record(trials[0]?.trial ?? '', 1);
  expect(record && acted(record)).toEqual([
    ['add_note', 'a', 'committed'],
    ['hand_over', 'a', 'committed'],
    ['add_note', 'b', 'committed'],
    ['hand_over', 'b', 'committed'],
  ]);
  expect(provider.requests).toHaveLength(4);
});
