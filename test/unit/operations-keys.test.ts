import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentDigest, IdempotencyKeys } from '../../src/workflows/operations/idempotency.ts';
import type { OperationOutcome } from '../../src/workflows/operations/operation.ts';
import { sha256 } from '../../src/workflows/operations/sha256.ts';

const committed: OperationOutcome<string> = { state: 'committed', value: 're_1', disturbed: false };
const ended = (state: 'failed' | 'unknown'): OperationOutcome<string> => ({
  state,
  reason: 'indefinite',
  problem: { code: 'x', message: 'x' },
  disturbed: false,
});

describe('an idempotency key', () => {
  it.each([
    ['committed', committed],
    ['unknown', ended('unknown')],
  ])('%s: the same outcome and the same operation, and nothing is dispatched', (_state, outcome) => {
    const keys = new IdempotencyKeys<string>();
    expect(keys.begin('k', 'op-1', 'd')).toEqual({ kind: 'new' });
    keys.settle('k', 'op-1', outcome);
    expect(keys.begin('k', 'op-2', 'd')).toEqual({ kind: 'replay', operation: 'op-1', outcome });
  });

  it.each([['failed', ended('failed')] as const, ['denied', { state: 'denied' }] as const, ['rejected', { state: 'rejected' }] as const])(
    '%s releases it',
    (_state, outcome) => {
      const keys = new IdempotencyKeys<string>();
      keys.begin('k', 'op-1', 'd');
      keys.settle('k', 'op-1', outcome);
      expect(keys.begin('k', 'op-2', 'another')).toEqual({ kind: 'new' });
    },
  );

  it('while the call waits or runs: a conflict', () => {
    const keys = new IdempotencyKeys<string>();
    keys.begin('k', 'op-1', 'd');
    expect(keys.begin('k', 'op-2', 'd')).toMatchObject({ kind: 'refused', status: 409, problem: { code: 'idempotency_conflict' } });
  });

  it.each([['in flight', null] as const, ['committed', committed] as const, ['unknown', ended('unknown')] as const])(
    'another content is refused: %s',
    (_state, outcome) => {
      const keys = new IdempotencyKeys<string>();
      keys.begin('k', 'op-1', 'd');
      if (outcome) keys.settle('k', 'op-1', outcome);
      expect(keys.begin('k', 'op-2', 'another')).toMatchObject({ kind: 'refused', status: 422, problem: { code: 'idempotency_key_reused' } });
    },
  );

  it('of an unknown outcome stands for what reconciling found', () => {
    const keys = new IdempotencyKeys<string>();
    for (const key of ['a', 'b']) {
      keys.begin(key, 'op-1', 'd');
      keys.settle(key, 'op-1', ended('unknown'));
    }
    keys.settle('a', 'op-1', committed);
    keys.settle('b', 'op-1', ended('failed'));
    expect(keys.begin('a', 'op-2', 'd')).toMatchObject({ kind: 'replay', outcome: committed });
    expect(keys.begin('b', 'op-2', 'd')).toEqual({ kind: 'new' });
  });

  it('is not released by an operation that does not hold it, nor once it stands for an effect', () => {
    const keys = new IdempotencyKeys<string>();
    keys.begin('k', 'op-1', 'd');
    keys.settle('k', 'op-2', ended('failed'));
    expect(keys.begin('k', 'op-2', 'd')).toMatchObject({ kind: 'refused' });
    keys.settle('k', 'op-1', committed);
    keys.settle('k', 'op-1', ended('failed'));
    expect(keys.begin('k', 'op-2', 'd')).toMatchObject({ kind: 'replay' });
  });
});

describe('the digest of a content', () => {
  it('is equal for the same value however it is written, and for no other', () => {
    const digest = contentDigest({ order: 'A-1', cents: 4_900 });
    expect(contentDigest({ cents: 4_900, order: 'A-1' })).toBe(digest);
    expect(contentDigest({ order: 'A-1', cents: 4_901 })).not.toBe(digest);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is SHA-256, also of what fills a block to the brim', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => sha256(text) === nodeSha256(text)));
    for (let length = 50; length < 130; length++) expect(sha256('a'.repeat(length))).toBe(nodeSha256('a'.repeat(length)));
  });
});

function nodeSha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
