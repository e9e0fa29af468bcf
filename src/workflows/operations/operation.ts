import { CancellationScope } from '@temporalio/workflow';
import type { OperationProblem, OperationState } from '../../domain/operation.ts';
import { classifyFailure, type ClassifyOptions, type FailureReason } from './classify.ts';
import { transition } from './state.ts';

export type OperationOutcome<T> =
  | { readonly state: 'committed'; readonly value: T; readonly disturbed: boolean }
  | {
      readonly state: 'failed' | 'unknown';
      readonly reason: FailureReason;
      readonly problem: OperationProblem;
      readonly disturbed: boolean;
      /** Of an operation that was lost again and again (`absent`): what lost it at last. */
      readonly lostBy?: OperationProblem;
    };

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
   * For tools that refuse by a reply and not by a failure: the problem where this reply is a refusal and nothing was changed, else null.
   * Default: every reply says that the effect is there.
   */
  readonly refused?: (value: T) => OperationProblem | null;
  /**
   * Where the runtime can ask its system of record: first fence the attempt, then read. Called only for losses of the runtime's own
   * ({@link OperationOptions.heals}). Without it such an operation is `unknown`. What it throws, `runOperation` throws.
   */
  readonly recover?: (attempt: number, reason: FailureReason) => Promise<Recovery<T>>;
  /** Losses that `recover` heals. Default: a missed heartbeat and a worker's shutdown. */
  readonly heals?: (reason: FailureReason, problem: OperationProblem) => boolean;
  /** How often an operation whose attempt is known to be absent is dispatched again. Default 3. */
  readonly redispatches?: number;
  /** Told of each state that the operation enters. */
  readonly onState?: (state: OperationState) => void;
  /** Where the operation stands: `awaiting_approval` after an approval was given. Default `proposed`. */
  readonly from?: 'proposed' | 'awaiting_approval';
}

/**
 * Runs one operation from dispatch to an outcome, and never throws for what the activity did: a time-out, a lost worker or a cancellation
 * become `unknown`, a failure that is known to have had no effect becomes `failed`. In a scope that is cancelled already nothing is dispatched.
 *
 * The activity must have `maximumAttempts: 1` ({@link proxyOperations} sees to that), or `retried` must be set, since Temporal's own retries hide what an
 * earlier attempt did.
 */
export async function runOperation<T>(options: OperationOptions<T>): Promise<OperationOutcome<T>> {
  const heals = options.heals ?? ((reason) => reason === 'heartbeat' || reason === 'worker_shutdown');
  let state = transition(options.from ?? 'proposed', 'dispatched');
  options.onState?.(state);
  let disturbed = false;
  const end = <O extends OperationOutcome<T>>(outcome: O): O => {
    state = transition(state, outcome.state);
    options.onState?.(state);
    return outcome;
  };

  for (let attempt = 1; ; attempt++) {
    if (CancellationScope.current().consideredCancelled) {
      const problem = { code: 'cancelled', message: 'The call was cancelled before it was sent; it had no effect.' };
      return end({ state: 'failed', reason: 'not_dispatched', problem, disturbed });
    }
    const sent = await settled(options.dispatch(attempt));
    if (sent.replied) return end(replied(sent.value, options.refused, disturbed));
    const { state: failedState, reason, problem } = classifyFailure(sent.error, options);
    const recover = options.recover;
    if (failedState === 'failed' || !recover || !heals(reason, problem)) return end({ state: failedState, reason, problem, disturbed });
    disturbed = true;
    // The question must be answered even when the workflow is being cancelled, or nobody would know what happened.
    const recovery = await CancellationScope.nonCancellable(() => recover(attempt, reason));
    if (recovery.found === 'committed') return end({ state: 'committed', value: recovery.value, disturbed });
    if (recovery.found === 'failed') return end({ state: 'failed', reason, problem: recovery.problem, disturbed });
    if (recovery.found === 'undetermined') return end({ state: 'unknown', reason, problem, disturbed });
    if (attempt > (options.redispatches ?? 3)) {
      const lost = { code: 'unavailable', message: 'The call was lost again and again before it had its effect; nothing was changed.' };
      return end({ state: 'failed', reason: 'absent', problem: lost, disturbed, lostBy: problem });
    }
  }
}

async function settled<T>(call: Promise<T>): Promise<{ readonly replied: true; readonly value: T } | { readonly replied: false; readonly error: unknown }> {
  return call.then(
    (value) => ({ replied: true, value }) as const,
    (error: unknown) => ({ replied: false, error }) as const,
  );
}

/** The outcome that a reply stands for. */
export function replied<T>(value: T, refused: OperationOptions<T>['refused'], disturbed: boolean): OperationOutcome<T> {
  const problem = refused?.(value) ?? null;
  return problem ? { state: 'failed', reason: 'refused', problem, disturbed } : { state: 'committed', value, disturbed };
}
