import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-faults-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs one trial of the support desk: a script's steps under one rule of a schedule. */
function play(name: string, rule: JsonObject | readonly JsonObject[], steps: readonly JsonObject[]): Promise<Played> {
  return playAgent(name, rule, { kind: 'script', steps: [...steps], answer: 'Done.' });
}

interface Played {
  readonly trial: TrialSummary;
  readonly record: TrialRecord;
}

async function playAgent(name: string, rule: JsonObject | readonly JsonObject[], agent: JsonObject): Promise<Played> {
  const rules = Array.isArray(rule) ? rule : [rule];
  const suite = await writeOneCaseSuite(folder, name, {
    environment: 'support-desk',
    agent,
    faults: { wrong: { faults: rules as JsonObject[] } },
  });
  const { trials } = await testbed.run({ ...suite, faults: ['wrong'], keep: 'never' });
  const [trial] = trials;
  const record = trial && (await testbed.root.store.record(trial.trial, trial.attempt));
  if (!trial || !record) throw new Error('the trial has no record');
  return { trial, record };
}

const refund = (more: JsonObject = {}): JsonObject => ({
  call: 'issue_refund',
  with: { order_id: 5005, amount: 25, reason: 'damaged' },
  as: 'refund',
  ...more,
});
const refundsIn = (record: TrialRecord) => record.effects.filter((effect) => effect.kind === 'row' && effect.table === 'refunds');
const told = (record: TrialRecord) => record.operations.map(({ tool, told, known, problem }) => [tool, told, known, problem?.code ?? null]);

describe('a time-out of the schedule', () => {
  it('after the commit is told as unknown, has its effect once, and is settled by a look-up', async () => {
    const { trial, record } = await play('after', { on: 'issue_refund', call: 1, fault: 'timeout_after_commit' }, [
      refund(),
      { call: 'get_operation', with: { operation: '${refund!operation}' }, as: 'found' },
    ]);
    expect(trial).toMatchObject({ schedule: 'wrong', disturbed: false });
    expect(told(record)).toEqual([
      ['issue_refund', 'unknown', 'committed', 'timeout'],
      ['get_operation', 'committed', 'committed', null],
    ]);
    expect(record.operations[0]).toMatchObject({ reconciled: { state: 'committed', by: 'op-2' } });
    expect(record.operations[0]?.problem?.message).toBe('No answer from issue_refund within 30 seconds. It may or may not have been done.');
    expect(record.operations[1]?.result).toMatchObject({ operation: 'op-1', state: 'committed', result: { order_id: 5005 } });
    expect(refundsIn(record)).toHaveLength(1);
    expect(record.faults?.injected).toMatchObject([{ rule: 0, kind: 'timeout_after_commit', on: 'issue_refund', position: 1, operation: 'op-1' }]);
  });

  it('before the commit has no effect, and may be tried again once that is known', async () => {
    const { record } = await play('before', { on: 'issue_refund', call: 1, fault: 'timeout_before_commit' }, [
      refund({ key: 'k1' }),
      refund({ key: 'k1', as: 'again' }),
      { call: 'get_operation', with: { operation: '${refund!operation}' } },
      refund({ key: 'k1', as: 'third' }),
    ]);
    expect(told(record)).toEqual([
      ['issue_refund', 'unknown', 'failed', 'timeout'],
      ['issue_refund', 'unknown', 'failed', 'timeout'],
      ['get_operation', 'committed', 'committed', null],
      ['issue_refund', 'committed', 'committed', null],
    ]);
    expect(record.operations[1]).toMatchObject({ replayOf: 'op-1' });
    expect(refundsIn(record)).toHaveLength(1);
  });

  it('doubles the effect of a blind repeat', async () => {
    const { record } = await play('blind', { on: 'issue_refund', call: 1, fault: 'timeout_after_commit' }, [refund(), refund({ as: 'again' })]);
    expect(refundsIn(record)).toHaveLength(2);
  });

  it('of a refusal is told as unknown too', async () => {
    const { record } = await play('refused', { on: 'issue_refund', fault: 'timeout_after_commit' }, [
      { call: 'issue_refund', with: { order_id: 5005, amount: 5000, reason: 'damaged' } },
    ]);
    expect(told(record)).toEqual([['issue_refund', 'unknown', 'failed', 'timeout']]);
  });
});

