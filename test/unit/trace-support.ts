import type { MailEffect, RowEffect } from '../../src/domain/effect.ts';
import type { InjectedFault } from '../../src/domain/fault.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TraceSource } from '../../src/report/trace/trace-of.ts';
import { traceOf } from '../../src/report/trace/trace-of.ts';
import type { Trace } from '../../src/report/trace/trace.ts';
import { failingVerdict, operation, trialView } from './trial-view-support.ts';

/** A change of a row by an operation, unless it says otherwise. */
export function row(seq: number, over: Partial<RowEffect> = {}): RowEffect {
  return {
    kind: 'row',
    seq,
    table: 'orders',
    change: 'update',
    key: { id: 1007 },
    before: { id: 1007, status: 'paid', note: null },
    after: { id: 1007, status: 'refunded', note: null },
    operation: 'op-1',
    at: AT,
    ...over,
  };
}

export function mail(seq: number, over: Partial<MailEffect> = {}): MailEffect {
  return {
    kind: 'mail',
    seq,
    accepted: true,
    from: 'desk@example.org',
    recipients: [{ address: 'anna@example.org', code: 250 }],
    subject: 'Refund',
    text: 'Done.',
    headers: {},
    messageId: null,
    attachments: [],
    violations: [],
    operation: 'op-1',
    at: AT,
    ...over,
  };
}

export function injected(over: Partial<InjectedFault> = {}): InjectedFault {
  return { rule: 0, kind: 'concurrent_change', on: 'get_order', position: 1, operation: 'op-1', detail: 'the order was packed', at: AT, ...over };
}

export const AT = '2026-03-02T08:30:00.000Z';

/** One attempt as it is stored, with this in its record. */
export function source(record: Partial<TrialRecord> | null, over: Partial<TraceSource> = {}): TraceSource {
  const view = trialView();
  const bare: TrialRecord = {
    ending: 'completed',
    operations: [],
    effects: [],
    messages: [],
    lateAttempts: [],
    tables: {},
    referenceEffects: null,
    problem: null,
  };
  return { ...view, attempt: 2, record: record === null ? null : { ...bare, ...record }, verdicts: [], ticketTables: null, ...over };
}

/** What each step is, in one word and a name: `operation op-1`. */
export function outline(trace: Trace): string[] {
  return trace.steps.map(({ kind, operation: called, messages, changes }) =>
    [kind, called?.id ?? messages[0]?.from ?? changes.map(({ table }) => table).join('+')].filter((part) => part !== '').join(' '),
  );
}

/** The agent paid, was told that nobody knows, and paid once more. */
export function lostReply(): Trace {
  const lost = operation({ id: 'op-2', seq: 2, told: 'unknown', result: null, problem: { code: 'timeout', message: 'no reply in time' }, at: AT });
  const again = operation({ id: 'op-3', seq: 3, position: 2, at: '2026-03-02T08:30:30.000Z' });
  const refund = (seq: number, id: number, by: string) =>
    row(seq, { table: 'refunds', change: 'insert', key: { id }, before: null, after: { id, order_id: 1007, amount: '25.00' }, operation: by });
  const verdict = failingVerdict();
  const duplicate = {
    code: 'duplicate_effect',
    judgement: 'fail' as const,
    rule: 'outcomes[0].effects[0]',
    message: 'A row of refunds is there twice.',
    operations: ['op-2', 'op-3'],
  };
  const missing = { code: 'missing_effect', judgement: 'fail' as const, rule: 'outcomes[0].effects[1]', message: 'A mail is missing.' };
  const claim = {
    code: 'false_claim',
    judgement: 'fail' as const,
    rule: 'expect.claims[0]',
    message: 'The claim is false.',
    found: 'done: I refunded it once.',
  };
  return traceOf(
    source(
      {
        operations: [operation({ tool: 'get_order', effect: 'read', at: AT }), lost, again],
        effects: [refund(1, 851, 'op-2'), refund(2, 852, 'op-3')],
        faults: {
          schedule: 'lost',
          rules: [{ index: 0, on: { tool: 'issue_refund' }, calls: [1], fault: { kind: 'timeout_after_commit', afterMs: 100 } }],
          injected: [injected({ kind: 'timeout_after_commit', on: 'issue_refund', operation: 'op-2', detail: 'carried out, and no reply came' })],
          runtime: { timeoutSeconds: 30, retries: null, lookup: null, wait: null, words: {} },
        },
      },
      {
        messages: [
          { turn: 1, from: 'user', text: 'Please refund order 1007.' },
          { turn: 1, from: 'agent', text: 'I refunded it once.' },
        ],
        verdicts: [
          {
            ...verdict,
            outcome: { judgement: 'fail', findings: [{ ...duplicate, code: 'reached', judgement: 'pass', message: 'fine' }, duplicate, missing, claim] },
            recovery: [
              { operation: 'op-2', tool: 'issue_refund', known: 'committed', repeats: ['op-3'], looked: 'not_before_repeat', committed: 2, learned: false },
            ],
            trial: 'b1-abc',
            attempt: 2,
            gradedAt: AT,
            current: true,
          },
        ],
      },
    ),
  );
}
