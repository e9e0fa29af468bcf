import { activityInfo, cancellationSignal, CompleteAsyncError } from '@temporalio/activity';

/** How long after its time is up an activity may still report, since the server's clock and ours are two. */
const MARGIN_MS = 1_000;

/**
 * Ends the activity, without a report, soon after its start-to-close has passed: nobody waits for it any more, and its slot is free for others. What it was doing is
 * told to stop. An activity hears of its own time-out only through heartbeats, but it knows its deadline.
 */
export async function withinDeadline<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { isLocal, startToCloseTimeoutMs } = activityInfo();
  if (isLocal || !startToCloseTimeoutMs) return work(cancellationSignal());
  const up = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    up.abort(new Error('the time of the call is up'));
    reject(new CompleteAsyncError());
  }, startToCloseTimeoutMs + MARGIN_MS);
  const running = work(AbortSignal.any([cancellationSignal(), up.signal]));
  // Nobody listens to it after the deadline.
  running.catch(() => {});
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Without a deadline of ours: only cancellation stops it. */
export function toItsEnd<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return work(cancellationSignal());
}
