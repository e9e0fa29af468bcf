import { ApplicationFailure, CancellationScope, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import { NIGHT_BROKEN, type NightActivities, type NightEnd, type NightInput, type NightRef, type NightStart } from './night-messages.ts';

const { beginNight, endNight } = proxyActivities<NightActivities>({ startToCloseTimeout: '20 minutes', retry: { maximumAttempts: 5 } });
const { watchNight } = proxyActivities<NightActivities>({ startToCloseTimeout: '20 minutes', heartbeatTimeout: '30 seconds' });
const { tellNight } = proxyActivities<NightActivities>({ startToCloseTimeout: '2 minutes', retry: { maximumAttempts: 8 } });

/** How long a night waits for another one that uses the same accounts, and how often it asks. */
const LOCKED_ASKS = 60;
const LOCKED_PAUSE = '1 minute';
/** Longest night: 60 times what one look takes. */
const LOOKS = 60;

/**
 * One night of a schedule: a batch, watched to its end, and what it has shown. It fails where an invariant did not hold or it could not run; its schedule then pauses, so that nothing
 * goes wrong night after night.
 */
export async function night(input: NightInput): Promise<NightEnd> {
  const { workflowId, searchAttributes, startTime } = workflowInfo();
  const [scheduled] = (searchAttributes['TemporalScheduledStartTime'] ?? []) as readonly (Date | string | undefined)[];
  const due = new Date(scheduled ?? startTime).toISOString();
  const ref: NightRef = { ...input, night: `${input.schedule}-${due.replaceAll(/[-:]|\.\d+/g, '')}`, workflow: workflowId, due };
  let batch: string | null = null;
  let problem: string | null = null;
  try {
    const start = await begun(ref);
    if (start.kind === 'locked') problem = `night ${start.by} still uses what this one needs`;
    if (start.kind === 'begun') {
      batch = start.batch;
      if (!(await over(batch))) problem = `batch ${batch} had not ended when the night was over`;
    }
  } catch (error) {
    problem = messageOf(error);
  }
  // Also where the night is cancelled: what it has shown is kept, and its lock let go.
  const end = await CancellationScope.nonCancellable(async () => {
    const ended = await endNight({ ...ref, batch, problem });
    await tellNight(ref).catch(() => undefined);
    return ended;
  });
  if (end.state === 'broken') throw ApplicationFailure.nonRetryable(end.why ?? 'an invariant did not hold', NIGHT_BROKEN);
  return end;
}

async function begun(ref: NightRef): Promise<NightStart> {
  for (let asked = 1; ; asked++) {
    const start = await beginNight(ref);
    if (start.kind !== 'locked' || asked === LOCKED_ASKS) return start;
    await sleep(LOCKED_PAUSE);
  }
}

async function over(batch: string): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) if (await watchNight({ batch })) return true;
  return false;
}

function messageOf(error: unknown): string {
  let current = error;
  while (current instanceof Error && current.cause instanceof Error) current = current.cause;
  return current instanceof Error ? current.message : String(current);
}
