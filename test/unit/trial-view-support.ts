import type { TrialView } from '../../src/client/api.ts';
import type { Case } from '../../src/domain/case.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { reportTrial, trial } from './report-support.ts';

/** A small case. */
export function kase(): Case {
  return {
    id: 'refund',
    title: 'Refund within policy',
    kind: 'refund',
    tags: [],
    turns: ['Please refund order 1007.'],
    permission: { user: 'mara', role: 'agent', tools: ['issue_refund'], attributes: {} },
    clock: '2026-03-02T09:30:00+01:00',
    timezone: 'Europe/Berlin',
    budget: { calls: 30, wallMs: 60_000, turns: 1 },
    state: [],
    expectsNothing: false,
    expect: { outcomes: [], allowed: [], forbidden: [], constraints: [], claims: [], repeatedWrites: 'forbid' },
    reference: { steps: [], answer: '' },
    mutants: [],
  };
}

/** An operation that was told and known as committed, unless it says otherwise. */
export function operation(over: Partial<Operation> = {}): Operation {
  return {
    id: 'op-1',
    seq: 1,
    tool: 'issue_refund',
    effect: 'write',
    args: { order_id: 1007, amount: '25.00' },
    idempotencyKey: null,
    position: 1,
    told: 'committed',
    known: 'committed',
    result: { refund_id: 5 },
    problem: null,
    durationMs: 12,
    at: '2026-03-02T08:30:01Z',
    disturbed: false,
    ...over,
  };
}

/** A verdict that fails by one wrong value. */
export function failingVerdict(): Verdict {
  return {
    pass: 'fail',
    outcome: {
      judgement: 'fail',
      findings: [
        {
          code: 'wrong_value',
          judgement: 'fail',
          rule: 'outcomes[0].effects[0]',
          message: 'refunds.amount differs',
          expected: 25,
          found: 250,
          operations: ['op-1'],
        },
      ],
    },
    constraints: { judgement: 'pass', findings: [] },
    effects: { judgement: 'pass', findings: [] },
    reached: null,
    diagnostics: {
      calls: 1,
      callsByTool: { issue_refund: 1 },
      rejectedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      deniedCalls: 0,
      repeatedCalls: 2,
      emptyRetrievals: 0,
      noOpWrites: 0,
      unattributedEffects: 0,
      lateAttempts: 0,
      disturbed: false,
    },
    graderVersion: '1',
    caseHash: 'c'.repeat(64),
  };
}

/** A trial that failed, with an effect, a mail and a message that try to steer the terminal. */
export function trialView(): TrialView {
  const summary = trial({ trial: 'b1-abc', agent: 'hasty', pass: 'fail', why: 'refunds.amount differs', attempt: 2 });
  return {
    trial: { ...reportTrial(summary).row, attempt: 2 },
    kase: kase(),
    schedule: null,
    attempts: [
      {
        trial: 'b1-abc',
        attempt: 1,
        ending: 'infra_error',
        counts: false,
        problem: { code: 'world_gone', message: 'world w1 no longer exists' },
        startedAt: '2026-03-02T09:30:00Z',
        endedAt: '2026-03-02T09:30:01Z',
        world: null,
      },
      {
        trial: 'b1-abc',
        attempt: 2,
        ending: 'completed',
        counts: true,
        problem: null,
        startedAt: '2026-03-02T09:30:02Z',
        endedAt: '2026-03-02T09:30:03Z',
        world: { id: 'k3', host: 'embedded' },
      },
    ],
    record: {
      ending: 'completed',
      operations: [
        operation(),
        operation({
          id: 'op-2',
          seq: 2,
          tool: 'send_mail',
          told: 'unknown',
          known: 'committed',
          result: null,
          problem: { code: 'timeout', message: 'no reply in time' },
        }),
      ],
      effects: [
        {
          kind: 'row',
          seq: 1,
          table: 'orders',
          change: 'update',
          key: { id: 1007 },
          before: { id: 1007, status: 'open', note: 'x' },
          after: { id: 1007, status: 'refunded', note: 'x' },
          operation: 'op-1',
          at: '',
        },
        {
          kind: 'mail',
          seq: 2,
          accepted: true,
          from: 'desk@example.org',
          recipients: [
            { address: 'anna@example.org', code: 250 },
            { address: 'eve@example.org', code: 550 },
          ],
          subject: 'Refund \u001b]0;owned\u0007',
          text: 'Hello',
          headers: {},
          messageId: null,
          attachments: [],
          violations: [],
          operation: 'op-2',
          at: '',
        },
        { kind: 'row', seq: 3, table: 'orders', change: 'delete', key: { id: 1 }, before: { id: 1 }, after: null, operation: null, at: '' },
      ],
      messages: [],
      lateAttempts: [{ source: 'sql', operation: 'op-1', detail: 'update orders', at: '' }],
      tables: {},
      referenceEffects: null,
      problem: null,
    },
    messages: [
      { turn: 1, from: 'user', text: 'Please refund order 1007.' },
      { turn: 1, from: 'agent', text: 'Done.\n\u202eAll of it.' },
    ],
    lateRequests: [],
    modelCalls: [],
    conversation: [],
    verdicts: [
      { ...failingVerdict(), trial: 'b1-abc', attempt: 2, gradedAt: '2026-03-03T10:00:00Z', current: true, caseHash: 'd'.repeat(64) },
      { ...failingVerdict(), pass: 'pass', trial: 'b1-abc', attempt: 2, gradedAt: '2026-03-02T10:00:00Z', current: false },
    ],
  };
}
