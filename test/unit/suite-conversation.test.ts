import { expect, test } from 'vitest';
import { defineEnvironment } from '../../src/environments/define.ts';
import { checkAgainst } from '../../src/suite/check-against.ts';
import { checkSchedules } from '../../src/suite/check-schedules.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { CASE, folderWith, problemsIn, SUITE } from './suite-fixture.ts';

/** A case with these lines from line 4 on. */
const withLines = (...lines: readonly string[]) => CASE.replace('expect:', `${lines.join('\n')}\nexpect:`);

test.each<[string, readonly string[], readonly string[]]>([
  ['what is right', ['conversation: { user: script, rules: [{ topic: [order], say: [a, b], times: 2 }], otherwise: { say: c, end: true } }'], []],
  ['another user', ['conversation: { user: skript, otherwise: a }'], ['4:23 conversation.user: expected script, model, found "skript" (script)']],
  ['no user', ['conversation: { otherwise: a }'], ['4:15 conversation.user: is missing; expected script, model']],
  ['nothing otherwise', ['conversation: { user: script }'], ['4:15 conversation.otherwise: is missing; expected text or a list']],
  [
    'a key that is near another',
    ['conversation: { user: script, otherwise: a, rule: [] }'],
    ['4:45 unknown key "conversation.rule"; expected user, rules, otherwise (rules)'],
  ],
  [
    'a rule without a condition',
    ['conversation:', '  user: script', '  rules:', '    - { say: a }', '  otherwise: b'],
    ['7:7 conversation.rules[0]: expected a condition: "topic", "says", "not_says" or "matches"'],
  ],
  [
    'a rule that says nothing',
    ['conversation:', '  user: script', '  rules:', '    - { topic: [a] }', '  otherwise: b'],
    ['7:7 conversation.rules[0]: expected "say" or "end: true"'],
  ],
  [
    'a pattern that cannot be read',
    ['conversation: { user: script, rules: [{ matches: "(", say: a }], otherwise: b }'],
    ['4:50 conversation.rules[0].matches: expected a regular expression: Invalid regular expression: /(/u: Unterminated group'],
  ],
  [
    'too many turns',
    ['conversation: { user: script, otherwise: a }', 'budget: { turns: 900 }'],
    ['5:18 budget.turns: expected at most 200 with a simulated user, found 900'],
  ],
])('%s', async (_what, lines, problems) => {
  await using folder = await folderWith({ 'cases/refund.yaml': withLines(...lines) });
  expect(await problemsIn(folder.path, () => loadSuite(folder.path))).toEqual(problems.map((problem) => `cases/refund.yaml:${problem}`));
});

test("the way to a model that speaks as the user is the case's, else the suite's", async () => {
  const talks = (more: string) => withLines(`conversation: { user: model, wants: a refund${more} }`);
  const route = (name: string) => `url: http://127.0.0.1:9/v1\nmodel: ${name}\n`;
  const files = { 'routes/small.yaml': route('small'), 'routes/large.yaml': route('large') };
  await using folder = await folderWith({
    ...files,
    'suite.yaml': `${SUITE}user_model: routes/small.yaml\n`,
    'cases/refund.yaml': talks(''),
    'cases/large.yaml': talks(', route: ../routes/large.yaml, persona: Anna, facts: [a], if_asked: [b]'),
  });
  const { cases } = await loadSuite(folder.path);
  expect(cases.map(({ kase }) => kase.conversation)).toMatchObject([
    { user: 'model', persona: 'Anna', wants: 'a refund', facts: ['a'], ifAsked: ['b'], route: { name: 'large', model: 'large' } },
    { user: 'model', persona: '', facts: [], ifAsked: [], route: { name: 'small', model: 'small' } },
  ]);
  await using without = await folderWith({ ...files, 'cases/refund.yaml': talks(''), 'cases/typo.yaml': talks(', route: ../routes/lage.yaml') });
  expect(await problemsIn(without.path, () => loadSuite(without.path))).toEqual([
    'cases/refund.yaml:4:15 conversation.route: is missing, here and as "user_model" in suite.yaml; expected the way to the model: the path of its file, or the route itself',
    'cases/typo.yaml:4:54 conversation.route: there is no file ../routes/lage.yaml, looked up from the folder of this file',
  ]);
});