describe('a refusal of the schedule', () => {
  it.each(['rate_limited', 'unavailable', 'payload_too_large'])('%s has no effect', async (fault) => {
    const { record } = await play(fault, { on: 'issue_refund', call: 1, fault }, [refund()]);
    expect(told(record)).toEqual([['issue_refund', 'failed', 'failed', fault]]);
    expect(refundsIn(record)).toHaveLength(0);
  });

  it('a limit stands until the world has waited for it', async () => {
    const { record } = await play('limit', { on: 'issue_refund', call: 1, fault: 'rate_limited', retry_after: '2h' }, [
      refund(),
      refund({ as: 'early' }),
      { call: 'wait', with: { seconds: 7200 } },
      refund({ as: 'late' }),
    ]);
    expect(told(record).map(([, state]) => state)).toEqual(['failed', 'failed', 'committed', 'committed']);
    expect(record.operations[0]?.problem).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 7200 });
    expect(record.operations[2]?.result).toEqual({ now: '2026-03-02T10:30:00.000Z' });
    expect(refundsIn(record)).toHaveLength(1);
  });

  it('permission_revoked denies every call from then on', async () => {
    const { record } = await play('revoked', { on: 'get_order', call: 2, fault: 'permission_revoked' }, [
      { call: 'get_order', with: { order_id: 5005 } },
      { call: 'get_order', with: { order_id: 5005 } },
      { call: 'get_order', with: { order_id: 5015 } },
    ]);
    expect(told(record).map(([, state, , code]) => [state, code])).toEqual([
      ['committed', null],
      ['denied', 'permission_revoked'],
      ['denied', 'permission_revoked'],
    ]);
    expect(record.faults?.injected).toMatchObject([
      { rule: 0, kind: 'permission_revoked', on: 'get_order', position: 2, operation: 'op-2' },
      { rule: 0, kind: 'permission_revoked', on: 'get_order', position: 2, operation: 'op-3' },
    ]);
  });
});

describe('a bent reply of the schedule', () => {
  it('that cannot be read leaves a write unknown, and fails a read', async () => {
    const { record } = await play(
      'malformed',
      [
        { on: 'issue_refund', fault: 'malformed_reply' },
        { on: 'get_order', fault: 'malformed_reply' },
      ],
      [refund(), { call: 'get_order', with: { order_id: 5005 } }],
    );
    expect(told(record)).toEqual([
      ['issue_refund', 'unknown', 'committed', 'malformed_reply'],
      ['get_order', 'failed', 'failed', 'malformed_reply'],
    ]);
  });

  it('that is slow takes time of the world, and beyond patience is a time-out', async () => {
    const { record } = await play(
      'slow',
      [
        { on: 'get_order', call: 1, fault: 'slow', by: '20s' },
        { on: 'get_order', call: 2, fault: 'slow', by: '30s' },
      ],
      [
        { call: 'get_order', with: { order_id: 5005 } },
        { call: 'get_order', with: { order_id: 5005 } },
        { call: 'wait', with: { seconds: 1 }, as: 'now' },
      ],
    );
    expect(told(record).map(([, state]) => state)).toEqual(['committed', 'unknown', 'committed']);
    expect(record.operations[2]?.result).toEqual({ now: '2026-03-02T08:30:51.000Z' });
  });

  it('of a stale read does not see what was written since, however it is read', async () => {
    const { record } = await play('stale', { on: 'issue_refund', call: 1, fault: 'stale_read', for: '5m' }, [
      refund(),
      { call: 'list_refunds', with: { order_id: 5005 } },
      { call: 'get_order', with: { order_id: 5005 } },
      { call: 'wait', with: { seconds: 300 } },
      { call: 'list_refunds', with: { order_id: 5005 } },
      { call: 'get_order', with: { order_id: 5005 } },
    ]);
    const text = record.operations.map(({ result }) => JSON.stringify(result));
    expect(text[1]).not.toContain('damaged');
    expect(text[4]).toContain('damaged');
    expect(record.operations[2]?.result).not.toEqual(record.operations[5]?.result);
    expect(refundsIn(record)).toHaveLength(1);
  });

  it('of a changed contract refuses the old names and takes the new ones', async () => {
    const { record } = await play(
      'contract',
      { on: 'get_order', call: 2, fault: 'schema_changed', rename: { order_id: 'order' }, rename_result: { status: 'state' } },
      [
        { call: 'get_order', with: { order_id: 5005 } },
        { call: 'get_order', with: { order_id: 5005 } },
        { call: 'get_order', with: { order: 5005 }, invalid: true },
      ],
    );
    expect(told(record).map(([, state, , code]) => [state, code])).toEqual([
      ['committed', null],
      ['rejected', 'invalid_args'],
      ['committed', null],
    ]);
    expect(record.operations[1]?.problem?.message).toBe('The arguments of get_order have changed: order_id is now called order.');
    expect(record.faults?.injected).toMatchObject([
      { kind: 'schema_changed', operation: 'op-3' },
      { kind: 'schema_changed', operation: 'op-2', detail: 'get_order had another contract, and the call was refused' },
    ]);
    expect(record.operations[0]?.result).toHaveProperty('status');
    expect(record.operations[2]?.result).toHaveProperty('state');
  });

  it('delivers a request twice, unless it has a key', async () => {
    const steps = (key?: string) => [
      { call: 'schedule_follow_up', with: { customer_id: 1007, kind: 'call', due_at: '2026-03-05T09:00:00+01:00', note: 'Call back' }, ...(key && { key }) },
    ];
    const rule = { on: 'schedule_follow_up', fault: 'duplicate_delivery' };
    const rows = (record: TrialRecord) => record.effects.filter((effect) => effect.kind === 'row' && effect.table === 'follow_ups').length;
    expect(rows((await play('twice', rule, steps())).record)).toBe(2);
    expect(rows((await play('twice-keyed', rule, steps('k'))).record)).toBe(1);
  });

  it('sees rows that others change between a read and a write', async () => {
    const { record } = await play(
      'change',
      { on: 'issue_refund', fault: 'concurrent_change', changes: [{ update: 'orders', where: { id: 5005 }, set: { ship_city: 'changed by others' } }] },
      [{ call: 'get_order', with: { order_id: 5005 } }, refund(), { call: 'get_order', with: { order_id: 5005 } }],
    );
    expect(JSON.stringify(record.operations[0]?.result)).not.toContain('changed by others');
    expect(JSON.stringify(record.operations[2]?.result)).toContain('changed by others');
    expect(record.effects.filter((effect) => effect.byFault !== undefined)).toMatchObject([{ table: 'orders', byFault: 0 }]);
  });
});

