import type { Requeued } from '../store/requeue.ts';
import type { BatchRow, TrialRow } from '../store/store.ts';
import { Content } from '../worker/content.ts';
import type { Root } from '../worker/root.ts';
import { NotFoundError } from './api.ts';
import { endAttempt, isRunning } from './end-attempt.ts';
import { PointRefusedError } from './points/errors.ts';
import { countAt, nameOf, requirePoint } from './points/point.ts';
import { isWedged, resetByTemporal } from './points/temporal-reset.ts';
import { toldOf } from './points/told.ts';
import { requireContent, stateOf } from './points/trial-state.ts';

/** What became of the wish that a trial goes on from an earlier point. */
export interface ResetReceipt extends Requeued {
  readonly trial: string;
  /** `attempt`: another attempt goes on in a fresh world. `temporal`: the same attempt goes on in its own world, by a run of Temporal's. */
  readonly how: 'attempt' | 'temporal';
  /** The last operation that is answered from the record, or `start`. */
  readonly point: string;
  /** Calls that are answered from the record. */
  readonly calls: number;
  /** An attempt that ran was ended for it. */
  readonly ended: boolean;
  /** Event of the workflow's history at which Temporal goes on; null where it does not. */
  readonly event: number | null;
}

/**
 * Lets a trial that has no verdict go on from an earlier point: another attempt, in a fresh world at the state of that point. The attempt before is kept. A workflow that is
 * wedged, and of which no operation was admitted after the point, goes on itself.
 *
 * @throws {NotFoundError} @throws {PointRefusedError} where it cannot go on from there; nothing was changed then
 */
export async function reset(root: Root, id: string, to: string): Promise<ResetReceipt> {
  const { store, temporal } = root;
  const trial = await store.trial(id);
  const batch = trial && (await store.batch(trial.batch));
  if (!trial || !batch) throw new NotFoundError(`there is no trial ${id}; \`trialbed ps BATCH\` lists a batch's trials`);
  await requireNoVerdict(root, trial, batch);
  await requireContent(root, new Content(root.loadEnvironment), trial, batch, trial.agentHash);
  const state = await stateOf(root, trial, batch);
  const count = await countAt(temporal, trial, state.snapshot, to);
  const about = { trial: trial.id, point: nameOf(state.snapshot, count), calls: count };
  const running = await isRunning(root, trial.id);
  if (running && count === state.snapshot.operations.length && (await isWedged(temporal, trial.id))) {
    const event = /^\d+$/.test(to) ? Number(to) : null;
    const again = await resetByTemporal(temporal, trial.id, { event, reason: `trialbed reset --to ${to}` });
    if (again)
      return { ...about, how: 'temporal', ended: false, event: again.event, batch: batch.id, state: batch.state, attempt: trial.attempt, already: false };
  }
  requirePoint(trial, state.snapshot, count);
  const notes = await toldOf(root, trial, batch, { state, count });
  const source = { trial: trial.id, attempt: state.attempt };
  const snapshot = state.kept ?? `${trial.id}.${state.attempt}`;
  if (state.kept === null) await store.putSnapshot(snapshot, trial.id, state.attempt, JSON.parse(JSON.stringify(state.snapshot)));
  if (running) await endAttempt(root, trial, { wedged: await isWedged(temporal, trial.id), why: 'reset to an earlier point' });
  const origin = { source, calls: count, snapshot, notes: JSON.parse(JSON.stringify(notes)) };
  return { ...about, how: 'attempt', ended: running, event: null, ...(await store.requeue(trial.id, origin)) };
}

async function requireNoVerdict({ store }: Pick<Root, 'store'>, trial: TrialRow, batch: BatchRow): Promise<void> {
  if (trial.summary?.pass || (await store.record(trial.id, trial.attempt)))
    throw new PointRefusedError(
      trial.id,
      `trial ${trial.id} has a verdict, and is not begun again: \`trialbed fork ${trial.id} --at OPERATION\` makes a new trial of it`,
    );
  if (batch.state === 'cancelled' || batch.hold === 'cancelling')
    throw new PointRefusedError(
      trial.id,
      `batch ${batch.id} was cancelled, and nothing of it is run again: \`trialbed fork ${trial.id} --at OPERATION\` makes a new trial`,
    );
}
