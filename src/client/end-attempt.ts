import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { recordBroken } from '../activities/record-broken.ts';
import type { TrialRow } from '../store/store.ts';
import type { Root } from '../worker/root.ts';

/** How long a trial that is cancelled may take to end: its calls are cut off and its world is given back. Without a worker it never does. */
const ENDS_MS = 30_000;
const PAUSE_MS = 300;

export async function isRunning({ temporal }: Pick<Root, 'temporal'>, trial: string): Promise<boolean> {
  try {
    return (await temporal.workflow.getHandle(trial).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Asks the trial to end; one that does not, since nobody runs it or its code is gone, is ended without being asked, and its world is left to the sweeper. `wedged`: it cannot. */
export async function endAttempt(
  root: Pick<Root, 'store' | 'temporal'>,
  trial: TrialRow,
  { wedged, why }: { readonly wedged: boolean; readonly why: string },
): Promise<void> {
  const handle = root.temporal.workflow.getHandle(trial.id);
  await handle.cancel();
  const deadline = Date.now() + (wedged ? 0 : ENDS_MS);
  while (Date.now() < deadline) {
    if (!(await isRunning(root, trial.id))) return;
    await sleep(PAUSE_MS);
  }
  await handle.terminate(why).catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
  await recordBroken(root.store, trial, new EndedByForce(), { durationMs: 0, now: new Date() });
}

/** As a cancelled workflow tells of itself. */
class EndedByForce extends Error {
  override readonly name = 'CancelledFailure';

  constructor() {
    super('it did not end when it was asked to, and was terminated');
  }
}
