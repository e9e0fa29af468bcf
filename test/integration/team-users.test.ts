import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { decide } from '../../src/client/approvals.ts';
import { run } from '../../src/client/run.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { calls, type Provider, type ProviderAnswer, type ProviderRequest, says, startProvider } from '../harness/provider.ts';
import { type WrittenMembers, writeTeamSuite } from '../harness/team-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { moduleAgent } from './core-trials.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-team-users-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A provider at which each model gives one answer after the other. */
async function models(answers: {
  readonly [model: string]: readonly ProviderAnswer[];
}): Promise<Provider & { readonly of: (model: string) => ProviderRequest[] }> {
  const left = new Map(Object.entries(answers).map(([name, list]) => [name, [...list]]));
  const provider = await startProvider(({ body }) => left.get(body.model)?.shift() ?? { status: 400, text: `${body.model} has nothing more to say` });
  return { ...provider, of: (name) => provider.requests.filter(({ body }) => body.model === name) };
}

const route = ({ url }: Provider, model: string): JsonObject => ({ name: 'tiny', url, model });
const model = (provider: Provider, name: string): JsonObject => ({ kind: 'model', route: route(provider, name) });
const ask = (question: string) => ['ask_user', { question }] as const;
const handOver = (to: string) => ['hand_over', { to, text: 'Yours.' }] as const;
const script = (steps: readonly JsonObject[], answer = 'Done.'): JsonObject => ({ kind: 'script', steps: [...steps], answer });
const BLOB = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt: 'team-users' } };
/** A user of few words. */
const SCRIPTED = {
  ...{ user: 'script', otherwise: 'I do not know.' },
  rules: [
    { topic: ['order'], say: 'It is order 1007.' },
    { topic: ['colour'], say: 'Blue.' },
    { topic: ['goodbye'], say: 'Bye.', end: true },
  ],
};

let count = 0;
const write = (members: WrittenMembers, kase: JsonObject, environment: JsonObject | string = BLOB) =>
  writeTeamSuite(folder, `team-${++count}`, { environment, members, kase });

async function recordOf(trial: TrialSummary): Promise<TrialRecord> {
  const record = await testbed.root.store.record(trial.trial, trial.attempt);
  if (!record) throw new Error(`no record: ${trial.why}`);
  return record;
}

async function play(...written: Parameters<typeof write>): Promise<{ readonly trial: TrialSummary; readonly record: TrialRecord }> {
  const { trials } = await testbed.run({ ...(await write(...written)), keep: 'never' });
  const trial = trials[0] as TrialSummary;
  return { trial, record: await recordOf(trial) };
}

const said = ({ messages }: TrialRecord) => messages.map(({ turn, from, text, actor }) => [turn, from === 'user' ? 'user' : (actor ?? null), text]);

describe.concurrent('a team and a simulated user', () => {
  it('who is a model has one conversation with whoever acts, and hears of no hand-over', async () => {
    await using provider = await models({
      user: [says('Order 1007.'), says('Blue.'), says('Large.'), says('Bye. [END]')],
      front: [says('Which order?'), calls(ask('What colour?'), handOver('clerk'))],
    });
    const conversation = { user: 'model', persona: 'Anna.', wants: 'A note.', facts: [], route: route(provider, 'user') };
    const clerk = moduleAgent('asks.ts', { asks: [['What size?']], says: ['Goodbye.'] });
    const { trial, record } = await play({ front: [model(provider, 'front')], clerk: [clerk] }, { request: 'Hello.', conversation });
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1, calls: 3 });
    expect(said(record).slice(0, -1)).toEqual([
      [1, 'user', 'Hello.'],
      [1, 'front', 'Which order?'],
      [2, 'user', 'Order 1007.'],
      [2, 'front', 'What colour?'],
      [3, 'user', 'Blue.'],
      [3, 'clerk', 'What size?'],
      [4, 'user', 'Large.'],
      [4, 'clerk', 'Goodbye.'],
      [5, 'user', 'Bye.'],
    ]);
    expect(record.handOvers).toMatchObject([{ from: 'front', to: 'clerk', turn: 2 }]);
    expect(provider.of('user').at(-1)?.body.messages.slice(1)).toEqual([
      ...[
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'Which order?' },
        { role: 'assistant', content: 'Order 1007.' },
        { role: 'user', content: 'What colour?' },
      ],
      ...[
        { role: 'assistant', content: 'Blue.' },
        { role: 'user', content: 'What size?' },
        { role: 'assistant', content: 'Large.' },
        { role: 'user', content: 'Goodbye.' },
      ],
    ]);
    const made = await testbed.root.store.modelCalls(trial.trial, 1);
    expect(made.map(({ who, agent }) => [who, agent])).toEqual([
      ...[
        ['agent', 'front'],
        ['user', null],
        ['agent', 'front'],
      ],
      ...['user', 'user', 'user'].map((who) => [who, null]),
    ]);
  });

  it('who follows a script is asked by a script, then by a model, which is told what was said before', async () => {
    await using provider = await models({ clerk: [calls(ask('What colour?')), says('Goodbye.')] });
    const front = script([{ say: 'Which order?' }, { call: 'hand_over', with: { to: 'clerk', text: 'Yours.' } }]);
    const { trial, record } = await play({ front: [front], clerk: [model(provider, 'clerk')] }, { request: 'Hello.', conversation: SCRIPTED });
    expect(trial).toMatchObject({ ending: 'completed', calls: 2 });
    expect(said(record)).toEqual([
      [1, 'user', 'Hello.'],
      [1, 'front', 'Which order?'],
      [2, 'user', 'It is order 1007.'],
      [2, 'clerk', 'What colour?'],
      [3, 'user', 'Blue.'],
      [3, 'clerk', 'Goodbye.'],
      [4, 'user', 'Bye.'],
    ]);
    expect(provider.requests[0]?.body.messages.at(-1)?.content).toContain('{"turn":2,"from":"user","text":"It is order 1007."}]');
  });

  it('whose turns are used up, or who fails, ends the trial in whichever member', async () => {
    await using provider = await models({ front: [says('Which order?'), calls(handOver('clerk'))], clerk: [calls(ask('What colour?')), says('Never.')] });
    const members = { front: [model(provider, 'front')], clerk: [model(provider, 'clerk')] } as const;
    const short = await play(members, { request: 'Hello.', conversation: SCRIPTED, budget: { turns: 2 } });
    expect(short.trial).toMatchObject({ ending: 'budget_exhausted', why: expect.stringContaining('2 turns') });
    const odd = script([{ call: 'hand_over', with: { to: 'clerk', text: 'Yours.' } }]);
    const strict = { ...SCRIPTED, otherwise: { fail: true } };
    const failing = moduleAgent('asks.ts', { asks: [['How old are you?']] });
    const { trial } = await play({ front: [odd], clerk: [failing] }, { request: 'Hello.', conversation: strict });
    expect(trial).toMatchObject({ ending: 'user_error', pass: 'undetermined', attempt: 1 });
  });
});

