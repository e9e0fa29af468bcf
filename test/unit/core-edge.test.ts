import { type ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callRefOf, checkCall } from '../../src/activities/check-call.ts';
import { interruption, toFailure } from '../../src/activities/failures.ts';
import type { Environment } from '../../src/environments/define.ts';
import { defineEnvironment, defineTool, ToolFailure } from '../../src/environments/define.ts';
import { budget } from '../../src/suite/case-schema.ts';
import { namesIn } from '../../src/suite/script.ts';

const environment: Environment = defineEnvironment({
  name: 'edge',
  version: '1',
  schema: [],
  seed: [],
  tools: [
    defineTool({
      name: 'write',
      description: '',
      input: z.object({ body: z.string() }),
      result: z.null(),
      effect: 'write',
      idempotent: true,
      run: async () => null,
    }),
  ],
});
const permission = { user: 'mara', role: 'agent', tools: [], attributes: {} };
const check = (args: unknown, more: { tool?: string; key?: string } = {}) =>
  checkCall(environment, permission, { id: 'op-1', tool: more.tool ?? 'write', args, idempotencyKey: more.key ?? null });

describe('a call at the edge', () => {
  it.each([
    ['a lone surrogate in a value', { body: 'a\ud800' }],
    ['a lone surrogate in a name', { body: 'a', '\udfff': 1 }],
    ['a lone surrogate after backslashes', { body: '\\\\\ud800' }],
  ])('is refused for %s', (_what, args) => {
    expect(check(args).refusal?.problem.code).toBe('invalid_args');
  });

  it.each([
    ['a pair', { body: '\u{1F600}' }],
    ['the letters of an escape', { body: '\\ud800' }],
    ['a NUL, which JSON can hold', { body: '\u0000' }],
  ])('is taken with %s', (_what, args) => {
    expect(check(args)).toMatchObject({ args, refusal: null });
  });

  it.each([['with\u0000NUL'], ['with\ud800surrogate'], ['k'.repeat(256)]])('keeps no key that cannot be stored (%#)', (key) => {
    for (const proposal of [check({ body: 'a' }, { key }), check({ body: 'a', idempotency_key: key })]) {
      expect(proposal).toMatchObject({ idempotencyKey: null, refusal: { state: 'rejected', problem: { code: 'invalid_args' } } });
      expect(callRefOf(proposal).idempotency).toBeNull();
    }
  });

  it('has a key that is kept and hashed when it is one', () => {
    expect(callRefOf(check({ body: 'a', idempotency_key: 'k' })).idempotency).toEqual(callRefOf(check({ body: 'a' }, { key: 'k' })).idempotency);
    expect(callRefOf(check({ body: 'a' }, { key: 'k' })).idempotency?.key).toBe('k');
  });

  it.each([
    ['unknown arguments', check({ body: 'a', ['x'.repeat(500_000)]: 1 })],
    ['an unknown tool', check({}, { tool: 't'.repeat(1_000) })],
    ['an unknown tool with more arguments than are taken', check({ body: 'b'.repeat(2_000_000) }, { tool: 'none' })],
    ['more arguments than are taken', check({ body: 'b'.repeat(2_000_000) })],
  ])('is told of %s in a text of bounded length', (_what, proposal) => {
    expect(proposal.refusal?.state).toBe('rejected');
    expect(JSON.stringify(callRefOf(proposal)).length).toBeLessThan(3_000);
  });
});

describe('what an activity ends with', () => {
  it('has bounds, whatever was thrown', () => {
    const long = 'x'.repeat(3_000_000);
    for (const error of [new Error(long), new ToolFailure('refused', long), new Error('short', { cause: new Error(long) }), long]) {
      const failure = toFailure(error) as ApplicationFailure;
      expect(`${failure.message}${failure.stack}${failure.type}`.length).toBeLessThan(12_000);
      expect(failure.cause).toBeUndefined();
    }
  });

  it('is cancelled with its trial, and lost with its worker', () => {
    const stopped = (reason: string) => AbortSignal.abort(new CancelledFailure(reason));
    expect(interruption(stopped('CANCELLED'))).toBeInstanceOf(CancelledFailure);
    expect(interruption(stopped('WORKER_SHUTDOWN'))).toMatchObject({ type: 'WorkerShutdown', nonRetryable: true });
  });
});

it('names of steps are found at any depth, and none in what is no reference', () => {
  const value = { a: '${one.id}', b: ['and ${two.x}, ${three!state}', { c: '$${four.id}' }], d: 5, e: null, f: '${ five' };
  expect([...namesIn(value)].sort()).toEqual(['one', 'three', 'two']);
});

it('a budget of more calls than a workflow can carry is refused with its case', () => {
  expect(budget.safeParse({ calls: 1_500 }).success).toBe(true);
  expect(budget.safeParse({ calls: 1_501 }).success).toBe(false);
});
