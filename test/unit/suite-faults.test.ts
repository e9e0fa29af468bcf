import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkAgainst } from '../../src/suite/check-against.ts';
import { checkSchedules, type ScheduleFacts } from '../../src/suite/check-schedules.ts';
import { idleRules } from '../../src/suite/idle-rules.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { SuiteFileError } from '../../src/suite/suite.ts';
import { CASE, folderWith, problemsIn, SUITE } from './suite-fixture.ts';

const FACTS: ScheduleFacts = {
  environment: {
    tools: [
      { name: 'get_order', effect: 'read', input: z.strictObject({ order_id: z.number() }) },
      { name: 'issue_refund', effect: 'write', input: z.strictObject({ order_id: z.number(), amount: z.number() }) },
      { name: 'send_mail', effect: 'external', input: z.strictObject({ to: z.string(), subject: z.string() }) },
    ],
    services: { inbox: {} },
  },
  tables: { orders: ['id', 'status'], refunds: ['id', 'order_id'] },
};

/** Problems of one schedule, its name left out. */
async function problemsOf(text: string): Promise<readonly string[]> {
  await using folder = await folderWith({ 'faults/it.yaml': text });
  const found = await problemsIn(folder.path, async () => {
    const problems = checkSchedules(await loadSuite(folder.path), FACTS);
    if (problems.length > 0) throw new SuiteFileError(problems);
  });
  return found.map((problem) => problem.replace('faults/it.yaml:', ''));
}

async function ruleProblems(rule: string): Promise<readonly string[]> {
  return problemsOf(`faults:\n  - ${rule}\n`);
}

async function rulesOf(...rules: readonly string[]): Promise<readonly unknown[]> {
  await using folder = await folderWith({ 'faults/it.yaml': `faults:\n${rules.map((rule) => `  - ${rule}\n`).join('')}` });
  return (await loadSuite(folder.path)).schedules['it']?.schedule.rules ?? [];
}

describe('a fault schedule', () => {
  test('is read by the name of its file, with its title, cases and rules', async () => {
    await using folder = await folderWith({
      'faults/lost-reply.yaml': 'title: The reply is lost\ncases: [refund*]\nfaults:\n  - { on: issue_refund, call: 1, fault: timeout_after_commit }\n',
      'faults/all-slow.yaml': 'faults:\n  - { on: { service: inbox }, calls: { from: 2 }, fault: slow, by: 5m }\n',
    });
    const { schedules } = await loadSuite(folder.path);
    expect(Object.keys(schedules)).toEqual(['all-slow', 'lost-reply']);
    expect(schedules['lost-reply']?.schedule).toEqual({
      name: 'lost-reply',
      title: 'The reply is lost',
      cases: ['refund*'],
      rules: [{ on: { tool: 'issue_refund' }, calls: [1], fault: { kind: 'timeout_after_commit', afterMs: 300 } }],
    });
    expect(schedules['all-slow']?.schedule).toEqual({
      name: 'all-slow',
      title: 'all-slow',
      cases: ['*'],
      rules: [{ on: { service: 'inbox' }, calls: { from: 2 }, fault: { kind: 'slow', bySeconds: 300 } }],
    });
    expect(schedules['lost-reply']?.lineOf('faults[0].fault')).toBe(4);
  });

  test('every kind with its parameters, and what holds without them', async () => {
    const change = 'changes: [{ update: orders, where: { id: 1 }, set: { status: paid } }]';
    const changes = [{ update: 'orders', where: { id: 1 }, set: { status: 'paid' } }];
    const rules = await rulesOf(
      '{ on: t, calls: [3, 1, 3], where: { id: { gte: 2 } }, probability: 0.3, fault: rate_limited, retry_after: 2, retry_after_as: http_date, attempts: 1 }',
      '{ on: t, fault: rate_limited }',
      '{ on: { service: tickets }, fault: unavailable, attempts: 2, committed: true, retry_after: 1.5s }',
      '{ on: { tool: start }, fault: timeout_before_commit, after: 50ms }',
      '{ on: { service: database }, fault: stale_read, reads: 3, for: 2h, as_of: start }',
      `{ on: t, fault: concurrent_change, when: after, ${change} }`,
      `{ on: start, fault: conflicting_records, ${change} }`,
      '{ on: t, fault: duplicate_delivery }',
      '{ on: t, call: 2, fault: permission_revoked }',
      '{ on: t, fault: schema_changed, rename: { a: b }, remove: [c], rename_result: { d: e } }',
      '{ on: t, fault: malformed_reply }',
      '{ on: t, fault: payload_too_large, limit_bytes: 10 }',
      '{ on: t, fault: smtp_connect, code: 421 }',
      '{ on: t, fault: smtp_recipient, code: 550, recipient: a@b.test }',
      '{ on: t, fault: smtp_data }',
      '{ on: t, fault: smtp_final_dot, stored: false, code: 451 }',
    );
    const tool = { tool: 't' };
    expect(rules).toEqual([
      {
        on: tool,
        calls: [1, 3],
        where: { id: { gte: 2 } },
        probability: 0.3,
        fault: { kind: 'rate_limited', retryAfterSeconds: 2, retryAfterAs: 'http_date', attempts: 1 },
      },
      { on: tool, fault: { kind: 'rate_limited', retryAfterSeconds: 1, retryAfterAs: 'seconds' } },
      { on: { service: 'tickets' }, fault: { kind: 'unavailable', attempts: 2, committed: true, retryAfterSeconds: 1.5 } },
      { on: { tool: 'start' }, fault: { kind: 'timeout_before_commit', afterMs: 50 } },
      { on: { service: 'database' }, fault: { kind: 'stale_read', asOf: 'start', reads: 3, forSeconds: 7200 } },
      { on: tool, fault: { kind: 'concurrent_change', when: 'after', changes } },
      { on: 'start', fault: { kind: 'conflicting_records', changes } },
      { on: tool, fault: { kind: 'duplicate_delivery', copies: 1 } },
      { on: tool, calls: [2], fault: { kind: 'permission_revoked' } },
      { on: tool, fault: { kind: 'schema_changed', rename: { a: 'b' }, remove: ['c'], renameResult: { d: 'e' } } },
      { on: tool, fault: { kind: 'malformed_reply' } },
      { on: tool, fault: { kind: 'payload_too_large', limitBytes: 10 } },
      { on: tool, fault: { kind: 'smtp_connect', code: 421 } },
      { on: tool, fault: { kind: 'smtp_recipient', code: 550, recipient: 'a@b.test' } },
      { on: tool, fault: { kind: 'smtp_data' } },
      { on: tool, fault: { kind: 'smtp_final_dot', stored: false, code: 451 } },
    ]);
  });

  test('equal content has one hash, however it is written; another rule has another', async () => {
    const hashOf = async (text: string) => {
      await using folder = await folderWith({ 'faults/it.yaml': text });
      return (await loadSuite(folder.path)).schedules['it']?.hash;
    };
    const first = await hashOf('faults:\n  - { on: t, call: 1, fault: slow, by: 60s }\n');
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await hashOf("cases: ['*']\nfaults:\n  - { fault: slow, by: 1m, on: { tool: t }, calls: [1] }\n")).toBe(first);
    expect(await hashOf('faults:\n  - { on: t, call: 2, fault: slow, by: 60s }\n')).not.toBe(first);
  });
});