test('a simulated user says everything after the first message, and what is written must fit the limit', async () => {
  const turns = CASE.replace('request: Refund order 1007.', 'turns: [a, b]');
  await using folder = await folderWith({
    'cases/refund.yaml': turns.replace('expect:', 'conversation: { user: script, otherwise: a }\nexpect:'),
    'cases/short.yaml': turns.replace('expect:', 'budget: { turns: 1 }\nexpect:'),
    'suite.yaml': `${SUITE}budget: { turns: 1 }\n`,
    'cases/written.yaml': turns,
  });
  expect(await problemsIn(folder.path, () => loadSuite(folder.path))).toEqual([
    'cases/refund.yaml:3:8 turns: expected "request": with "conversation" the simulated user says everything after the first message',
    'cases/short.yaml:4:18 budget.turns: expected at least 2, as many as the case has messages of the user, found 1',
  ]);
});

test('the simulated user is part of what a case is, and so of every trial of it', async () => {
  const hashOf = async (...lines: readonly string[]) => {
    await using folder = await folderWith({ 'cases/refund.yaml': withLines(...lines) });
    return (await loadSuite(folder.path)).cases[0]?.hash;
  };
  const [none, one, same, other] = await Promise.all([
    hashOf(),
    hashOf('conversation: { user: script, otherwise: a }'),
    hashOf('conversation: { otherwise: [a], user: script }'),
    hashOf('conversation: { user: script, otherwise: b }'),
  ]);
  expect(one).toBe(same);
  expect(new Set([none, one, other]).size).toBe(3);
});

test('nobody is asked where nobody answers, and no fault is injected into a person', async () => {
  const asks = CASE.replace('{ call: get_order, with: { order_id: 1007 }, as: order }', '{ call: ask_user, with: { question: Why? } }').replace(
    '${order.total}',
    '25',
  );
  await using folder = await folderWith({
    'cases/alone.yaml': asks,
    'cases/refund.yaml': asks.replace('expect:', 'conversation: { user: script, otherwise: a }\nexpect:'),
    'faults/deaf.yaml': 'faults: [{ on: ask_user, fault: unavailable }]\n',
  });
  const { environment } = { environment: defineEnvironment({ name: 'desk', version: '1', schema: [], seed: [], tools: [] }) };
  const suite = await loadSuite(folder.path);
  const told = [...checkAgainst(suite, { environment }), ...checkSchedules(suite, { environment })].map(({ line, message }) => `${line} ${message}`);
  expect(told.filter((message) => !message.includes('issue_refund'))).toEqual([
    '11 reference.steps[0].call: nobody answers ask_user in this case; give it a simulated user with "conversation"',
    '1 faults[0].on: ask_user asks the simulated user, who is no system that can fail; hit another tool',
  ]);
});

test('a pack may name the question otherwise, have none, or keep a tool of its own', () => {
  const namesOf = (more: Partial<Parameters<typeof defineEnvironment>[0]>) =>
    defineEnvironment({ name: 'desk', version: '1', schema: [], seed: [], tools: [], ...more }).tools.map(({ name, builtin }) => [name, builtin]);
  const own = { name: 'ask_user', description: '', input: {} as never, result: {} as never, effect: 'read', run: async () => null } as const;
  expect(namesOf({})).toEqual([['ask_user', 'ask']]);
  expect(namesOf({ runtime: { ask: 'question' } })).toEqual([['question', 'ask']]);
  expect(namesOf({ runtime: { ask: null } })).toEqual([]);
  expect(namesOf({ tools: [own] })).toEqual([['ask_user', undefined]]);
  expect(() => namesOf({ tools: [own], runtime: { ask: 'ask_user' } })).toThrow('defined twice');
});
