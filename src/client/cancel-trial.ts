import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { TrialSummary } from '../domain/trial.ts';
import type { TrialRow } from '../store/store.ts';
import { ungraded } from '../activities/record-broken.ts';
import type { Root } from '../worker/root.ts';
import { ControlRefusedError, ControlUnansweredError } from './control-errors.ts';

/** A trial that is stopped is graded no more, but its world is fenced and given back. */
const ENDS_MS = 5 * 60_000;
const POLL_MS = 200;

/** Ends one trial: at once where it has not begun, else as soon as its workflow has put everything in order. @throws {ControlRefusedError} when it has ended. */
export async function cancelTrial({ store, temporal }: Pick<Root, 'store' | 'temporal'>, trial: TrialRow): Promise<TrialSummary> {
  if ((await store.settledAmong([trial.id])).length > 0)
    throw new ControlRefusedError(`trial ${trial.id} has ended already: ${trial.summary?.ending ?? 'without a summary'}`);
  if (trial.attempt === 0)
    await store.cancelWaiting(trial.id, ungraded(trial, { attempt: 1, ending: 'cancelled', why: 'it was cancelled before it began', durationMs: 0 }));
  await temporal.workflow
    .getHandle(trial.id)
    .cancel()
    .catch((error: unknown) => {
      // It was never launched; or it has just ended.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  const deadline = Date.now() + ENDS_MS;
  while (Date.now() < deadline) {
    const row = (await store.settledAmong([trial.id])).length > 0 ? await store.trial(trial.id) : null;
    if (row?.summary) return row.summary;
    await pause(POLL_MS);
  }
  throw new ControlUnansweredError(`trial ${trial.id} was asked to end and has not; "trialbed ps ${trial.batch}" shows how it stands`);
}