describe('what is wrong in a schedule is told with its place and the nearest name', () => {
  test.each([
    ['{ on: get_order, fault: rate_limitd }', /^2:\d+ faults\[0\]\.fault: expected rate_limited, .*found "rate_limitd" \(rate_limited\)$/],
    ['{ on: get_order }', /^2:5 faults\[0\].*: is missing; expected rate_limited/],
    ['{ on: get_order, fault: rate_limited, retry_afer: 2 }', /^2:\d+ unknown key "faults\[0\]\.retry_afer"; expected .* \(retry_after\)$/],
    ['{ on: get_order, fault: smtp_data, code: 4 }', /unknown key "faults\[0\]\.code"/],
    ['{ on: get_order, fault: slow }', /faults\[0\]\.by: .*missing/],
    ['{ on: get_order, fault: slow, by: soon }', /faults\[0\]\.by: expected a time such as 2 \(seconds\), 300ms.*found "soon"/],
    ['{ on: get_order, fault: timeout_after_commit, after: 2m }', /faults\[0\]\.after: expected at most 60s: this wait is real/],
    ['{ on: get_order, call: 1, calls: [2], fault: malformed_reply }', /faults\[0\]\.calls: expected either "call" or "calls"/],
    ['{ on: get_order, call: 0, fault: malformed_reply }', /faults\[0\]\.call: expected at least 1, found 0/],
    ['{ on: get_order, calls: { from: 3, to: 2 }, fault: malformed_reply }', /faults\[0\]\.calls: expected "to" to be no less than "from"/],
    ['{ on: get_order, probability: 0, fault: malformed_reply }', /faults\[0\]\.probability: expected more than 0, found 0/],
    ['{ on: { service: ticket }, fault: unavailable }', /faults\[0\]\.on\.service: expected .*found "ticket" \(tickets\)/],
    ['{ on: get_ordr, fault: malformed_reply }', /^2:11 faults\[0\]\.on: there is no tool "get_ordr"; known: .* \(get_order\)$/],
    ['{ on: { tool: get_ordr }, fault: malformed_reply }', /^2:19 faults\[0\]\.on\.tool: there is no tool "get_ordr".* \(get_order\)$/],
    ['{ on: strat, fault: conflicting_records, changes: [{ delete: orders, where: { id: 1 } }] }', /there is no tool "strat".* \(start\)$/],
    ['{ on: { service: tickets }, fault: unavailable }', /faults\[0\]\.on\.service: there is no service of the environment "tickets"; known: database, inbox/],
    [
      '{ on: get_order, where: { ordr_id: 7 }, fault: malformed_reply }',
      /faults\[0\]\.where\.ordr_id: there is no argument of get_order "ordr_id".* \(order_id\)$/,
    ],
    ['{ on: get_order, fault: schema_changed, rename: { orderid: id } }', /rename\.orderid: there is no argument of get_order "orderid".* \(order_id\)$/],
    ['{ on: get_order, fault: schema_changed, remove: [order] }', /remove\[0\]: there is no argument of get_order "order"/],
    ['{ on: issue_refund, fault: schema_changed, rename: { order_id: amount } }', /issue_refund has an argument "amount" already/],
    ['{ on: get_order, fault: schema_changed }', /expected "rename", "remove" or "rename_result"/],
    ['{ on: get_order, fault: duplicate_delivery }', /faults\[0\]\.fault: get_order reads only/],
    [
      '{ on: issue_refund, fault: smtp_data }',
      /faults\[0\]\.on: smtp_data is of mail, and issue_refund sends none; expected \{service: inbox\}, or a tool that may send: send_mail/,
    ],
    ['{ on: { service: database }, fault: unavailable }', /unavailable is nothing that can happen to the service database, but stale_read/],
    ['{ on: { service: inbox }, fault: stale_read }', /stale_read is nothing that can happen to the service inbox, but rate_limited, /],
    ['{ on: { service: inbox }, fault: schema_changed, remove: [to] }', /schema_changed is nothing that can happen to the service inbox/],
    ['{ on: { service: inbox }, where: { to: x }, fault: smtp_data }', /faults\[0\]\.where: a service sees requests/],
    ['{ on: get_order, fault: unavailable, committed: true }', /faults\[0\]\.committed: only a service/],
    ['{ on: start, call: 1, fault: stale_read }', /faults\[0\]\.call: nothing is called at the start/],
    ['{ on: start, fault: slow, by: 1 }', /slow hits a call; at the start there can be/],
    [
      '{ on: get_order, fault: concurrent_change, changes: [{ update: order, where: { id: 1 }, set: { status: x } }] }',
      /changes\[0\]\.update: there is no table "order".* \(orders\)$/,
    ],
    [
      '{ on: get_order, fault: concurrent_change, changes: [{ update: orders, where: { id: 1 }, set: { statsu: x } }] }',
      /changes\[0\]\.set\.statsu: there is no column of orders "statsu".* \(status\)$/,
    ],
    ['{ on: get_order, fault: concurrent_change }', /faults\[0\]\.changes: .*missing/],
    ['{ on: send_mail, fault: smtp_recipient, code: 250 }', /expected an SMTP code from 400 to 599/],
  ])('%s', async (rule, expected) => {
    const problems = await ruleProblems(rule);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  test('a glob that no case matches, a name that means something else, a list without rules', async () => {
    const rule = 'faults:\n  - { on: get_order, fault: malformed_reply }\n';
    expect(await problemsOf(`cases: [refnd, 'other-*']\n${rule}`)).toEqual([
      '1:9 cases[0]: there is no case that matches "refnd"; known: refund (refund)',
      '1:16 cases[1]: there is no case that matches "other-*"; known: refund',
    ]);
    expect(await problemsOf('faults: []\n')).toEqual(['1:9 faults: expected at least one rule; the schedule without rules is "none"']);
    await using folder = await folderWith({ 'faults/none.yaml': rule, 'faults/x.yml': rule });
    expect(await problemsIn(folder.path, () => loadSuite(folder.path))).toEqual([
      'faults/x.yml:-:- the name must end in .yaml',
      'faults/none.yaml:-:- the name "none" means something else where schedules are chosen; rename the file',
    ]);
  });

  test('a case accepts end states under schedules that there are, and one where nothing goes wrong', async () => {
    const rule = 'faults:\n  - { on: get_order, fault: malformed_reply }\n';
    const load = async (kase: string) => {
      await using folder = await folderWith({ 'cases/refund.yaml': kase, 'faults/garbled.yaml': rule });
      return await problemsIn(folder.path, () => loadSuite(folder.path));
    };
    const more = (under: string) => CASE.replace('reference:', `    - { name: could not, effects: [], under: [${under}] }\nreference:`);
    expect(await load(more('garbled'))).toEqual([]);
    expect(await load(more('garbeld'))).toEqual([
      'cases/refund.yaml:9:47 expect.outcomes[1].under[0]: there is no fault schedule "garbeld"; known: garbled (garbled)',
    ]);
    expect(await load(CASE.replace('refunded\n', 'refunded\n      under: [garbled]\n'))).toEqual([
      'cases/refund.yaml:6:5 expect.outcomes: expected an outcome without "under": what is right when nothing goes wrong',
    ]);
  });

  test("a suite's default schedules", async () => {
    const rule = 'faults:\n  - { on: get_order, fault: malformed_reply }\n';
    await using folder = await folderWith({ 'suite.yaml': `${SUITE}defaults: { faults: [none, garbeld] }\n`, 'faults/garbled.yaml': rule });
    expect(await problemsIn(folder.path, () => loadSuite(folder.path))).toEqual([
      'suite.yaml:6:28 defaults.faults[1]: there is no fault schedule "garbeld"; known: garbled, none, all (garbled)',
    ]);
  });
});

describe('a constraint on what the agent falls back to', () => {
  const withConstraint = (constraint: string) => CASE.replace('reference:', `  constraints:\n    - ${constraint}\nreference:`);

  test('is read, and its names are held against the environment', async () => {
    const load = async (constraint: string) => {
      await using folder = await folderWith({ 'cases/refund.yaml': withConstraint(constraint) });
      const suite = await loadSuite(folder.path);
      const problems = checkAgainst(suite, FACTS).map(({ message, suggestion }) => `${message} (${suggestion ?? ''})`);
      return { constraint: suite.cases[0]?.kase.expect.constraints[0], problems };
    };
    expect(await load('{ after_fault: inbox, must_call: issue_refund, where: { amount: 5 }, name: falls back }')).toEqual({
      constraint: { after_fault: 'inbox', must_call: 'issue_refund', where: { amount: 5 }, name: 'falls back' },
      problems: [],
    });
    expect(await load('{ after_fault: get_order, never: send_mail }')).toEqual({ constraint: { after_fault: 'get_order', never: 'send_mail' }, problems: [] });
    const { problems } = await load('{ after_fault: tickets, never: send_mial }');
    expect(problems).toEqual([
      expect.stringMatching(/^expect\.constraints\[0\]\.after_fault: there is no tool or service "tickets"; known: .*database, inbox/),
      expect.stringMatching(/^expect\.constraints\[0\]\.never: there is no tool "send_mial".*\(send_mail\)$/),
    ]);
  });
});

test('rules that no reference solution of their cases meets are known', async () => {
  const two = CASE.replace(
    'reference:\n  steps:',
    'reference:\n  steps:\n    - { call: issue_refund, with: { x: 1 }, invalid: true }\n    - { call: get_order, with: { order_id: 7 } }',
  );
  const rules = [
    '{ on: get_order, call: 2, fault: malformed_reply }',
    '{ on: get_order, calls: { from: 3 }, fault: malformed_reply }',
    '{ on: issue_refund, calls: [2, 5], fault: malformed_reply }',
    '{ on: send_mail, fault: smtp_data }',
    '{ on: { service: inbox }, call: 9, fault: smtp_data }',
    '{ on: start, fault: stale_read }',
  ];
  const text = `faults:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`;
  await using folder = await folderWith({
    'cases/two.yaml': two,
    'faults/all.yaml': null,
    'faults/it.yaml': text,
    'faults/refund-only.yaml': `cases: [refund]\n${text}`,
  });
  const suite = await loadSuite(folder.path);
  const found = (cases = suite.cases, recovery: readonly string[] = []) =>
    idleRules(Object.values(suite.schedules), cases, recovery).map(
      ({ file, line, message }) => `${basename(file)}:${line} ${message.replace(/can never fire on a reference solution of its /, '')}`,
    );
  expect(found()).toEqual([
    'it.yaml:3 faults[1]: cases, which calls get_order 2 times at most',
    'it.yaml:4 faults[2]: cases, which calls issue_refund once at most',
    'it.yaml:5 faults[3]: cases, which never calls send_mail',
    'refund-only.yaml:3 faults[0]: case, which calls get_order once at most',
    'refund-only.yaml:4 faults[1]: case, which calls get_order once at most',
    'refund-only.yaml:5 faults[2]: case, which calls issue_refund once at most',
    'refund-only.yaml:6 faults[3]: case, which never calls send_mail',
  ]);
  // A look-up is for whoever has met a fault; where no other rule fires, nobody has.
  expect(found(suite.cases, ['send_mail']).filter((line) => line.includes('send_mail'))).toEqual([]);
  const alone = Object.values(suite.schedules).map((loaded) => ({ ...loaded, schedule: { ...loaded.schedule, rules: loaded.schedule.rules.slice(3, 4) } }));
  expect(idleRules(alone, suite.cases, ['send_mail'])).toHaveLength(2);
  expect(found(suite.cases.filter(({ kase }) => kase.id === 'two')).filter((line) => line.startsWith('refund-only'))).toEqual([]);
});
