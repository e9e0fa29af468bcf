import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkAgainst, type EnvironmentFacts } from '../../src/suite/check-against.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { CASE, folderWith, problemsIn, SUITE } from './suite-fixture.ts';

/** Problems of the case of a suite that is right but for it. */
async function caseProblems(text: string): Promise<readonly string[]> {
  await using folder = await folderWith({ 'cases/refund.yaml': text });
  return (await problemsIn(folder.path, () => loadSuite(folder.path))).map((problem) => problem.replace('cases/refund.yaml:', ''));
}

/** The case with one line in place of another. */
function edited(from: string, to: string): string {
  if (!CASE.includes(from)) throw new Error(`the case does not hold ${from}`);
  return CASE.replace(from, to);
}

describe('a suite', () => {
  test('is found by folder and by file; its defaults reach the cases', async () => {
    await using folder = await folderWith({ 'agents/hasty.yaml': 'kind: do-nothing\n', 'agents/code.ts': '' });
    const suite = await loadSuite(folder.path);
    expect(await loadSuite(join(folder.path, 'suite.yaml'))).toMatchObject({ file: suite.file, name: 'desk' });
    expect(suite).toMatchObject({
      name: 'desk',
      title: 'desk',
      environment: { file: join(folder.path, 'pack.ts'), options: {} },
      agents: { hasty: join(folder.path, 'agents/hasty.yaml') },
      defaults: { trials: 1, agents: ['reference'] },
    });
    expect(suite.cases[0]?.kase).toEqual({
      id: 'refund',
      title: 'Refund',
      kind: 'refund',
      tags: [],
      turns: ['Refund order 1007.'],
      permission: { user: 'mara', role: 'agent', tools: [], attributes: {} },
      clock: '2026-03-02T09:30:00+01:00',
      timezone: 'Europe/Berlin',
      budget: { calls: 30, wallMs: 300_000, turns: 1 },
      state: [],
      expectsNothing: false,
      expect: {
        outcomes: [{ name: 'refunded', effects: [{ row: 'refunds', change: 'insert', where: { order_id: 1007 } }] }],
        allowed: [],
        forbidden: [],
        constraints: [],
        claims: [],
        repeatedWrites: 'forbid',
      },
      reference: {
        steps: [
          { call: 'get_order', with: { order_id: 1007 }, as: 'order' },
          { call: 'issue_refund', with: { order_id: 1007, amount: '${order.total}' } },
        ],
        answer: 'Done.',
      },
      mutants: [],
    });
  });

  test('a case puts its own over the defaults, key by key', async () => {
    const own = `${CASE}user: { role: lead, tools: [get_order] }\nbudget: { wall: 90s }\nclock: 2026-07-01T00:00:00Z\ntimezone: Asia/Tokyo\n`;
    await using folder = await folderWith({ 'suite.yaml': `${SUITE}budget: { calls: 7, wall: 1h }\n`, 'cases/refund.yaml': own });
    const [loaded] = (await loadSuite(folder.path)).cases;
    expect(loaded?.kase).toMatchObject({
      permission: { user: 'mara', role: 'lead', tools: ['get_order'] },
      budget: { calls: 7, wallMs: 90_000, turns: 1 },
      clock: '2026-07-01T00:00:00Z',
      timezone: 'Asia/Tokyo',
    });
  });

  test('cases come sorted, and are chosen by glob and by tag', async () => {
    await using folder = await folderWith({ 'cases/b-two.yaml': `${CASE}tags: [smoke]\n`, 'cases/a.yaml': CASE, 'cases/b-one.yaml': CASE });
    const ids = async (options: Parameters<typeof loadSuite>[1]): Promise<string[]> => (await loadSuite(folder.path, options)).cases.map(({ kase }) => kase.id);
    expect(await ids({})).toEqual(['a', 'b-one', 'b-two', 'refund']);
    expect(await ids({ cases: ['b-*', 'a'] })).toEqual(['a', 'b-one', 'b-two']);
    expect(await ids({ tags: ['smoke', 'other'] })).toEqual(['b-two']);
    expect(await ids({ cases: ['a'], tags: ['smoke'] })).toEqual([]);
  });

  test('options of the environment are merged', async () => {
    await using folder = await folderWith({ 'suite.yaml': SUITE.replace('./pack.ts', '{ use: ./pack.ts, with: { size: 1, region: eu } }') });
    expect((await loadSuite(folder.path, { environmentOptions: { size: 2 } })).environment.options).toEqual({ size: 2, region: 'eu' });
  });

  test('the hash is of the content: not of layout, comments, line ends or place', async () => {
    await using one = await folderWith();
    await using two = await folderWith({
      'cases/refund.yaml': `# a comment\r\n${CASE.split('\n')
        .reverse()
        .filter((line) => line.startsWith('kind'))
        .join('')}\r\n${CASE.replace('kind: refund\n', '').replaceAll('\n', '\r\n')}`,
    });
    await using three = await folderWith({ 'cases/refund.yaml': CASE.replace('1007.', '1008.') });
    const hash = async (path: string): Promise<string | undefined> => (await loadSuite(path)).cases[0]?.hash;
    expect(await hash(two.path)).toBe(await hash(one.path));
    expect(await hash(three.path)).not.toBe(await hash(one.path));
    expect(await hash(one.path)).toMatch(/^[0-9a-f]{64}$/);
  });

  test('the line of a rule, as graders and mutants name it', async () => {
    await using folder = await folderWith();
    const lineOf = (await loadSuite(folder.path)).cases[0]?.lineOf;
    expect(
      ['expect', 'expect.outcomes[0]', 'outcomes[0].effects[0]', 'reference.steps[1].with.amount', 'reference.answer', 'turns[0]', 'permission.tools'].map(
        (path) => lineOf?.(path),
      ),
    ).toEqual([5, 6, 8, 12, 13, 3, 1]);
  });

  test('a pack that was built is found by the name of its source; a folder stands for its pack', async () => {
    await using built = await folderWith({ 'pack.ts': null, 'pack.js': '' });
    expect((await loadSuite(built.path)).environment.file).toBe(join(built.path, 'pack.js'));
    await using inFolder = await folderWith({ 'suite.yaml': SUITE.replace('./pack.ts', './env'), 'env/pack.ts': '' });
    expect((await loadSuite(inFolder.path)).environment.file).toBe(join(inFolder.path, 'env/pack.ts'));
  });

  test('a copy in another folder, also with spaces and other letters in its path, is the same', async () => {
    await using folder = await folderWith();
    const other = join(folder.path, 'other \u00e9 #1');
    await cp(folder.path, `${folder.path}-copy`, { recursive: true });
    await rename(`${folder.path}-copy`, other);
    expect((await loadSuite(other)).cases[0]?.hash).toBe((await loadSuite(folder.path)).cases[0]?.hash);
  });

  test('the built-in suite is found by its name', async () => {
    const suite = await loadSuite('support-desk');
    expect(suite.name).toBe('support-desk');
    expect(suite.cases.length).toBeGreaterThanOrEqual(16);
  });
});

