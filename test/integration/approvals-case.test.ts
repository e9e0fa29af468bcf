import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { moduleAgent } from './core-trials.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const ORDER = 5003;
const REFUND = { order_id: ORDER, amount: 60, reason: 'damaged' };
/** Refunds of more than 50 EUR need an approval. */
const USER = { name: 'mara', role: 'agent', approval: [{ tool: 'issue_refund', where: { amount: { gt: 50 } }, expires: '2d' }, { effect: 'external' }] };
const CHANGES = [{ update: 'orders', where: { id: ORDER }, set: { shipping_fee: 1 } }];

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-approvals-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Plays steps, or an agent, in front of an approver. */
async function play(
  name: string,
  approver: Json | undefined,
  steps: readonly JsonObject[] | { readonly agent: JsonObject },
  more: JsonObject = {},
): Promise<{ readonly trial: TrialSummary; readonly record: TrialRecord; readonly ops: readonly Operation[] }> {
  const agent: JsonObject = 'agent' in steps ? steps.agent : { kind: 'script', steps, answer: 'Done.' };
  const kase = { user: USER, ...(approver !== undefined && { approver }), ...more };
  const request = await writeOneCaseSuite(folder, name, { environment: 'support-desk', agent, kase });
  const { trials } = await testbed.run({ ...request, keep: 'never' });
  const trial = trials[0] as TrialSummary;
  const record = await testbed.root.store.record(trial.trial, trial.attempt);
  if (!record) throw new Error(`no record: ${trial.why}`);
  return { trial, record, ops: record.operations };
}

const refunds = ({ effects }: TrialRecord) => effects.filter((effect) => effect.kind === 'row' && effect.table === 'refunds');
const refund = (with_: JsonObject = REFUND, more: JsonObject = {}): JsonObject => ({ call: 'issue_refund', with: with_, as: 'refund', ...more });

describe.concurrent('an approver of the case', () => {
  it('approves: the call is carried out, and who decided and when by the clock of the world is in the record', async () => {
    const { trial, record, ops } = await play('approve', 'approve', [refund()]);
    expect(trial).toMatchObject({ ending: 'completed' });
    expect(ops[0]).toMatchObject({
      told: 'committed',
      known: 'committed',
      approval: {
        rule: 'issue_refund with amount more than 50',
        args: REFUND,
        people: false,
        end: { outcome: 'approved', by: 'approver', via: 'case', at: '2026-03-02T08:30:10.000Z' },
      },
    });
    expect(ops[0]?.approval?.rows.map(({ table, rows }) => [table, rows.length])).toEqual([
      ['orders', 1],
      ['payments', 1],
      ['refunds', 0],
    ]);
    expect(refunds(record)).toHaveLength(1);
  });

  it('denies: nothing is sent, and the agent is told why', async () => {
    const { record, ops } = await play('deny', { decides: 'deny', reason: 'Not before the parcel is back.', name: 'petra' }, [refund(REFUND, { key: 'k' })]);
    expect(ops[0]).toMatchObject({ told: 'denied', known: 'failed', approval: { end: { outcome: 'refused', by: 'petra', via: 'case' } } });
    expect(ops[0]?.problem).toEqual({ code: 'approval_refused', message: 'The call was not approved; it was not sent. Not before the parcel is back.' });
    expect(record.effects).toEqual([]);
  });

  it('lets it expire, by the clock of the world, while the agent waits and looks', async () => {
    const steps = [
      refund(),
      { call: 'get_operation', with: { operation: '${refund!operation}' }, as: 'early' },
      { call: 'wait', with: { seconds: 3 * 86_400 } },
      { call: 'get_operation', with: { operation: '${refund!operation}' }, as: 'late' },
      { say: '${refund!state} ${early.state} ${late.state}' },
    ];
    const { record, ops } = await play('expire', 'expire', steps);
    expect(ops[0]).toMatchObject({
      told: 'awaiting_approval',
      known: 'failed',
      ended: { state: 'denied', problem: { code: 'approval_expired' } },
      reconciled: { state: 'denied', by: 'op-4' },
      approval: { end: { outcome: 'expired', by: null } },
    });
    expect(record.messages.at(-2)?.text).toBe('denied awaiting_approval denied');
    expect(record.effects).toEqual([]);
  });

  it('changes the world and approves: what was approved is void', async () => {
    const { record, ops } = await play('change', { decides: 'change_world_then_approve', changes: CHANGES }, [refund()]);
    expect(ops[0]).toMatchObject({
      told: 'denied',
      known: 'failed',
      problem: { code: 'approval_void' },
      approval: { end: { outcome: 'void', by: 'approver' } },
    });
    expect(refunds(record)).toEqual([]);
    expect(record.effects).toMatchObject([{ table: 'orders', byFault: -1, operation: null }]);
  });

  it('a change of rows that the approver was not shown leaves the approval as it is', async () => {
    const changes = [{ update: 'orders', where: { id: 5004 }, set: { shipping_fee: 1 } }];
    const { ops } = await play('other-change', { decides: 'change_world_then_approve', changes }, [refund()]);
    expect(ops[0]).toMatchObject({ told: 'committed', approval: { end: { outcome: 'approved' } } });
  });

  it('decides later than a client waits: the call goes on by itself, once, and a look tells', async () => {
    const steps = [
      refund(REFUND, { key: 'one' }),
      refund(REFUND, { key: 'one', as: 'again' }),
      { call: 'wait', with: { seconds: 7_200 } },
      refund(REFUND, { key: 'one', as: 'late' }),
      { call: 'get_operation', with: { operation: '${refund!operation}' }, as: 'look' },
    ];
    const { record, ops } = await play('later', { decides: 'approve', after: '1h' }, steps, {
      expect: { outcomes: [{ name: 'x', effects: [] }], repeated_writes: 'allow' },
    });
    expect(ops.map(({ told, problem }) => [told, problem?.code ?? null])).toEqual([
      ['awaiting_approval', 'awaiting_approval'],
      ['rejected', 'idempotency_conflict'],
      ['committed', null],
      ['committed', null],
      ['committed', null],
    ]);
    expect(ops[0]).toMatchObject({ known: 'committed', ended: { state: 'committed' }, reconciled: { state: 'committed' }, result: { amount: 60 } });
    expect(ops[3]?.replayOf).toBe('op-1');
    expect(refunds(record)).toHaveLength(1);
  });

  it('has not decided when the agent ends: nothing is sent', async () => {
    const { trial, record, ops } = await play('never', { decides: 'approve', after: '1h' }, [refund()]);
    expect(trial.ending).toBe('completed');
    expect(ops[0]).toMatchObject({ told: 'awaiting_approval', known: 'failed', ended: { state: 'denied' }, approval: { end: { outcome: 'cancelled' } } });
    expect(record.effects).toEqual([]);
  });

  it('is asked of mails, and not of what no rule names', async () => {
    const mail = { call: 'send_mail', with: { to: ['a@example.org'], subject: 'Hello there', text: 'A text that is long enough.' } };
    const { record, ops } = await play('mail', 'approve', [refund({ ...REFUND, amount: 20 }), mail]);
    expect(ops.map(({ told, approval }) => [told, approval?.rule ?? null])).toEqual([
      ['committed', null],
      ['committed', 'calls that go out'],
    ]);
    expect(record.effects.filter(({ kind }) => kind === 'mail')).toHaveLength(1);
  });

  it('is nobody where the case names none: what needs an approval expires', async () => {
    const { ops } = await play('nobody', undefined, [refund()]);
    expect(ops[0]).toMatchObject({ told: 'awaiting_approval', known: 'failed', approval: { end: { outcome: 'cancelled' } } });
  });

  it('answers calls that are made at once, each for itself', async () => {
    const call = (amount: number) => ({ tool: 'issue_refund', args: { ...REFUND, amount } });
    const agent = moduleAgent('calls.ts', { together: true, calls: [call(51), call(20), call(52)] });
    const { record, ops } = await play('together', 'approve', { agent });
    // The first that commits changes the rows that the others were approved for, unless they were asked for later.
    expect(ops.map(({ told }) => told).sort()).toEqual(expect.arrayContaining(['committed']));
    expect(refunds(record)).toHaveLength(ops.filter(({ known }) => known === 'committed').length);
    for (const op of ops) if (op.told === 'denied') expect(op.problem?.code).toBe('approval_void');
  });
});

