import type { Requeued } from '../store/requeue.ts';
import type { Root } from '../worker/root.ts';
import { NotFoundError } from './api.ts';
import { endAttempt, isRunning } from './end-attempt.ts';

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
  if (runs) await endAttempt(root, trial, { wedged: false, why: 'put into the queue again by force' });
  return { trial: trial.id, ended: runs, ...(await root.store.requeue(trial.id)) };
}