describe('what is wrong with a suite', () => {
  const of = async (files: Parameters<typeof folderWith>[0], path = ''): Promise<readonly string[]> => {
    await using folder = await folderWith(files);
    return await problemsIn(folder.path, () => loadSuite(join(folder.path, path)));
  };

  test.each<[string, Parameters<typeof folderWith>[0], readonly string[]]>([
    [
      'an unknown key',
      { 'suite.yaml': `${SUITE}defualts: {}\n` },
      [
        'suite.yaml:6:1 unknown key "defualts"; expected name, title, environment, defaults, clock, timezone, budget, user, user_model, approver, cassettes (defaults)',
      ],
    ],
    ['a missing pack', { 'pack.ts': null }, ['suite.yaml:2:14 environment: there is no file ./pack.ts, looked up from the folder of this file']],
    [
      'an unknown environment',
      { 'suite.yaml': SUITE.replace('./pack.ts', 'suport-desk') },
      [expect.stringMatching(/^suite\.yaml:2:14 environment: there is no environment "suport-desk"; known: .*\(support-desk\)$/) as string],
    ],
    [
      'an unknown agent',
      { 'suite.yaml': `${SUITE}defaults: { agents: [refrence] }\n` },
      ['suite.yaml:6:22 defaults.agents[0]: there is no agent "refrence"; known: reference, do-nothing (reference)'],
    ],
    [
      'a gate on a figure that there is not',
      { 'suite.yaml': `${SUITE}defaults: { gates: ['pass>=0.9', 'forbiden[critical]==0'] }\n` },
      [
        expect.stringMatching(
          /^suite\.yaml:6:34 defaults\.gates\[1\]: gate "forbiden\[critical\]==0", column 1: "forbiden" is no figure \(did you mean "forbidden"\?\)/,
        ) as string,
      ],
    ],
    [
      'a gate on a tag that no case has',
      { 'suite.yaml': `${SUITE}defaults: { gates: ['forbidden[critical]==0', 'pass[mails]>=1'] }\n`, 'cases/refund.yaml': `tags: [mail]\n${CASE}` },
      ['suite.yaml:6:47 defaults.gates[1]: there is no severity or tag of a case "mails"; known: low, medium, high, critical, mail (mail)'],
    ],
    [
      'an agent under the name of a built-in one',
      { 'agents/reference.yaml': 'kind: do-nothing' },
      ['agents/reference.yaml:-:- the name "reference" is that of a built-in agent; rename the file'],
    ],
    ['no case', { 'cases/refund.yaml': null }, ['cases:-:- the suite has no case; expected files NAME.yaml in this folder']],
    [
      'a case that would be passed over',
      { 'cases/more.yml': CASE, 'cases/no good.yaml': CASE },
      ['cases/more.yml:-:- the name must end in .yaml', 'cases/no good.yaml:-:- the name may hold letters, digits, "_", "." and "-", at most 100'],
    ],
    [
      'a clock without a zone',
      { 'suite.yaml': SUITE.replace('+01:00', '') },
      ['suite.yaml:3:8 clock: "2026-03-02T09:30:00" does not say in which zone; add an offset, as in 2026-03-02T09:30:00+01:00, or Z for UTC'],
    ],
    [
      'a name that is no name',
      { 'suite.yaml': SUITE.replace('desk', '"a b"') },
      ['suite.yaml:1:7 name: expected a short name of letters, digits, "_", "." and "-"'],
    ],
    [
      'an environment that is a number',
      { 'suite.yaml': SUITE.replace('./pack.ts', '5') },
      ['suite.yaml:2:14 environment: expected text or a mapping, found 5'],
    ],
  ])('%s', async (_what, files, expected) => {
    expect(await of(files)).toEqual(expected);
  });

  test('a folder without suite.yaml, and a name that is none', async () => {
    expect(await of({}, 'cases')).toEqual(['cases:-:- the folder holds no suite.yaml']);
    expect(await of({}, 'nothing')).toEqual([
      expect.stringContaining('there is no suite here; expected a folder with suite.yaml, such a file, or a built-in suite (live-desk, support-desk'),
    ]);
    await expect(loadSuite('suport-desk')).rejects.toThrow('did you mean "support-desk"?');
  });

  test('every file is checked, and all problems are told at once, in order', async () => {
    const found = await of({
      'suite.yaml': `${SUITE}x: 1\n`,
      'cases/a.yaml': 'title: [',
      'cases/b.yaml': edited('kind: refund', 'knd: refund'),
      'cases/c.yaml': '',
    });
    expect(found.map((problem) => problem.split(' ')[0])).toEqual([
      'suite.yaml:6:1',
      'cases/a.yaml:1:9',
      'cases/b.yaml:1:1',
      'cases/b.yaml:2:1',
      'cases/c.yaml:1:1',
    ]);
  });
});