describe('a fault of a service', () => {
  it("is met by an agent's own clients", async () => {
    const rules = [
      { on: { service: 'inbox' }, call: 1, fault: 'smtp_final_dot', stored: true, code: 451 },
      { on: { service: 'tickets' }, call: 1, fault: 'rate_limited', retry_after: 60, attempts: 1 },
    ];
    const file = resolve('test/fixtures/agents/own-clients.ts');
    const { record } = await playAgent('own-clients', rules, { kind: 'module', file, access: ['inbox', 'tickets'] });
    expect(record.messages.at(-1)?.text.split('\n')).toEqual(['mail 1: 451', 'mail 2: sent', 'ticket 1: 429 60', 'ticket 2: 200']);
    expect(record.effects).toMatchObject([
      { kind: 'mail', accepted: true, subject: 'Own mail 1', operation: null },
      { kind: 'mail', accepted: true, subject: 'Own mail 2', operation: null },
    ]);
    expect(record.faults?.injected).toMatchObject([
      { kind: 'smtp_final_dot', on: 'service inbox', position: 1, operation: null },
      { kind: 'rate_limited', on: 'service tickets', position: 1, operation: null },
    ]);
  });

  it.each([
    ['smtp_connect', 'failed', 0],
    ['smtp_recipient', 'failed', 0],
    ['smtp_data', 'failed', 0],
    ['smtp_final_dot', 'unknown', 1],
  ])('%s on a tool leaves its call %s, with %i mails', async (fault, state, mails) => {
    const { record } = await play(fault, { on: 'send_mail', fault }, [
      { call: 'send_mail', with: { to: ['anna@example.org'], subject: 'Your order', text: 'It is on its way.' } },
    ]);
    expect(record.operations[0]).toMatchObject({ told: state, known: mails === 1 ? 'committed' : 'failed', disturbed: false });
    expect(record.effects.filter((effect) => effect.kind === 'mail' && effect.accepted)).toHaveLength(mails);
    expect(record.faults?.injected).toMatchObject([{ kind: fault, operation: 'op-1' }]);
  });
});

