import { type ActivityInterfaceFor, type ActivityOptions, proxyActivities } from '@temporalio/workflow';

/**
 * Activities whose calls are operations: one attempt each, since Temporal's default policy repeats a write whose reply was lost; and a cancelled one is
 * waited for, so that a reply that comes all the same counts. `startToCloseTimeout` or `scheduleToCloseTimeout` is required, as of every activity.
 */
export function proxyOperations<A>(options: Omit<ActivityOptions, 'retry'>): ActivityInterfaceFor<A> {
  return proxyActivities<A>({ cancellationType: 'WAIT_CANCELLATION_COMPLETED', ...options, retry: { maximumAttempts: 1 } });
}
