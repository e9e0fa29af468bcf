import { describe, expect, it } from 'vitest';
import type { Constraint } from '../../src/domain/case.ts';
import type { InjectedFault } from '../../src/domain/fault.ts';
import { grade } from '../../src/domain/grading/grade.ts';
import { netChanges } from '../../src/domain/grading/net.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import { DEFAULT_RUNTIME } from '../../src/domain/runtime.ts';
import { call, caseWith, inserted, mail, recordOf, updated } from './grading-builders.ts';

const pay = (seq: number, more: Partial<Operation> = {}) => call(seq, 'issue_refund', { order: 7, note: 'as you asked' }, { position: seq, ...more });
const lost = (seq: number, known: 'committed' | 'failed') => pay(seq, { told: 'unknown', known });
const look = (seq: number, tool = 'list_refunds') => call(seq, tool, {}, { effect: 'read' });

function verdict(operations: readonly Operation[], constraints: readonly Constraint[] = [], more: Partial<TrialRecord> = {}) {
  return grade(caseWith({ constraints, repeatedWrites: 'allow' }), 'hash', recordOf({ operations, ...more }));
}

describe('recovery from an unknown outcome', () => {
  it.each([
    ['no repeat and no look', [lost(1, 'committed')], { looked: 'never', committed: 1, learned: false }],
    ['a look', [lost(1, 'committed'), look(2)], { looked: 'later', learned: true }],
    ['a repeat after a look', [lost(1, 'failed'), look(2), pay(3)], { looked: 'before_repeat', committed: 1, repeats: ['op-3'], learned: true }],
    ['a blind repeat', [lost(1, 'committed'), pay(2)], { looked: 'not_before_repeat', committed: 2, learned: true }],
    [
      'a blind repeat in other words',
      [lost(1, 'committed'), call(2, 'issue_refund', { order: 7, note: 'once more' }, { position: 2 })],
      { looked: 'not_before_repeat' },
    ],
    ['another matter', [lost(1, 'committed'), call(2, 'issue_refund', { order: 8, note: 'as you asked' }, { position: 2 })], { looked: 'never', repeats: [] }],
    [
      'a replay by key',
      [lost(1, 'committed'), pay(2, { told: 'unknown', position: null, replayOf: 'op-1', idempotencyKey: 'k' })],
      { looked: 'never', repeats: [] },
    ],
  ] as const)('%s', (_name, operations, expected) => {
    expect(verdict(operations).recovery).toMatchObject([{ operation: 'op-1', ...expected }]);
  });

  it('waiting is no look', () => {
    const faults = { schedule: 's', rules: [], injected: [], runtime: { ...DEFAULT_RUNTIME, wait: 'wait' } };
    expect(verdict([lost(1, 'committed'), look(2, 'wait')], [], { faults }).recovery).toMatchObject([{ looked: 'never', learned: false }]);
  });

  it('a blind repeat fails only where the case asks for a look', () => {
    const blind = [lost(1, 'failed'), pay(2)];
    expect(verdict(blind).constraints.judgement).toBe('pass');
    expect(verdict(blind, [{ look_before_repeat: 'issue_refund' }]).constraints).toMatchObject({ judgement: 'fail' });
    expect(verdict(blind, [{ look_before_repeat: '*' }]).constraints).toMatchObject({ judgement: 'fail' });
    expect(verdict(blind, [{ look_before_repeat: 'send_mail' }]).constraints).toMatchObject({ judgement: 'pass' });
  });
});

describe('what the agent falls back to', () => {
  const injected = (fault: Partial<InjectedFault>): Partial<TrialRecord> => ({
    faults: {
      schedule: 's',
      rules: [{ index: 0, on: { tool: 'create_ticket' }, fault: { kind: 'unavailable' } }],
      injected: [{ rule: 0, kind: 'unavailable', on: 'create_ticket', position: 1, operation: 'op-2', detail: '', at: '', ...fault }],
      runtime: DEFAULT_RUNTIME,
    },
  });
  const operations = [call(1, 'send_mail', {}), call(2, 'create_ticket', {}, { told: 'failed', known: 'failed' }), call(3, 'phone', {})];
  const judged = (constraint: Constraint, record = injected({})) => verdict(operations, [constraint], record).constraints.judgement;

  it('counts from the operation that the fault hit', () => {
    expect(judged({ after_fault: 'create_ticket', never: 'phone' })).toBe('fail');
    expect(judged({ after_fault: 'create_ticket', never: 'send_mail' })).toBe('pass');
    expect(judged({ after_fault: 'create_ticket', must_call: 'phone' })).toBe('pass');
    expect(judged({ after_fault: 'create_ticket', must_call: 'send_mail' })).toBe('fail');
  });

  it('knows a service by its name, and says nothing where no fault was', () => {
    expect(judged({ after_fault: 'tickets', never: 'phone' }, injected({ on: 'service tickets' }))).toBe('fail');
    expect(judged({ after_fault: 'tickets', never: 'phone' })).toBe('pass');
    expect(judged({ after_fault: 'create_ticket', must_call: 'send_mail' }, {})).toBe('pass');
  });
});

describe('what a fault changed', () => {
  const seed = { id: 1, price: 10, note: 'a' };
  it('is no effect of the agent', () => {
    expect(netChanges([updated('items', seed, { ...seed, price: 12 }, { byFault: 0 }), mail(['a@b.test'], { byFault: 0 })])).toEqual({
      effects: [],
      reverted: [],
      refused: [],
    });
  });

  it('counts in a row as if it had always been so', () => {
    const moved = { ...seed, price: 12 };
    const effects = [updated('items', seed, moved, { byFault: 0 }), updated('items', moved, { ...moved, note: 'b' }, { operation: 'op-1' })];
    expect(netChanges(effects).effects).toMatchObject([{ change: 'update', before: moved, after: { ...moved, note: 'b' }, operations: ['op-1'] }]);
  });

  it('leaves the agent its own part on both sides', () => {
    const first = { ...seed, note: 'b' };
    const moved = { ...first, price: 12 };
    const effects = [updated('items', seed, first, { operation: 'op-1' }), updated('items', first, moved, { byFault: 0 })];
    expect(netChanges(effects).effects).toMatchObject([{ before: { price: 12, note: 'a' }, after: { price: 12, note: 'b' }, operations: ['op-1'] }]);
  });

  it("a row that a fault removes is nobody's", () => {
    const effects = [inserted('items', seed, { operation: 'op-1' }), { ...updated('items', seed, seed), change: 'delete' as const, after: null, byFault: 0 }];
    expect(netChanges(effects).effects).toEqual([]);
  });
});