describe('an agent with SQL of its own', () => {
  const agent = { kind: 'module', file: resolve('test/fixtures/agents/own-clients.ts'), access: ['sql'] };

  it('needs worlds with a database of their own, and is told before anything runs', async () => {
    const suite = await writeOneCaseSuite(folder, 'sql-in-schema', { environment: 'support-desk', agent });
    await expect(testbed.run({ ...suite, keep: 'never' })).rejects.toMatchObject({ code: 'agent_access' });
  });

  it('has it where they are', async () => {
    const suite = await writeOneCaseSuite(folder, 'sql-in-database', { environment: 'support-desk', agent });
    const { trials } = await testbed.run({ ...suite, keep: 'never', isolation: 'database' });
    expect(trials).toMatchObject([{ ending: 'completed' }]);
    const messages = await testbed.root.store.messages(trials[0]?.trial ?? '', 1);
    expect(messages.at(-1)?.text).toBe('role of the world: 1 row written');
  });
});

describe('tries that the production client makes by itself', () => {
  const environment = (retries: JsonObject) => ({ use: resolve('test/fixtures/packs/counter/pack.ts'), with: { runtime: { retries } } });
  const retries = { on: ['rate_limited', 'unavailable'], attempts: 2, backoffSeconds: 5, honoursRetryAfter: true };
  const steps = [
    { call: 'charge', with: { account: 'a-1', amount: 5 } },
    { call: 'wait', with: { seconds: 1 } },
  ];

  async function tried(name: string, rule: JsonObject, more: JsonObject = {}): Promise<TrialRecord> {
    const suite = await writeOneCaseSuite(folder, name, {
      environment: environment({ ...retries, ...more }),
      agent: { kind: 'script', steps, answer: 'Done.' },
      faults: { wrong: { faults: [rule] } },
    });
    const { trials } = await testbed.run({ ...suite, faults: ['wrong'], keep: 'never' });
    const record = await testbed.root.store.record(trials[0]?.trial ?? '', 1);
    if (!record) throw new Error('the trial has no record');
    return record;
  }
  const now = (record: TrialRecord) => (record.operations[1]?.result as { now?: string } | undefined)?.now;

  it('outwait a limit that they are told of: one call, two tries, and only the world has waited', async () => {
    const record = await tried('outwaits', { on: 'charge', call: 1, fault: 'rate_limited', retry_after: '2h' });
    expect(record.operations[0]).toMatchObject({ told: 'committed', tries: 2, problem: null });
    expect(now(record)).toBe('2026-03-02T10:30:01.000Z');
  });

  it('do not outwait it by a pause of their own that is shorter', async () => {
    const record = await tried('too-short', { on: 'charge', call: 1, fault: 'rate_limited', retry_after: '2h' }, { honoursRetryAfter: false });
    expect(record.operations[0]).toMatchObject({ told: 'failed', tries: 3, problem: { code: 'rate_limited', retryAfterSeconds: 7190 } });
    expect(record.effects).toEqual([]);
  });

  it('hide an outage that is short enough', async () => {
    const hidden = await tried('hides', { on: 'charge', call: 1, fault: 'unavailable', attempts: 2 });
    expect(hidden.operations[0]).toMatchObject({ told: 'committed', tries: 3 });
    const long = await tried('does-not-hide', { on: 'charge', call: 1, fault: 'unavailable' });
    expect(long.operations[0]).toMatchObject({ told: 'failed', tries: 3, problem: { code: 'unavailable' } });
    expect(now(long)).toBe('2026-03-02T08:30:11.000Z');
  });
});

