import { expect, test } from 'vitest';
import type { Effect } from '../../src/domain/effect.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import { repeatsOf } from '../../src/recorded/repeats.ts';

let seq = 0;
function op(change: Partial<Operation> = {}): Operation {
  seq += 1;
  const base = { tool: 'set', effect: 'write', args: { id: 1 }, idempotencyKey: null, told: 'committed', known: 'committed', result: 'done' } as const;
  return { id: `op-${seq}`, seq, position: seq, problem: null, durationMs: 1, at: '', disturbed: false, ...base, ...change };
}

function row(operation: Operation, before: number | null, after: number | null): Effect {
  const image = (value: number | null) => (value === null ? null : { id: 1, value });
  return {
    kind: 'row',
    seq: operation.seq,
    table: 't',
    change: 'update',
    key: { id: 1 },
    before: image(before),
    after: image(after),
    operation: operation.id,
    at: '',
  };
}

function kinds(operations: readonly Operation[], effects: readonly Effect[]): readonly string[] {
  const record: TrialRecord = { ending: 'completed', operations, effects, messages: [], lateAttempts: [], tables: {}, referenceEffects: [], problem: null };
  return repeatsOf(record).map((repeat) => repeat.kind);
}

test('a write that acts twice is a duplicate', () => {
  const [a, b] = [op(), op({ result: 'other' })];
  expect(kinds([a, b], [row(a, null, 1), row(b, null, 1)])).toEqual(['duplicate']);
});

test('one that is told as done again and changes nothing is a silent overwrite', () => {
  const [a, b, c] = [op(), op(), op()];
  expect(kinds([a, b, c], [row(a, 0, 1), row(b, 1, 1)])).toEqual(['silent_overwrite', 'silent_overwrite']);
});

test('one that is refused, in words or as a failure, is a refused repeat', () => {
  const a = op();
  expect(kinds([a, op({ result: 'not found' })], [row(a, 1, null)])).toEqual(['refused_repeat']);
  expect(kinds([a, op({ told: 'failed', known: 'failed', result: null })], [row(a, 1, null)])).toEqual(['refused_repeat']);
});

test('one that writes what was there all along is one too', () => {
  const [a, b] = [op(), op()];
  expect(kinds([a, b], [row(a, 1, 1), row(b, 1, 1)])).toEqual(['silent_overwrite']);
});

test('where the first wrote nothing either, both were idle', () => {
  expect(kinds([op(), op()], [])).toEqual(['idle_repeat']);
});

test('reads, other arguments, refused calls, and a call after a failed one are no repeats', () => {
  expect(kinds([op({ effect: 'read' }), op({ effect: 'read' })], [])).toEqual([]);
  expect(kinds([op(), op({ args: { id: 2 } }), op({ tool: 'put' })], [])).toEqual([]);
  expect(kinds([op(), op({ told: 'rejected', known: 'failed' }), op({ told: 'denied', known: 'failed' })], [])).toEqual([]);
  expect(kinds([op({ told: 'failed', known: 'failed', result: null }), op()], [])).toEqual([]);
});
