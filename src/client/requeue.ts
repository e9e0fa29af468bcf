import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { recordBroken } from '../activities/record-broken.ts';
import type { Requeued } from '../store/requeue.ts';
import type { TrialRow } from '../store/store.ts';
import type { Root } from '../worker/root.ts';
import { NotFoundError } from './api.ts';

/** How long a trial that is cancelled may take to end: its calls are cut off and its world is given back. Without a worker it never does. */
const ENDS_MS = 30_000;
const PAUSE_MS = 300;

/** The trial runs, so it is not run again. Nothing was changed. */
export class TrialRunsError extends Error {
  override readonly name = 'TrialRunsError';
  readonly code = 'trial_runs';
  readonly trial: string;

  constructor(trial: string, why: string) {
    super(why);
    this.trial = trial;
  }
}

/** What became of the wish that a trial is run again. */
export interface RequeueReceipt extends Requeued {
  readonly trial: string;
  /** A running attempt was ended for it. */
  readonly ended: boolean;
}

/**
 * Puts a trial that has ended, or hangs, into its batch's queue again: a new attempt, which counts from when it has begun. Repeated before that it changes nothing.
 *
 * @throws {NotFoundError} @throws {TrialRunsError} for one that runs, unless `force` is given: then its attempt ends `cancelled` first
 */
export async function requeue(root: Pick<Root, 'store' | 'temporal'>, id: string, options: { readonly force: boolean }): Promise<RequeueReceipt> {
  const trial = await root.store.trial(id);
  if (!trial) throw new NotFoundError(`there is no trial ${id}; \`trialbed ps BATCH\` lists a batch's trials`);
  const runs = await isRunning(root, trial.id);
  if (runs && !options.force) {
    const where = trial.phase === 'done' ? 'another attempt of it is to follow' : `attempt ${Math.max(1, trial.attempt)} is in phase ${trial.phase}`;
    throw new TrialRunsError(trial.id, `trial ${trial.id} runs: ${where}; --force ends that attempt as cancelled, and then queues another`);
  }
  if (runs) await end(root, trial);
  return { trial: trial.id, ended: runs, ...(await root.store.requeue(trial.id)) };
}

async function isRunning({ temporal }: Pick<Root, 'temporal'>, trial: string): Promise<boolean> {
  try {
    return (await temporal.workflow.getHandle(trial).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Asks the trial to end; one that does not, since nobody runs it or its code is gone, is ended without being asked, and its world is left to the sweeper. */
async function end(root: Pick<Root, 'store' | 'temporal'>, trial: TrialRow): Promise<void> {
  const handle = root.temporal.workflow.getHandle(trial.id);
  await handle.cancel();
  const deadline = Date.now() + ENDS_MS;
  while (Date.now() < deadline) {
    if (!(await isRunning(root, trial.id))) return;
    await sleep(PAUSE_MS);
  }
  await handle.terminate('put into the queue again by force').catch((error: unknown) => {
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