describe('what is asked of the runtime', () => {
  it('a look-up of what has not ended touches nothing: an agent may guess the id of a call that is on its way', async () => {
    const file = resolve('test/fixtures/agents/looks-too-early.ts');
    const { trial, record } = await playAgent('too-early', { on: 'get_order', call: 9, fault: 'unavailable' }, { kind: 'module', file });
    expect(trial).toMatchObject({ ending: 'completed', disturbed: false, attempt: 1 });
    expect(record.operations.filter(({ tool }) => tool === 'issue_refund')).toMatchObject([{ told: 'committed', known: 'committed' }]);
    const looks = record.operations
      .filter(({ tool }) => tool === 'get_operation')
      .map(({ result, problem }) => (result as { state?: string } | null)?.state ?? problem?.code);
    expect(looks.slice(0, 2).every((look) => look === 'in_progress' || look === 'not_found')).toBe(true);
    // The refund may have ended by the time that it is asked for once more.
    expect(looks.slice(2).every((look) => look === 'in_progress' || look === 'not_found' || look === 'committed')).toBe(true);
    expect(record.lateAttempts).toEqual([]);
  });

  it('asks about itself, or about no operation, without harm', async () => {
    const { record } = await play('odd-looks', { on: 'get_order', call: 9, fault: 'unavailable' }, [
      { call: 'get_operation', with: { operation: 'op-1' } },
      { call: 'get_operation', with: { operation: 'op-99' } },
      { call: 'get_operation', with: { operation: 'op-1\u0000' }, invalid: true },
    ]);
    expect(record.operations[0]?.result).toMatchObject({ state: 'in_progress' });
    expect(told(record).map(([, state, , code]) => [state, code])).toEqual([
      ['committed', null],
      ['failed', 'not_found'],
      ['rejected', 'invalid_args'],
    ]);
  });

  it('waits a month at most, by whatever is asked', async () => {
    const { record } = await play('waits', { on: 'get_order', call: 9, fault: 'unavailable' }, [
      { call: 'wait', with: { until: '9999-12-31T23:59:59Z' } },
      { call: 'wait', with: { until: '2026-03-01T00:00:00Z' } },
      { call: 'wait', with: { until: '2026-04-01T00:00:00+02:00' } },
    ]);
    expect(told(record).map(([, state, , code]) => [state, code])).toEqual([
      ['failed', 'too_long'],
      ['committed', null],
      ['committed', null],
    ]);
    expect(record.operations.map(({ result }) => (result as { now?: string } | null)?.now)).toEqual([
      undefined,
      '2026-03-02T08:30:00.000Z',
      '2026-03-31T22:00:00.000Z',
    ]);
  });
});

describe('a rule that supposes what the world is not', () => {
  it.each([
    ['on a call', { on: 'issue_refund', fault: 'concurrent_change', changes: [{ update: 'orders', where: { id: 999 }, set: { ship_city: 'nowhere' } }] }],
    ['after a call', { on: 'issue_refund', fault: 'concurrent_change', when: 'after', changes: [{ delete: 'orders', where: { id: 999 } }] }],
    ['on a request of a service', { on: { service: 'tickets' }, fault: 'concurrent_change', changes: [{ delete: 'orders', where: { id: 999 } }] }],
    ['at the start', { on: 'start', fault: 'conflicting_records', changes: [{ delete: 'orders', where: { id: 999 } }] }],
  ])('%s is trouble of the test bed, said with its reason, tried once, and no world is left', async (name, rule) => {
    const suite = await writeOneCaseSuite(folder, `unfit-${name.replaceAll(' ', '-')}`, {
      environment: 'support-desk',
      agent: { kind: 'script', steps: [refund(), { call: 'get_ticket', with: { ticket_id: 214 } }], answer: 'Done.' },
      faults: { wrong: { faults: [rule as JsonObject] } },
    });
    const { trials, summary } = await testbed.run({ ...suite, faults: ['wrong'], keep: 'never' });
    expect(trials).toMatchObject([{ ending: 'infra_error', pass: null, attempt: 1 }]);
    expect(trials[0]?.why).toMatch(/rule (1 )?of the fault schedule .*cannot be applied: .*no row of orders is like/);
    expect(summary.worlds.leaked).toBe(0);
  });
});

it('a limit that is told as a date has no seconds', async () => {
  const { record } = await play('as-date', { on: 'get_order', call: 1, fault: 'rate_limited', retry_after: '2m', retry_after_as: 'http_date' }, [
    { call: 'get_order', with: { order_id: 5005 } },
  ]);
  expect(record.operations[0]?.problem).toEqual({ code: 'rate_limited', message: 'Too many requests; try again after Mon, 02 Mar 2026 08:32:00 GMT.' });
});

it('a stale read is seen where it answers, and not before', async () => {
  const rule = { on: 'start', fault: 'stale_read', as_of: 'start' };
  const read = { call: 'list_refunds', with: { order_id: 5005 } };
  expect((await play('never-read', rule, [refund()])).record.faults?.injected).toEqual([]);
  expect((await play('read-late', rule, [refund(), read])).record.faults?.injected).toMatchObject([{ kind: 'stale_read', operation: 'op-2' }]);
});

it('a key that is none is told to the agent, and does not end it', async () => {
  const file = resolve('test/fixtures/agents/odd-keys.ts');
  const { trial, record } = await playAgent('odd-keys', { on: 'get_order', call: 9, fault: 'unavailable' }, { kind: 'module', file });
  expect(trial.ending).toBe('completed');
  expect(told(record).map(([, state, , code]) => [state, code])).toEqual([
    ['rejected', 'invalid_args'],
    ['rejected', 'invalid_args'],
  ]);
});
