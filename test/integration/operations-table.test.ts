import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { TIMEOUTS_NOT_RETRIED } from '../../src/workflows/operations/index.ts';
import { OperationsBench } from './operations-bench.ts';

/** Each row of the table "what Temporal reports", provoked on a real server: what was reported, what it was taken for, what the system of record has. */
let bench: OperationsBench;
beforeAll(async () => {
  bench = await OperationsBench.start(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

describe.concurrent('one attempt', () => {
  it('completed: committed', async () => {
    const ran = await bench.carryOut(['commit']);
    expect(ran.outcome).toMatchObject({ state: 'committed', disturbed: false, value: { refusal: null } });
    expect(ran.states).toEqual(['dispatched', 'committed']);
    expect(ran).toMatchObject({ reported: [], effects: [1] });
  });

  it('completed, and the reply is a refusal: failed', async () => {
    const ran = await bench.carryOut(['refuse']);
    expect(ran.outcome).toMatchObject({ state: 'failed', reason: 'refused', problem: { code: 'declined', message: 'The card was declined.' } });
    expect(ran).toMatchObject({ states: ['dispatched', 'failed'], reported: [], effects: [] });
  });

  it('schedule-to-start: failed, no worker ever had it', async () => {
    const ran = await bench.carryOut(['commit'], { activity: { taskQueue: bench.queue(), scheduleToStartTimeout: '1 second' } });
    expect(ran.reported).toMatchObject([{ cause: 'TimeoutFailure', type: 'SCHEDULE_TO_START', behind: false }]);
    expect(ran.outcome).toMatchObject({ state: 'failed', reason: 'never_started' });
    expect(ran).toMatchObject({ starts: 0, effects: [] });
  });

  it.each([
    ['before it wrote', 'hang_before', []],
    ['after it wrote', 'hang_after', [1]],
  ] as const)('start-to-close, %s: unknown', async (_when, behaviour, effects) => {
    const ran = await bench.carryOut([behaviour], { activity: { startToCloseTimeout: '2 seconds' } });
    expect(ran.reported).toMatchObject([{ cause: 'TimeoutFailure', type: 'START_TO_CLOSE' }]);
    expect(ran.outcome).toMatchObject({ state: 'unknown', reason: 'start_to_close' });
    expect(ran).toMatchObject({ states: ['dispatched', 'unknown'], effects });
  });

  it('start-to-close: the attempt goes on, and its write comes after the outcome was told', async () => {
    const { id, result } = await bench.begin(['gate_before'], { activity: { startToCloseTimeout: '1 second' } });
    expect((await result).outcome).toMatchObject({ state: 'unknown' });
    expect((await bench.book.of(id)).effects).toEqual([]);
    await bench.book.openGate(id);
    await bench.wrote(id, 1);
  });

  it('schedule-to-close alone, and no worker comes: the server tells that it never started, so it is failed', async () => {
    const ran = await bench.carryOut(['commit'], { activity: { taskQueue: bench.queue(), scheduleToCloseTimeout: '1 second' } });
    expect(ran.reported).toMatchObject([{ cause: 'TimeoutFailure', type: 'SCHEDULE_TO_START', behind: false }]);
    expect(ran.outcome).toMatchObject({ state: 'failed', reason: 'never_started' });
    expect(ran.starts).toBe(0);
  });

  it.each([
    ['before it wrote', 'hang_before', []],
    ['after it wrote', 'hang_after', [1]],
  ] as const)('schedule-to-close of a call that ran, %s: unknown', async (_when, behaviour, effects) => {
    const ran = await bench.carryOut([behaviour], { activity: { startToCloseTimeout: '20 seconds', scheduleToCloseTimeout: '2 seconds' } });
    expect(ran.reported).toMatchObject([{ cause: 'TimeoutFailure', type: 'SCHEDULE_TO_CLOSE' }]);
    expect(ran.outcome).toMatchObject({ state: 'unknown', reason: 'schedule_to_close' });
    expect(ran).toMatchObject({ starts: 1, effects });
  });

  it('a failure of a type that the tool declares definite: failed', async () => {
    const ran = await bench.carryOut(['rate_limited']);
    expect(ran.reported).toMatchObject([{ cause: 'ApplicationFailure', type: 'rate_limited', retryState: 'NON_RETRYABLE_FAILURE' }]);
    expect(ran.outcome).toMatchObject({ state: 'failed', reason: 'definite', problem: { code: 'rate_limited', retryAfterSeconds: 2 } });
    expect(ran.effects).toEqual([]);
  });

  it.each([
    ['it wrote before its connection was gone', 'lose_reply', [1]],
    ['it had not written', 'unreachable', []],
  ] as const)('any other failure, %s: unknown', async (_what, behaviour, effects) => {
    const ran = await bench.carryOut([behaviour]);
    expect(ran.reported).toMatchObject([{ cause: 'ApplicationFailure', type: 'Error', retryState: 'MAXIMUM_ATTEMPTS_REACHED' }]);
    expect(ran.outcome).toMatchObject({ state: 'unknown', reason: 'indefinite' });
    expect(ran).toMatchObject({ starts: 1, effects });
  });
});

describe.concurrent('cancelled', () => {
  it('before it was dispatched: failed, and the tool was never asked', async () => {
    const ran = await bench.carryOut(['commit'], { cancel: 'before' });
    expect(ran.outcome).toMatchObject({ state: 'failed', reason: 'not_dispatched', problem: { code: 'cancelled' } });
    expect(ran).toMatchObject({ reported: [], starts: 0, effects: [] });
  });

  it.each([
    ['TRY_CANCEL', 'gate_after', [1]],
    ['TRY_CANCEL', 'gate_before', []],
    ['ABANDON', 'gate_after', [1]],
    ['WAIT_CANCELLATION_COMPLETED', 'stop_after', [1]],
    ['WAIT_CANCELLATION_COMPLETED', 'stop_before', []],
  ] as const)('after it was dispatched, %s, %s: unknown', async (cancellationType, behaviour, effects) => {
    const { id, handle, result } = await bench.begin([behaviour], {
      cancel: 'in flight',
      activity: { cancellationType, heartbeatTimeout: '5 seconds' },
    });
    await bench.started(id);
    if (behaviour.endsWith('_after')) await bench.wrote(id, 1);
    await handle.signal('cancelCall');
    const { outcome, reported } = await result;
    expect(reported).toMatchObject([{ error: 'ActivityFailure', cause: 'CancelledFailure' }]);
    expect(outcome).toMatchObject({ state: 'unknown', reason: 'cancelled' });
    expect((await bench.book.of(id)).effects).toEqual(effects);
    await bench.book.openGate(id);
  });

  it('after it was dispatched, waiting for its end, and it replies all the same: committed', async () => {
    const activity = { cancellationType: 'WAIT_CANCELLATION_COMPLETED', heartbeatTimeout: '10 seconds' } as const;
    const { id, handle, result } = await bench.begin(['gate_before'], { cancel: 'in flight', activity });
    await bench.started(id);
    await handle.signal('cancelCall');
    await bench.book.openGate(id);
    expect((await result).outcome).toMatchObject({ state: 'committed' });
    expect((await bench.book.of(id)).effects).toEqual([1]);
  });
});

describe.concurrent('a policy that allows retries', () => {
  const retry = { initialInterval: '30 seconds' } as const;

  it('schedule-to-close during back-off: the last failure is shown, and an earlier attempt may have had its effect', async () => {
    // The first attempt writes and loses its reply; the second is refused in a definite way; a third would come too late.
    const ran = await bench.carryOut(['lose_reply', 'rate_limited_retryable'], {
      retried: true,
      activity: { scheduleToCloseTimeout: '8 seconds', retry: { initialInterval: '1 second', backoffCoefficient: 20 } },
    });
    expect(ran.reported).toMatchObject([{ retryState: 'TIMEOUT', cause: 'ApplicationFailure', type: 'rate_limited' }]);
    expect(ran.outcome).toMatchObject({ state: 'unknown', reason: 'definite' });
    expect(ran).toMatchObject({ starts: 2, effects: [1] });
  });

  it('the same of a workflow that did not say that its policy retries: the time-out tells, and it is unknown', async () => {
    const ran = await bench.carryOut(['rate_limited_retryable'], { activity: { scheduleToCloseTimeout: '5 seconds', retry } });
    expect(ran.reported).toMatchObject([{ retryState: 'TIMEOUT', cause: 'ApplicationFailure', type: 'rate_limited' }]);
    expect(ran.outcome).toMatchObject({ state: 'unknown', reason: 'definite' });
  });

  it('only definite failures are tried again: the last one is failed', async () => {
    const ran = await bench.carryOut(['rate_limited_retryable'], {
      retried: 'definite_only',
      activity: { scheduleToCloseTimeout: '5 seconds', retry: { ...retry, nonRetryableErrorTypes: [...TIMEOUTS_NOT_RETRIED] } },
    });
    expect(ran.reported).toMatchObject([{ retryState: 'TIMEOUT', type: 'rate_limited' }]);
    expect(ran.outcome).toMatchObject({ state: 'failed', reason: 'definite' });
    expect(ran.effects).toEqual([]);
  });

  it.each([
    ['start-to-close', { startToCloseTimeout: '1 second' }, 'hang_after', 'START_TO_CLOSE'],
    ['heartbeat', { heartbeatTimeout: '1 second' }, 'hang_after', 'HEARTBEAT'],
  ] as const)('the server keeps to it that a time-out is not tried again: %s', async (_name, timeout, behaviour, type) => {
    const ran = await bench.carryOut([behaviour], {
      retried: 'definite_only',
      activity: {
        scheduleToCloseTimeout: '30 seconds',
        retry: { initialInterval: '100 milliseconds', nonRetryableErrorTypes: [...TIMEOUTS_NOT_RETRIED] },
        ...timeout,
      },
    });
    expect(ran.reported).toMatchObject([{ retryState: 'NON_RETRYABLE_FAILURE', cause: 'TimeoutFailure', type }]);
    expect(ran.outcome).toMatchObject({ state: 'unknown' });
    expect(ran).toMatchObject({ starts: 1, effects: [1] });
  });

  it('schedule-to-start of a later attempt: unknown, also where the workflow did not say that its policy retries', async () => {
    const taskQueue = bench.queue();
    const worker = await bench.activityWorker(taskQueue);
    const { id, result } = await bench.begin(['stop_after', 'commit'], {
      activity: { taskQueue, scheduleToStartTimeout: '2 seconds', retry: { initialInterval: '100 milliseconds' } },
    });
    await bench.started(id);
    await bench.wrote(id, 1);
    // The first attempt ends with its worker, and nobody takes the second.
    await worker[Symbol.asyncDispose]();
    const { outcome, reported } = await result;
    expect(reported).toMatchObject([{ cause: 'TimeoutFailure', type: 'SCHEDULE_TO_START', behind: true }]);
    expect(outcome).toMatchObject({ state: 'unknown', reason: 'never_started' });
  });
});
