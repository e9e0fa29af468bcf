import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ApprovalDecision } from '../../src/workflows/operations/index.ts';
import { OperationsBench, type Running, until } from './operations-bench.ts';

/** What production has beside the outcome of one dispatch: approvals, and finding out what became of an unknown one. */
let bench: OperationsBench;
beforeAll(async () => {
  bench = await OperationsBench.start(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

const quick = { firstAfterMs: 100, looks: 3, backoff: 1 } as const;

describe.concurrent('an unknown outcome', () => {
  it('without a policy stays unknown: nothing is repeated', async () => {
    const ran = await bench.carryOut(['lose_reply', 'commit']);
    expect(ran).toMatchObject({ outcome: { state: 'unknown' }, starts: 1, looks: 0, effects: [1] });
  });

  it('is looked up by its key: committed, with the reply that was lost', async () => {
    const ran = await bench.carryOut(['lose_reply', 'commit'], { reconcile: { by: 'look-up', ...quick } });
    expect(ran.outcome).toMatchObject({ state: 'committed', value: { refusal: null } });
    expect(ran).toMatchObject({ states: ['dispatched', 'unknown', 'committed'], starts: 1, looks: 1, effects: [1] });
  });

  it('that the system of record does not know stays unknown: the call may still arrive', async () => {
    const ran = await bench.carryOut(['unreachable', 'commit'], { reconcile: { by: 'look-up', ...quick } });
    expect(ran).toMatchObject({ outcome: { state: 'unknown' }, states: ['dispatched', 'unknown'], starts: 1, looks: 3, effects: [] });
  });

  it('that the system of record does not know after the time in which a call can arrive is failed', async () => {
    const ran = await bench.carryOut(['unreachable', 'commit'], { reconcile: { by: 'look-up', ...quick, absentIsFinalAfterMs: 150 } });
    expect(ran.outcome).toMatchObject({ state: 'failed', reason: 'absent' });
    expect(ran).toMatchObject({ states: ['dispatched', 'unknown', 'failed'], starts: 1, effects: [] });
  });

  it('of an attempt that may still run is never failed because it is not there: it writes later', async () => {
    const { id, result } = await bench.begin(['gate_before'], {
      activity: { startToCloseTimeout: '1 second' },
      reconcile: { by: 'look-up', ...quick, absentIsFinalAfterMs: 0 },
    });
    expect((await result).outcome).toMatchObject({ state: 'unknown', reason: 'start_to_close' });
    expect(await bench.book.of(id)).toMatchObject({ looks: 3, effects: [] });
    await bench.book.openGate(id);
    await bench.wrote(id, 1);
  });

  it('is found by a later look, once the call has arrived', async () => {
    const { id, result } = await bench.begin(['gate_before'], {
      activity: { startToCloseTimeout: '1 second' },
      reconcile: { by: 'look-up', firstAfterMs: 100, backoff: 1.5, looks: 12 },
    });
    await until(async () => (await bench.book.of(id)).looks > 0);
    await bench.book.openGate(id);
    expect((await result).outcome).toMatchObject({ state: 'committed' });
    expect(await bench.book.of(id)).toMatchObject({ effects: [1], starts: 1 });
  });

  it('is found out by the same write with the same key, which has one effect', async () => {
    const ran = await bench.carryOut(['lose_reply', 'commit'], { reconcile: { by: 'repeat with key', ...quick } });
    expect(ran).toMatchObject({ outcome: { state: 'committed' }, starts: 2, effects: [1] });
  });

  it('is not failed because the repeat is refused: that says nothing of the call before', async () => {
    const ran = await bench.carryOut(['lose_reply', 'rate_limited'], { reconcile: { by: 'repeat with key', ...quick } });
    expect(ran).toMatchObject({ outcome: { state: 'unknown', reason: 'indefinite' }, states: ['dispatched', 'unknown'], starts: 4, effects: [1] });
  });

  it('of a call that was cancelled is looked up once more, without waiting', async () => {
    const { id, handle, result } = await bench.begin(['gate_after'], {
      cancel: 'in flight',
      activity: { cancellationType: 'TRY_CANCEL', heartbeatTimeout: '10 seconds' },
      reconcile: { by: 'look-up', firstAfterMs: 3_600_000 },
    });
    await bench.wrote(id, 1);
    await handle.signal('cancelCall');
    expect((await result).outcome).toMatchObject({ state: 'committed' });
    expect(await bench.book.of(id)).toMatchObject({ looks: 1, effects: [1] });
    await bench.book.openGate(id);
  });

  it('a failed or committed outcome is never looked up', async () => {
    const policy = { reconcile: { by: 'look-up', ...quick } } as const;
    expect(await bench.carryOut(['commit'], policy)).toMatchObject({ outcome: { state: 'committed' }, looks: 0 });
    expect(await bench.carryOut(['rate_limited'], policy)).toMatchObject({ outcome: { state: 'failed' }, looks: 0 });
  });
});

describe.concurrent('an operation that needs an approval', () => {
  const approval = { expiresInMs: 60_000 };
  const asked = (run: Running): Promise<void> => until(async () => (await run.handle.query<readonly unknown[]>('pending')).length === 1);
  const decide = (run: Running, decision: Partial<ApprovalDecision>): Promise<boolean> =>
    run.handle.executeUpdate<boolean, [ApprovalDecision]>('decide', { args: [{ operation: 'op', approved: true, by: 'ines', ...decision }] });

  it('is dispatched once it is approved', async () => {
    const run = await bench.begin(['commit'], { approval });
    await asked(run);
    expect(await run.handle.query('states')).toEqual(['awaiting_approval']);
    expect(await bench.book.of(run.id)).toMatchObject({ starts: 0 });
    expect(await decide(run, {})).toBe(true);
    const { outcome, states } = await run.result;
    expect(outcome).toMatchObject({ state: 'committed' });
    expect(states).toEqual(['awaiting_approval', 'dispatched', 'committed']);
  });

  it.each([
    ['is refused: denied', {}, { approved: false }, 'approval_refused'],
    ['is approved with another content: denied', { withDigest: true }, { digest: 'another' }, 'approval_void'],
    ['is approved without saying of which content: denied', { withDigest: true }, {}, 'approval_void'],
  ])('%s, and never sent', async (_what, request, decision, code) => {
    const run = await bench.begin(['commit'], { approval: { ...approval, ...request } });
    await asked(run);
    await decide(run, decision);
    const { outcome, states } = await run.result;
    expect(outcome).toMatchObject({ state: 'denied', problem: { code } });
    expect(states).toEqual(['awaiting_approval', 'denied']);
    expect(await bench.book.of(run.id)).toMatchObject({ starts: 0, effects: [] });
  });

  it('is sent when the approval names its digest', async () => {
    const run = await bench.begin(['commit'], { approval: { ...approval, withDigest: true } });
    await asked(run);
    const [request] = await run.handle.query<readonly { digest: string }[]>('pending');
    await decide(run, { digest: request?.digest ?? '' });
    expect((await run.result).outcome).toMatchObject({ state: 'committed' });
  });

  it('expires: denied, and never sent', async () => {
    const ran = await bench.carryOut(['commit'], { approval: { expiresInMs: 300 } });
    expect(ran).toMatchObject({ outcome: { state: 'denied', problem: { code: 'approval_expired' } }, starts: 0 });
  });

  it('is cancelled while it waits: denied, and never sent', async () => {
    const run = await bench.begin(['commit'], { approval, cancel: 'in flight' });
    await asked(run);
    await run.handle.signal('cancelCall');
    expect(await run.result).toMatchObject({ outcome: { state: 'denied', problem: { code: 'approval_cancelled' } }, states: ['awaiting_approval', 'denied'] });
    expect(await bench.book.of(run.id)).toMatchObject({ starts: 0 });
  });

  it('takes the first decision alone, and none for what does not wait', async () => {
    const run = await bench.begin(['gate_before'], { approval, activity: { heartbeatTimeout: '10 seconds' } });
    await asked(run);
    expect(await decide(run, { operation: 'another' })).toBe(false);
    expect(await decide(run, {})).toBe(true);
    await bench.started(run.id);
    expect(await decide(run, { approved: false })).toBe(false);
    await bench.book.openGate(run.id);
    expect((await run.result).outcome).toMatchObject({ state: 'committed' });
  });
});
