import { CancellationScope } from '@temporalio/workflow';
import type { OperationProblem, OperationState } from '../../domain/operation.ts';
import { classifyFailure, type ClassifyOptions, type FailureReason } from './classify.ts';
import { transition } from './state.ts';

export type OperationOutcome<T> =
  | { readonly state: 'committed'; readonly value: T; readonly disturbed: boolean }
  | { readonly state: 'failed' | 'unknown'; readonly reason: FailureReason; readonly problem: OperationProblem; readonly disturbed: boolean };

/** What the system of record answered when it was asked about a lost attempt, after that attempt had been fenced. */
export type Recovery<T> =
  | { readonly found: 'committed'; readonly value: T }
  | { readonly found: 'absent' }
  | { readonly found: 'failed'; readonly problem: OperationProblem }
  | { readonly found: 'undetermined' };

export interface OperationOptions<T> extends ClassifyOptions {
  /** Runs the activity once. `attempt` counts from 1 and goes with the write, so that a late one can be told from its successor. */
  readonly dispatch: (attempt: number) => Promise<T>;
  /**
   * Where the runtime can ask its system of record: first fence the attempt, then read. Called only for losses of the runtime's own
   * ({@link OperationOptions.heals}). Without it such an operation is `unknown`.
   */
  readonly recover?: (attempt: number, reason: FailureReason) => Promise<Recovery<T>>;
  /** Losses that `recover` heals. Default: a missed heartbeat and a worker's shutdown. */
  readonly heals?: (reason: FailureReason, problem: OperationProblem) => boolean;
  /** How often an operation whose attempt is known to be absent is dispatched again. Default 3. */
  readonly redispatches?: number;
  /** Told of each state that the operation enters. */
  readonly onState?: (state: OperationState) => void;
}

/**
 * Runs one operation from dispatch to an outcome, and never throws for what the activity did: a time-out, a lost worker or a cancellation
 * become `unknown`, a failure that is known to have had no effect becomes `failed`.
 *
 * The activity must have `maximumAttempts: 1`, or `retried: true` must be set, since Temporal's own retries hide what an earlier attempt did.
 */
export async function runOperation<T>(options: OperationOptions<T>): Promise<OperationOutcome<T>> {
  const heals = options.heals ?? ((reason) => reason === 'heartbeat' || reason === 'worker_shutdown');
  let state = transition('proposed', 'dispatched');
  options.onState?.(state);
  let disturbed = false;
  const end = <O extends OperationOutcome<T>>(outcome: O): O => {
    state = transition(state, outcome.state);
    options.onState?.(state);
    return outcome;
  };

  for (let attempt = 1; ; attempt++) {
    try {
      const value = await options.dispatch(attempt);
      return end({ state: 'committed', value, disturbed });
    } catch (error) {
      const { state: failedState, reason, problem } = classifyFailure(error, options);
      const recover = options.recover;
      if (failedState === 'failed' || !recover || !heals(reason, problem)) return end({ state: failedState, reason, problem, disturbed });
      disturbed = true;
      // The question must be answered even when the trial is being cancelled, or the record would not know what happened.
      const recovery = await CancellationScope.nonCancellable(() => recover(attempt, reason));
      if (recovery.found === 'committed') return end({ state: 'committed', value: recovery.value, disturbed });
      if (recovery.found === 'failed') return end({ state: 'failed', reason, problem: recovery.problem, disturbed });
      if (recovery.found === 'undetermined' || attempt > (options.redispatches ?? 3)) return end({ state: 'unknown', reason, problem, disturbed });
    }
  }
}
