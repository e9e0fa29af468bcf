import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { timelineLines } from '../../src/cli/trial-timeline.ts';
import { trialbedOver } from '../../src/client/index.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { type WrittenMembers, writeTeamSuite } from '../harness/team-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-team-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const fixtures = resolve('test/fixtures/agents/team');
const program = (file: string): JsonObject => ({ kind: 'command', folder: fixtures, program: 'python3', args: [file] });
const module = (file: string, parameters: JsonObject = {}): JsonObject => ({ kind: 'module', file: join(fixtures, file), parameters });

const team = (name: string, start: string, members: WrittenMembers, kase: JsonObject = {}) =>
  writeTeamSuite(folder, name, { environment: 'support-desk', start, members, kase });

it('each member acts with a token, tools and permissions of its own; who acted and each hand-over are in the record', async () => {
  const suite = await team('two', 'triage', {
    triage: [program('triage.py'), { user: { role: 'readonly', tools: ['get_order'] } }],
    clerk: [module('clerk.ts'), { user: { name: 'the clerk', tools: ['comment_ticket'] } }],
  });
  const { trials } = await testbed.run({ ...suite, keep: 'never' });
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1, calls: 9 }]);
  const [trial] = trials;
  const record = await testbed.root.store.record(trial?.trial ?? '', 1);
  expect(record?.messages.map(({ turn, from, actor }) => [turn, from, actor ?? null])).toEqual([
    [1, 'user', null],
    [1, 'agent', 'triage'],
  ]);
  const told = JSON.parse(record?.messages[1]?.text ?? '{}') as JsonObject;
  expect(told).toEqual({
    from: 'triage',
    tools: ['get_order', 'get_operation', 'wait', 'hand_over'],
    seen: [null, 'not_permitted', 'invalid_args'],
    clerkTools: ['comment_ticket', 'get_operation', 'wait', 'hand_over'],
    // Of an operation of the other, with a tool that it may not call, it is told nothing.
    calls: ['not_found', null, 'not_permitted'],
    before: 'token_ended',
    turn: 1,
  });
  expect(record?.operations.map(({ tool, actor, told: state }) => [tool, actor, state])).toEqual([
    ['get_order', 'triage', 'committed'],
    ['issue_refund', 'triage', 'denied'],
    ['hand_over', 'triage', 'rejected'],
    ['hand_over', 'triage', 'committed'],
    ['get_order', 'triage', 'denied'],
    ['get_operation', 'clerk', 'failed'],
    ['comment_ticket', 'clerk', 'committed'],
    ['get_order', 'clerk', 'denied'],
    ['hand_over', 'clerk', 'committed'],
  ]);
  expect(record?.operations[4]?.problem?.code).toBe('handed_over');
  // A tool acts for whoever calls it.
  expect(record?.effects).toMatchObject([{ table: 'ticket_comments', after: { author: 'the clerk' }, operation: 'op-7' }]);
  expect(record?.handOvers).toMatchObject([
    { operation: 'op-4', from: 'triage', to: 'clerk', turn: 1 },
    { operation: 'op-9', from: 'clerk', to: 'triage', turn: 1 },
  ]);
  expect(record?.handOvers?.[0]?.text).toContain('"seen"');
  const verdict = (await testbed.root.store.verdicts(trial?.trial ?? ''))[0];
  expect(verdict?.diagnostics).toMatchObject({ handOvers: 2, repeatedHandOvers: 0, callsByActor: { triage: 5, clerk: 4 } });
});

it('two who hand over to each other end with the trial’s budget, and the repeated delegation shows', async () => {
  const members = { a: [module('passes-on.ts', { to: 'b' })], b: [module('passes-on.ts', { to: 'a' })] } as const;
  const { trials, summary } = await testbed.run({ ...(await team('circle', 'a', members, { budget: { calls: 5 } })), keep: 'never' });
  expect(trials).toMatchObject([{ ending: 'budget_exhausted', calls: 5, team: { calls: { a: 3, b: 2 }, handOvers: { a: 3, b: 2 }, repeated: 3 } }]);
  const members_ = ['a', 'b'].map((member) => ({ member, calls: member === 'a' ? 3 : 2, handOvers: member === 'a' ? 3 : 2, models: null }));
  expect(summary.teams).toEqual([{ agent: 'agent', trials: 1, handOvers: 5, repeated: 3, repeatedIn: 1, members: members_ }]);
  const verdict = (await testbed.root.store.verdicts(trials[0]?.trial ?? ''))[0];
  expect(verdict?.diagnostics).toMatchObject({ handOvers: 5, repeatedHandOvers: 3 });
});

it('whoever was handed the conversation goes on with the user, and only to whom it may', async () => {
  const members = {
    first: [module('passes-on.ts', { to: 'second' })],
    second: [module('passes-on.ts', { to: 'third', answers: true }), { hands_over_to: ['third'] }],
    third: [module('passes-on.ts', { to: 'first' }), { hands_over_to: [] }],
  } as const;
  const { trials } = await testbed.run({ ...(await team('three', 'first', members)), keep: 'never' });
  expect(trials).toMatchObject([{ ending: 'completed', calls: 1 }]);
  const id = trials[0]?.trial ?? '';
  const view = await trialbedOver(testbed.root, async () => {}).show(id);
  expect(view.messages.at(-1)).toMatchObject({ text: 'first said: Yours.', actor: 'second' });
  const lines = timelineLines(view, 120, (_style, text) => text).join('\n');
  expect(lines).toContain('first hands over to second (op-1): Yours.');
  expect(lines).toContain('hand_over by first');
  expect(lines).toContain('hand-overs 1');
});

it('what is wrong with a team is told with its place and the nearest name', async () => {
  const suite = await team('wrong', 'frst', {
    first: [module('passes-on.ts'), { hands_over_to: ['secnd'], user: { role: 'agnt', tools: ['get_ordr'] } }],
    second: [{ kind: 'do-nothing' }],
  });
  await expect(testbed.run({ ...suite, keep: 'never' })).rejects.toThrow(
    /start: .*"frst".*did you mean "first"[\s\S]*hands_over_to\[0\].*"secnd".*did you mean "second"[\s\S]*members.second.agent: expected an agent of kind model, module, command, http or script, found do-nothing/,
  );
  const roles = await team('roles', 'first', {
    first: [module('passes-on.ts'), { user: { role: 'agnt', tools: ['get_ordr'] } }],
    second: [
      {
        kind: 'script',
        steps: [
          { call: 'hand_ovr', with: {} },
          { call: 'hand_over', with: { to: 'frst', text: 'x' } },
        ],
        answer: 'Done.',
      },
    ],
  });
  await expect(testbed.run({ ...roles, keep: 'never' })).rejects.toThrow(
    /members.first.user.role: .*"agnt".*did you mean "agent"[\s\S]*members.first.user.tools\[0\]: .*"get_ordr".*did you mean "get_order"[\s\S]*steps\[0\].call: .*"hand_ovr".*did you mean "hand_over"[\s\S]*steps\[1\].with.to: /,
  );
});
