import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { OperationState } from '../../domain/operation.ts';
import { type OperationOptions, type OperationOutcome, type Recovery, replied } from './operation.ts';
import { transition } from './state.ts';

/** How an unknown outcome is found out: by looking, never by repeating blindly. */
export interface ReconcilePolicy<T> {
  /**
   * Asks the system of record; `look` counts from 1. `absent`: it does not know the operation, which does not prove that the call will not still arrive.
   * A look that throws has found nothing out.
   */
  readonly lookUp: (look: number) => Promise<Recovery<T>>;
  /** How often it is asked at most. Default 5. */
  readonly looks?: number;
  /** Milliseconds before the first look. Default 1000. */
  readonly firstAfterMs?: number;
  /** Factor from one wait to the next. Default 2. */
  readonly backoff?: number;
  /** Longest wait between two looks, in milliseconds. Default 60,000. */
  readonly longestMs?: number;
  /**
   * Milliseconds after which a call that is under way can no longer arrive, for example the service's own limit for requests, counted from when the outcome
   * became unknown. An `absent` after that makes the operation `failed`, where its attempt has ended: it reported a failure. After a time-out or a
   * cancellation the attempt may still run, and send at any later time: then `absent` is never final. Default: never.
   */
  readonly absentIsFinalAfterMs?: number;
}

/**
 * Carries an unknown outcome to `committed` or `failed` where the system of record can tell, else returns it as it is. Waits by timers of the workflow.
 * When the workflow is cancelled, the waiting ends and one last look is taken. Other outcomes are returned at once.
 */
export async function reconcile<T>(
  outcome: OperationOutcome<T>,
  policy: ReconcilePolicy<T>,
  options: Pick<OperationOptions<T>, 'refused' | 'onState' | 'retried'> = {},
): Promise<OperationOutcome<T>> {
  if (outcome.state !== 'unknown') return outcome;
  const end = (settled: OperationOutcome<T>): OperationOutcome<T> => {
    const state: OperationState = transition('unknown', settled.state);
    options.onState?.(state);
    return settled;
  };
  const since = Date.now();
  const ended = (outcome.reason === 'indefinite' || outcome.reason === 'worker_shutdown') && options.retried !== true;
  let wait = policy.firstAfterMs ?? 1_000;
  for (let look = 1; look <= (policy.looks ?? 5); look++) {
    const cancelled = await waitUnlessCancelled(wait);
    const asked = Date.now();
    const found = await CancellationScope.nonCancellable(() => policy.lookUp(look)).catch((): Recovery<T> => ({ found: 'undetermined' }));
    if (found.found === 'committed') return end(replied(found.value, options.refused, outcome.disturbed));
    if (found.found === 'failed') return end({ ...outcome, state: 'failed', problem: found.problem });
    if (found.found === 'absent' && ended && asked - since >= (policy.absentIsFinalAfterMs ?? Number.POSITIVE_INFINITY)) {
      const problem = { code: 'absent', message: 'The call never arrived; it had no effect.' };
      return end({ ...outcome, state: 'failed', reason: 'absent', problem });
    }
    if (cancelled) break;
    wait = Math.min(wait * (policy.backoff ?? 2), policy.longestMs ?? 60_000);
  }
  return outcome;
}

/**
 * A look-up for a system that keeps idempotency keys but answers no questions: the same write with the same key. Its reply is the outcome of the key. Any
 * failure finds nothing out: it speaks of the repeat, and says nothing of the call before.
 */
export function repeatWithKey<T>(write: (look: number) => Promise<T>): ReconcilePolicy<T>['lookUp'] {
  return async (look) => ({ found: 'committed', value: await write(look) });
}

async function waitUnlessCancelled(ms: number): Promise<boolean> {
  try {
    await sleep(ms);
    return false;
  } catch (error) {
    if (isCancellation(error)) return true;
    throw error;
  }
}
