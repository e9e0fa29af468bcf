import { ActivityFailure, ApplicationFailure, CancelledFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { classifyFailure, WORKER_SHUTDOWN } from '../../src/workflows/operations/classify.ts';
import { IllegalTransitionError, isFinal, transition } from '../../src/workflows/operations/state.ts';

const failure = (cause: Error, retryState: RetryState = RetryState.MAXIMUM_ATTEMPTS_REACHED) =>
  new ActivityFailure('failed', 'operate', '1', retryState, 'worker', cause);
const timeout = (type: 'SCHEDULE_TO_START' | 'START_TO_CLOSE' | 'SCHEDULE_TO_CLOSE' | 'HEARTBEAT') =>
  failure(new TimeoutFailure('timed out', undefined, type), RetryState.TIMEOUT);
const definite = ['rate_limited'];

describe('what Temporal reports of an operation', () => {
  it.each([
    ['schedule-to-start: no worker ever had it', timeout('SCHEDULE_TO_START'), 'failed', 'never_started'],
    ['start-to-close: it may have run', timeout('START_TO_CLOSE'), 'unknown', 'start_to_close'],
    ['schedule-to-close: it may never have started, which cannot be seen', timeout('SCHEDULE_TO_CLOSE'), 'unknown', 'schedule_to_close'],
    ['heartbeat: a missed one does not prove death', timeout('HEARTBEAT'), 'unknown', 'heartbeat'],
    ['worker shutdown', failure(ApplicationFailure.nonRetryable('bye', WORKER_SHUTDOWN)), 'unknown', 'worker_shutdown'],
    ['a failure that the tool declares definite', failure(ApplicationFailure.nonRetryable('slow down', 'rate_limited')), 'failed', 'definite'],
    ['any other failure', failure(ApplicationFailure.nonRetryable('connection reset', 'Error')), 'unknown', 'indefinite'],
    ['cancelled after dispatch', failure(new CancelledFailure('cancelled')), 'unknown', 'cancelled'],
    ['something that is no activity failure at all', new TypeError('x'), 'unknown', 'indefinite'],
  ])('%s', (_name, error, state, reason) => {
    expect(classifyFailure(error, { definite })).toMatchObject({ state, reason });
  });

  it.each([
    ['schedule-to-start of a later attempt', timeout('SCHEDULE_TO_START')],
    ['a definite failure of the last attempt', failure(ApplicationFailure.retryable('slow down', 'rate_limited'), RetryState.TIMEOUT)],
  ])('with retries an earlier attempt may have had its effect: %s', (_name, error) => {
    expect(classifyFailure(error, { definite, retried: true }).state).toBe('unknown');
  });

  it('passes on when a call may be tried again', () => {
    const error = failure(ApplicationFailure.create({ message: 'slow down', type: 'rate_limited', nonRetryable: true, details: [{ retryAfterSeconds: 2 }] }));
    expect(classifyFailure(error, { definite }).problem).toEqual({ code: 'rate_limited', message: 'slow down', retryAfterSeconds: 2 });
  });
});

describe('the state machine', () => {
  it('lets an unknown operation be reconciled, and nothing else', () => {
    expect(transition('unknown', 'committed')).toBe('committed');
    expect(() => transition('committed', 'unknown')).toThrow(IllegalTransitionError);
    expect(() => transition('proposed', 'committed')).toThrow(IllegalTransitionError);
    expect(isFinal('unknown')).toBe(false);
    expect(isFinal('denied')).toBe(true);
  });
});
