import { ApplicationFailure } from '@temporalio/common';
import type { LeaseRequest, LoadedEnvironment, WorldRef, WorldSnapshot } from '../environments/world.ts';
import { snapshotAt, withoutRules } from '../environments/worlds/snapshot-at.ts';
import type { Origin } from '../store/store.ts';
import type { AttemptRef, OperationNote } from './contract.ts';
import type { ActivityServices } from './services.ts';
import type { TrialContext } from './trial-context.ts';

/** Type of the failure of an attempt that cannot go on from where it was to; no other attempt could. */
export const ORIGIN_MISSING = 'OriginMissing';

/** From where an attempt goes on; null: it begins anew. Asked of the store only where it may: for a fork, or where the trial had an attempt before. */
export async function originOf(
  { store }: Pick<ActivityServices, 'store'>,
  { batch }: Pick<TrialContext, 'batch'>,
  { trial, attempt }: AttemptRef,
): Promise<Origin | null> {
  return batch.options.fork || attempt > 1 ? store.origin(trial, attempt) : null;
}

/** Makes the world of an attempt as it was where the attempt goes on from, under its own owner. Idempotent, as provisioning is. @throws {ApplicationFailure} {@link ORIGIN_MISSING} */
export async function restoreOrigin(
  { store, worlds }: Pick<ActivityServices, 'store' | 'worlds'>,
  origin: Origin,
  pack: LoadedEnvironment,
  request: LeaseRequest,
): Promise<WorldRef> {
  const stored = await store.snapshot(origin.snapshot);
  if (!stored) throw missing(`snapshot ${origin.snapshot}, from which this trial was to go on, is not in the store any more; fork or reset the trial again`);
  const [mine, theirs] = await Promise.all([store.trial(origin.trial), store.trial(origin.source.trial)]);
  const then = snapshotAt(stored.snapshot as unknown as WorldSnapshot, origin.calls);
  const world = await worlds.restore(pack, mine?.scheduleHash === theirs?.scheduleHash ? then : withoutRules(then), request);
  const { source, trial, attempt, notes } = origin;
  await store.copyApprovals(
    source,
    { trial, attempt },
    notes.map(({ id }) => String(id)),
  );
  return world;
}

/** What the agent was told of one of the recorded calls. @throws {ApplicationFailure} {@link ORIGIN_MISSING} */
export async function recallCall(
  { store }: Pick<ActivityServices, 'store'>,
  { trial, attempt, operation }: AttemptRef & { readonly operation: string },
): Promise<OperationNote> {
  const note = (await store.origin(trial, attempt))?.notes.find(({ id }) => id === operation);
  if (!note) throw missing(`what was told of ${operation} where this trial goes on from is not in the store`);
  return note as unknown as OperationNote;
}

function missing(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, ORIGIN_MISSING);
}
