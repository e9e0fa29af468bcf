import { activityInfo, heartbeat } from '@temporalio/activity';

/** Milliseconds between two signs of life: several to a missed heartbeat. */
const HEARTBEAT_MS = 2_000;

/** Does the work and tells meanwhile that its worker lives, so that what a killed worker leaves behind is taken up soon. A local activity has the signs of life of its workflow task. */
export async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const beat = activityInfo().isLocal ? undefined : setInterval(() => heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