describe.concurrent('a team and approvals', () => {
  const REFUND = { order_id: 5003, amount: 60, reason: 'damaged' };
  const USER = { name: 'mara', role: 'agent', approval: [{ tool: 'issue_refund', where: { amount: { gt: 50 } }, expires: '2d' }] };
  const refund = ['issue_refund', REFUND] as const;
  const refunds = ({ effects }: TrialRecord) => effects.filter((effect) => effect.kind === 'row' && effect.table === 'refunds');

  it('the call of a member waits for the approver; the record names who asked', async () => {
    await using provider = await models({ front: [calls(handOver('clerk'))], clerk: [calls(refund), says('Done.')] });
    const members = { front: [model(provider, 'front')], clerk: [model(provider, 'clerk')] } as const;
    const { trial, record } = await play(members, { user: USER, approver: 'approve' }, 'support-desk');
    expect(trial).toMatchObject({ ending: 'completed', calls: 2 });
    expect(record.operations[1]).toMatchObject({ actor: 'clerk', told: 'committed', approval: { end: { outcome: 'approved', by: 'approver' } } });
    expect(refunds(record)).toHaveLength(1);
  });

  it('a decision that comes after a hand-over lets the call go on for the one who made it; the other may look', async () => {
    await using provider = await models({ clerk: [calls(refund, handOver('waiter')), says('Done.')] });
    const waits = script([
      { call: 'get_operation', with: { operation: 'op-1' }, as: 'early' },
      { call: 'wait', with: { seconds: 7_200 } },
      { call: 'get_operation', with: { operation: 'op-1' }, as: 'late' },
      { call: 'hand_over', with: { to: 'clerk', text: '${early.state} ${late.state}' } },
    ]);
    const members = { clerk: [model(provider, 'clerk'), { user: { name: 'the clerk' } }], waiter: [waits, { user: { name: 'the waiter' } }] } as const;
    const { record } = await play(members, { user: USER, approver: { decides: 'approve', after: '1h' } }, 'support-desk');
    expect(record.handOvers?.at(-1)?.text).toBe('awaiting_approval committed');
    expect(record.operations[0]).toMatchObject({ actor: 'clerk', told: 'awaiting_approval', ended: { state: 'committed' }, known: 'committed' });
    expect(provider.requests[1]?.body.messages.find(({ tool_call_id: id }) => id === 'call-0')?.content).toContain('"state":"awaiting_approval"');
    expect(refunds(record)).toHaveLength(1);
  });

  it('people decide about the call of a member, which waits for them', async () => {
    await using provider = await models({ front: [calls(handOver('clerk'))], clerk: [calls(refund), says('Done.')] });
    const request = await write({ front: [model(provider, 'front')], clerk: [model(provider, 'clerk')] }, { user: USER }, 'support-desk');
    const handle = await run(testbed.root, { ...request, keep: 'never', human: true }, new Promise(() => {}));
    for await (const event of handle.events()) {
      if (event.type === 'approval') await decide(testbed.root, event.asked.id, { approved: false, by: 'petra', reason: 'Ask first.' });
      if (event.type !== 'trial') continue;
      const record = await recordOf(event);
      expect(record.operations[1]).toMatchObject({ actor: 'clerk', told: 'denied', approval: { end: { outcome: 'refused', by: 'petra', via: 'update' } } });
      expect(JSON.stringify(provider.of('clerk')[1]?.body.messages.at(-1))).toContain('Ask first.');
    }
  });
});
