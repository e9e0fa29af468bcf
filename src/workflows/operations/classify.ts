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
  /** Cancelled after it had been dispatched. */
  | 'cancelled'
  /** Its scope was cancelled before it could be dispatched. */
  | 'not_dispatched'
  /** The tool replied, and its reply is a refusal. */
  | 'refused'
  /** The system of record was asked, and says that it never happened. */
  | 'absent';

export interface Classified {
  readonly state: 'failed' | 'unknown';
  readonly reason: FailureReason;
  readonly problem: OperationProblem;
}

export interface ClassifyOptions {
  /** Types of `ApplicationFailure` that the tool ends with only when it had no effect. */
  readonly definite: readonly string[];
  /**
   * Which failures the activity's retry policy tries again. Temporal reports only the last attempt's failure, so an earlier attempt may have had its effect.
   *
   * `false` (default): none, the policy has `maximumAttempts: 1`. `true`: any, and then nothing is known to have failed. `'definite_only'`: only those
   * that are definite, which the activity and its policy must see to: every other failure is thrown as not retryable, and `nonRetryableErrorTypes` has
   * {@link TIMEOUTS_NOT_RETRIED}.
   */
  readonly retried?: boolean | 'definite_only';
}

/** For `nonRetryableErrorTypes` of a retry policy: the server's names of the time-outs after which an attempt may have had its effect. */
export const TIMEOUTS_NOT_RETRIED: readonly string[] = ['TemporalTimeout:StartToClose', 'TemporalTimeout:Heartbeat'];

/**
 * What the failure of a dispatched activity says about its effect. The rule for every row of the table "what Temporal reports" in
 * `docs/architecture.md`: `failed` only where it is known that nothing happened, else `unknown`.
 */
export function classifyFailure(error: unknown, options: ClassifyOptions): Classified {
  if (isCancellation(error)) {
    return unknown('cancelled', 'cancelled', 'The call was cancelled after it had been sent; its outcome is unknown.');
  }
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const earlier = mayFollowAnEffect(error, options);
  if (cause instanceof TimeoutFailure) return classifyTimeout(cause, earlier);
  if (cause instanceof ApplicationFailure) return classifyApplication(cause, options, earlier);
  return unknown('indefinite', 'unknown_error', 'The call ended without a reply; its outcome is unknown.');
}

/** Whether an attempt before the one that is reported may have had its effect. */
function mayFollowAnEffect(error: unknown, { retried = false }: ClassifyOptions): boolean {
  if (retried === 'definite_only') return false;
  if (retried) return true;
  // The policy allows retries although it was said not to: only then does the time for all attempts end during back-off, and only a later attempt's
  // time-out has a failure behind it.
  if (!(error instanceof ActivityFailure)) return false;
  if (error.cause instanceof TimeoutFailure) return Boolean(error.cause.failure?.cause);
  return error.retryState === 'TIMEOUT';
}

function classifyTimeout(failure: TimeoutFailure, earlier: boolean): Classified {
  switch (failure.timeoutType) {
    case 'SCHEDULE_TO_START':
      // With retries an earlier attempt may have run, although this one never reached a worker.
      return earlier
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

function classifyApplication(failure: ApplicationFailure, options: ClassifyOptions, earlier: boolean): Classified {
  const type = failure.type ?? 'unknown_error';
  if (type === WORKER_SHUTDOWN) return unknown('worker_shutdown', 'interrupted', 'The call was interrupted; its outcome is unknown.');
  if (options.definite.includes(type)) {
    const problem = { code: type, message: failure.message, ...retryAfter(failure) };
    // The last attempt is known to have done nothing; an earlier one is not.
    return { state: earlier ? 'unknown' : 'failed', reason: 'definite', problem };
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