describe('what is wrong with a case', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'an unknown key deep inside',
      edited('change: insert, where', 'change: insert, were'),
      ['8:43 unknown key "expect.outcomes[0].effects[0].were"; expected row, change, where, before, only, count (where)'],
    ],
    [
      'an unknown value',
      edited('change: insert', 'change: inserted'),
      ['8:35 expect.outcomes[0].effects[0].change: expected "insert" or "update" or "delete", found "inserted" (insert)'],
    ],
    [
      'a missing key',
      edited('row: refunds, change: insert', 'row: refunds'),
      ['8:11 expect.outcomes[0].effects[0].change: is missing; expected insert or update or delete'],
    ],
    [
      'a key of another form',
      edited('{ row: refunds, change: insert, where: { order_id: 1007 } }', '{ mail: [a@example.org], subject: x, where: {} }'),
      ['8:48 unknown key "expect.outcomes[0].effects[0].where"; expected mail, from, subject, body, count'],
    ],
    ['text where a list belongs', edited('request: Refund order 1007.', 'turns: hello'), ['3:8 turns: expected a list, found "hello"']],
    ['a number where text belongs', edited('title: Refund', 'title: 7'), ['1:8 title: expected text, found 7; put it in quotes']],
    ['an empty value', edited('title: Refund', 'title:'), ['1:1 title: expected text, found nothing']],
    ['request and turns', `${CASE}turns: [a]\n`, ['14:8 turns: expected either "request" or "turns"']],
    [
      'no outcome',
      edited('  outcomes:\n    - name: refunded\n      effects:\n        - { row: refunds, change: insert, where: { order_id: 1007 } }\n', '  allowed: []\n'),
      ['5:3 expect: expected "outcomes": the end states that are accepted; where nothing may change: [{ name: nothing changed, effects: [] }]'],
    ],
    [
      'a slip in an operator',
      edited('order_id: 1007 } }\nref', 'order_id: { on_of: [1, 2] } } }\nref'),
      ['8:64 unknown key "expect.outcomes[0].effects[0].where.order_id.on_of"; expected any, one_of, not, gte, lte, gt, lt, matches, says, not_says (one_of)'],
    ],
    [
      'two operators that do not go together',
      edited('order_id: 1007 } }\nref', 'order_id: { one_of: [1], not: 2 } } }\nref'),
      ['8:77 unknown key "expect.outcomes[0].effects[0].where.order_id.not"; expected any, one_of, not, gte, lte, gt, lt, matches, says, not_says (not)'],
    ],
    [
      'a pattern that is no pattern',
      edited('order_id: 1007 } }\nref', "order_id: { matches: '(' } } }\nref"),
      [expect.stringMatching(/^8:73 expect\.outcomes\[0\]\.effects\[0\]\.where\.order_id\.matches: expected a regular expression: /) as string],
    ],
    [
      'an unknown claim',
      `${CASE.replace('reference:', '  claims:\n    - { claim: amuont, name: a, equals: 5 }\nreference:')}`,
      ['10:16 expect.claims[0].claim: expected effect, amount, id, date, recipient, text, found "amuont" (amount)'],
    ],
    [
      'a claim bound to nothing',
      `${CASE.replace('reference:', '  claims:\n    - { claim: effect, name: a, topic: [refund] }\nreference:')}`,
      ['10:7 expect.claims[0]: expected either "effect" or "state"'],
    ],
    [
      'a name given twice',
      `${CASE.replace('reference:', '    - { name: refunded, effects: [] }\nreference:')}`,
      ['9:15 expect.outcomes[1].name: the name "refunded" is given twice; give each its own'],
    ],
    [
      'a constraint of no form',
      `${CASE.replace('reference:', '  constraints: [{ tool: x }]\nreference:')}`,
      ['9:17 expect.constraints[0].max_calls: is missing; expected a number'],
    ],
    ['a time that does not exist', `${CASE}clock: 2026-02-30T09:30:00Z\n`, ['14:8 clock: "2026-02-30T09:30:00Z" is no time that exists']],
    ['a day without a time', `${CASE}clock: 2026-02-20\n`, ['14:8 clock: expected a time such as 2026-03-02T09:30:00+01:00, found "2026-02-20"']],
    [
      'an unknown zone',
      `${CASE}timezone: Europe/Berln\n`,
      ['14:11 timezone: "Europe/Berln" is no time zone; expected an IANA name such as Europe/Berlin or UTC (Europe/Berlin)'],
    ],
    ['an offset for a zone', `${CASE}timezone: '+01:00'\n`, ['14:11 timezone: "+01:00" is no time zone; expected an IANA name such as Europe/Berlin or UTC']],
    ['a time without a unit', `${CASE}budget: { wall: 60 }\n`, ['14:17 budget.wall: expected text, found 60; put it in quotes']],
    [
      'a time in another unit',
      `${CASE}budget: { wall: 60 seconds, calls: -1 }\n`,
      [
        '14:17 budget.wall: expected a time such as 250ms, 60s, 5m or 1h (at most 24h), found "60 seconds"',
        '14:36 budget.calls: expected at least 0, found -1',
      ],
    ],
    [
      'a change of state of no form',
      `${CASE}state:\n  - { update: orders, wher: { id: 1 }, set: { a: 1 } }\n`,
      ['15:5 state[0].where: is missing; expected a mapping', '15:23 unknown key "state[0].wher"; expected update, where, set (where)'],
    ],
    [
      'a reference to no step',
      edited('${order.total}', '${ordr.total}'),
      ['12:61 reference.steps[1].with.amount: ${ordr.total}: no step before this is named "ordr" (with "as: ordr") (order)'],
    ],
    [
      'a reference to a later step',
      edited('with: { order_id: 1007 }, as: order', 'with: { order_id: "${later.x}" }, as: later'),
      [
        '11:44 reference.steps[0].with.order_id: ${later.x}: the step "later" comes later; only earlier steps have a result',
        '12:61 reference.steps[1].with.amount: ${order.total}: no step before this is named "order" (with "as: order")',
      ],
    ],
    [
      'a reference of no form',
      edited('answer: Done.', 'answer: It was ${order total}.'),
      [
        '13:11 reference.answer: ${order total}: is no reference; expected ${step.path.to.value}, ${step!state}, ${step!problem} or ${step!operation} ($${ for the characters themselves)',
      ],
    ],
    [
      'a step name given twice',
      edited('amount: "${order.total}" } }', 'amount: "${order.total}" }, as: order }'),
      ['12:85 reference.steps[1].as: a step before this is named "order" already; give each its own name'],
    ],
    [
      'a tool list of nothing',
      `${CASE}user: { tools: [] }\n`,
      ['14:16 user.tools: expected at least one tool; leave "tools" out for all that the role permits'],
    ],
  ])('%s', async (_what, text, expected) => {
    expect(await caseProblems(text)).toEqual(expected);
  });

  test('what neither case nor suite says', async () => {
    await using folder = await folderWith({ 'suite.yaml': 'name: desk\nenvironment: ./pack.ts\n' });
    expect(await problemsIn(folder.path, () => loadSuite(folder.path))).toEqual([
      'cases/refund.yaml:1:1 "clock" is missing, here and in suite.yaml; expected a time such as 2026-03-02T09:30:00+01:00',
      'cases/refund.yaml:1:1 "user.name" is missing, here and in suite.yaml; expected who the agent acts for',
      'cases/refund.yaml:1:1 "user.role" is missing, here and in suite.yaml; expected a role of the environment\'s permission model',
    ]);
  });

  test('a case that expects nothing needs no outcome', async () => {
    await using folder = await folderWith({
      'cases/refund.yaml': 'title: t\nkind: k\nrequest: Hello.\nexpects_nothing: true\nreference: { answer: Hello. }\n',
    });
    expect((await loadSuite(folder.path)).cases[0]?.kase.expect.outcomes).toEqual([{ name: 'nothing changed', effects: [] }]);
  });
});

