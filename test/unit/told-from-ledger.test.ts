import { describe, expect, test } from 'vitest';
import type { OperationNote } from '../../src/activities/contract.ts';
import { noteFromLedger } from '../../src/client/points/from-ledger.ts';
import { runtimeOf } from '../../src/environments/runtime-tools.ts';
import supportDesk from '../../src/environments/support-desk/pack.ts';
import type { LedgerRow } from '../../src/environments/world.ts';

const ROW: LedgerRow = {
  ...{ id: 'op-2', tool: 'get_order', args: { order_id: 1 }, idempotencyKey: null, refusal: null, granted: null, state: 'committed', attempt: 1 },
  ...{ result: { id: 1 }, problem: null, detail: null, durationMs: 1, tries: 1, at: '2026-03-02T08:30:00.000Z' },
};
const FIRST: OperationNote = { id: 'op-1', seq: 1, tool: 'get_order', position: 1, told: 'committed', problem: null, replayOf: null, disturbed: false };

function told(
  row: Partial<LedgerRow>,
  { hit, scheduled = false, before = [FIRST] }: { hit?: string; scheduled?: boolean; before?: readonly OperationNote[] } = {},
) {
  const faults = { rows: { faults: hit === undefined ? [{ operation: 'op-9', kind: 'slow' }] : [{ operation: 'op-2', kind: hit }] } };
  return noteFromLedger({ ...ROW, ...row }, { faults, environment: { environment: supportDesk }, scheduled, before });
}

describe('what was told of a call, by the ledger alone', () => {
  test('is that it committed, at the next position of its tool', () => {
    expect(told({})).toEqual({ id: 'op-2', seq: 2, tool: 'get_order', position: 2, told: 'committed', problem: null, replayOf: null, disturbed: false });
    expect(told({}, { hit: 'concurrent_change' })).toMatchObject({ told: 'committed' });
  });

  test('is that it was refused, in the words of production', () => {
    const limited = { code: 'rate_limited', message: 'Too many requests; try again in 3 s.', retryAfterSeconds: 3 };
    const { words } = runtimeOf(supportDesk);
    const message = words.rate_limited?.replaceAll('{seconds}', '3').replaceAll('{tool}', 'get_order') ?? limited.message;
    expect(told({ state: 'failed', problem: limited }, { hit: 'rate_limited' })).toMatchObject({
      told: 'failed',
      position: 2,
      problem: { ...limited, message },
    });
    const problem = { code: 'invalid_args', message: 'order_id: expected a number' };
    const refusal = { state: 'rejected', problem } as const;
    expect(told({ state: 'rejected', refusal })).toMatchObject({ told: 'rejected', position: null, problem });
  });

  test.each<[string, Partial<LedgerRow>, Parameters<typeof told>[1]?]>([
    ['it has not ended', { state: 'running' }],
    ['its reply was lost', {}, { hit: 'timeout_after_commit' }],
    ['it was lost itself', { state: 'failed', problem: { code: 'unavailable', message: '' } }, { hit: 'timeout_before_commit' }],
    ['its reply may have come too late', {}, { hit: 'slow' }],
    ['its reply could not be read', {}, { hit: 'malformed_reply' }],
    ['it failed in a way that leaves its outcome open', { state: 'failed', problem: { code: 'lost_somewhere', message: '' } }],
    ['it has a key, and may have repeated another', { idempotencyKey: 'k' }],
    ['it waited for an approval, and may have been told so', { approval: { rule: 'every refund', expiresMs: 1_000 } as never }],
    [
      'another contract may have refused it',
      { state: 'rejected', refusal: { state: 'rejected', problem: { code: 'invalid_args', message: '' } } },
      { scheduled: true },
    ],
    ['it looked up another of which nothing was known', { tool: 'get_operation' }, { before: [{ ...FIRST, told: 'unknown' }] }],
    ['there is no such tool', { tool: 'get_odrer' }],
  ])('is not known where %s', (_, row, more) => {
    expect(told(row, more)).toBeNull();
  });
});
