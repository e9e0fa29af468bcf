import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { OperationProblem } from '../../domain/operation.ts';

/** Type of the `ApplicationFailure` with which an activity ends when its worker is shutting down. */
export const WORKER_SHUTDOWN = 'WorkerShutdown';

/** Why an operation has no reply, as far as Temporal can tell. */
export type FailureReason =
  | 'never_started'
  | 'start_to_close'
  | 'schedule_to_close'
  | 'heartbeat'
  | 'worker_shutdown'
  | 'definite'
  | 'indefinite'
  | 'cancelled';

export interface Classified {
  readonly state: 'failed' | 'unknown';
  readonly reason: FailureReason;
  readonly problem: OperationProblem;
}

export interface ClassifyOptions {
  /** Types of `ApplicationFailure` that the tool ends with only when it had no effect. */
  readonly definite: readonly string[];
  /**
   * The activity's retry policy allows more than one attempt. Temporal reports only the last attempt's failure,
   * so an earlier one may have had its effect: nothing is then known to have failed. Default false.
   */
  readonly retried?: boolean;
}

/**
 * What the failure of a dispatched activity says about its effect. The rule for every row of the table "what Temporal reports" in
 * `docs/architecture.md`: `failed` only where it is known that nothing happened, else `unknown`.
 */
export function classifyFailure(error: unknown, options: ClassifyOptions): Classified {
  if (isCancellation(error)) {
    return unknown('cancelled', 'cancelled', 'The call was cancelled after it had been sent; its outcome is unknown.');
  }
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return classifyTimeout(cause, options);
  if (cause instanceof ApplicationFailure) return classifyApplication(cause, options);
  return unknown('indefinite', 'unknown_error', 'The call ended without a reply; its outcome is unknown.');
}

function classifyTimeout(failure: TimeoutFailure, options: ClassifyOptions): Classified {
  switch (failure.timeoutType) {
    case 'SCHEDULE_TO_START':
      // With retries an earlier attempt may have run, although this one never reached a worker.
      return options.retried
        ? unknown('never_started', 'timeout', 'The call timed out; its outcome is unknown.')
        : failed('never_started', 'unavailable', 'The call was never started: no worker took it in time.');
    case 'START_TO_CLOSE':
      return unknown('start_to_close', 'timeout', 'The call timed out; its outcome is unknown.');
    case 'HEARTBEAT':
      return unknown('heartbeat', 'timeout', 'The call was lost on the way; its outcome is unknown.');
    default:
      return unknown('schedule_to_close', 'timeout', 'The call timed out; its outcome is unknown.');
  }
}

function classifyApplication(failure: ApplicationFailure, options: ClassifyOptions): Classified {
  const type = failure.type ?? 'unknown_error';
  if (type === WORKER_SHUTDOWN) return unknown('worker_shutdown', 'interrupted', 'The call was interrupted; its outcome is unknown.');
  if (options.definite.includes(type)) {
    const problem = { code: type, message: failure.message, ...retryAfter(failure) };
    // The last attempt is known to have done nothing; an earlier one is not.
    if (options.retried) return { state: 'unknown', reason: 'definite', problem };
    return { state: 'failed', reason: 'definite', problem };
  }
  return unknown('indefinite', type, failure.message);
}

function retryAfter(failure: ApplicationFailure): { retryAfterSeconds?: number } {
  const detail: unknown = failure.details?.[0];
  if (typeof detail !== 'object' || detail === null) return {};
  const seconds = (detail as { retryAfterSeconds?: unknown }).retryAfterSeconds;
  return typeof seconds === 'number' ? { retryAfterSeconds: seconds } : {};
}

function failed(reason: FailureReason, code: string, message: string): Classified {
  return { state: 'failed', reason, problem: { code, message } };
}

function unknown(reason: FailureReason, code: string, message: string): Classified {
  return { state: 'unknown', reason, problem: { code, message } };
}