describe('a suite held against its environment', () => {
  const tool = (name: string, shape: z.ZodRawShape, input: z.ZodType = z.object(shape)) => ({ name, input });
  const facts: EnvironmentFacts = {
    environment: {
      permissions: { roles: { agent: {}, lead: {} } },
      tools: [
        tool('get_order', { order_id: z.int() }),
        tool('issue_refund', { order_id: z.int(), amount: z.number().positive() }),
        tool('free', {}, z.looseObject({})),
      ],
    },
    tables: { refunds: ['id', 'order_id', 'amount'], orders: ['id', 'status'] },
  };
  const against = async (text: string, what: EnvironmentFacts = facts): Promise<readonly string[]> => {
    await using folder = await folderWith({ 'cases/refund.yaml': text });
    return checkAgainst(await loadSuite(folder.path), what).map(
      ({ line, column, message, suggestion }) => `${line}:${column} ${message}${suggestion === null ? '' : ` (${suggestion})`}`,
    );
  };

  test('what is right passes', async () => {
    expect(await against(CASE)).toEqual([]);
    expect(await against(CASE.replace('call: get_order, with: { order_id: 1007 }', 'call: free, with: { whatever: 1 }'))).toEqual([]);
  });

  test('unknown tools, arguments, roles, tables and columns, with their places', async () => {
    const text = `${CASE.replace('issue_refund, with: { order_id', 'issue_refund, with: { order_no')
      .replace('call: get_order', 'call: get_ordr')
      .replace('where: { order_id', 'where: { order_ids')
      .replace(
        'reference:',
        '  constraints: [{ never: issue_refund, before: get_oder, where: { amuont: 1 } }]\nreference:',
      )}user: { role: led, tools: [isue_refund] }\nstate: [{ update: ordres, where: { id: 1 }, set: { status: x } }]\n`;
    expect(await against(text)).toEqual([
      '8:52 expect.outcomes[0].effects[0].where.order_ids: there is no column of refunds "order_ids"; known: id, order_id, amount (order_id)',
      '9:48 expect.constraints[0].before: there is no tool "get_oder"; known: get_order, issue_refund, free (get_order)',
      '9:67 expect.constraints[0].where.amuont: there is no argument of issue_refund "amuont"; known: order_id, amount (amount)',
      '12:15 reference.steps[0].call: there is no tool "get_ordr"; known: get_order, issue_refund, free (get_order)',
      '13:37 reference.steps[1].with.order_no: there is no argument of issue_refund "order_no"; known: order_id, amount (order_id)',
      '15:15 user.role: there is no role "led"; known: agent, lead (lead)',
      '15:28 user.tools[0]: there is no tool "isue_refund"; known: get_order, issue_refund, free (issue_refund)',
      '16:19 state[0].update: there is no table "ordres"; known: refunds, orders (orders)',
    ]);
    const { tables: _tables, ...withoutTables } = facts;
    expect(await against(text, withoutTables)).toHaveLength(6);
  });
});