describe.concurrent('what is graded', () => {
  const kase = (approver: Json, effects: Json[]): JsonObject => ({
    approver,
    expects_nothing: false,
    expect: { outcomes: [{ name: 'as decided', effects }], constraints: [{ must_ask_approval: 'issue_refund', where: { order_id: ORDER } }] },
    reference: { steps: [refund()], answer: 'Done.' },
  });

  it('a case can ask that the call was put before the approver', async () => {
    const denied = kase('deny', []);
    const asked = await play('asked', 'deny', [refund()], denied);
    expect(asked.trial).toMatchObject({ pass: 'pass' });
    const silent = await play('silent', 'deny', [], denied);
    expect(silent.trial).toMatchObject({ pass: 'fail', constraints: 'fail' });
    expect(silent.trial.why).toContain('must be put before the approver');
  });

  it('the reference reaches the same end in front of the same approver', async () => {
    const same = (approver: Json, steps: JsonObject[]): JsonObject => ({
      ...kase(approver, []),
      expect: { outcomes: [{ name: 'as the reference', same_as: 'reference' }] },
      reference: { steps, answer: 'Done.' },
    });
    const slow = [refund(), { call: 'wait', with: { seconds: 7_200 } }];
    expect((await play('same-soon', 'approve', [refund()], same('approve', [refund()]))).trial.pass).toBe('pass');
    expect((await play('same-late', { decides: 'approve', after: '1h' }, slow, same({ decides: 'approve', after: '1h' }, slow))).trial.pass).toBe('pass');
    expect((await play('same-denied', 'deny', [refund()], same('deny', [refund()]))).trial.pass).toBe('pass');
  });
});

it('the example suite: its references pass, and doing nothing does not', async () => {
  const { trials } = await testbed.run({ suite: 'examples/approvals', agents: ['reference', 'do-nothing'], keep: 'never' });
  expect(trials).toHaveLength(8);
  for (const trial of trials)
    expect([trial.case, trial.agent, trial.pass, trial.why]).toEqual([
      trial.case,
      trial.agent,
      trial.agent === 'reference' ? 'pass' : 'fail',
      trial.agent === 'reference' ? null : expect.any(String),
    ]);
});
