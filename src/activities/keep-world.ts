import { WorldGoneError } from '../environments/world.ts';
import type { WorldAttempt } from './contract.ts';
import { snapshotId } from './finish-attempt.ts';
import type { ActivityServices } from './services.ts';

/**
 * Stores the snapshot of an attempt's world, and gives its id. Safe to repeat: where a killed worker had kept the world and given it back before it could say so, the
 * snapshot stands. @throws {WorldGoneError} where there is neither.
 */
export async function keepWorld({ store, worlds }: Pick<ActivityServices, 'store' | 'worlds'>, at: WorldAttempt): Promise<string> {
  const id = snapshotId(at);
  const world = await worlds.open(at.world).catch(async (error: unknown) => {
    if (error instanceof WorldGoneError && (await store.snapshot(id))) return null;
    throw error;
  });
  if (world === null) return id;
  const snapshot = await world.snapshot();
  await store.putSnapshot(id, at.trial, at.attempt, JSON.parse(JSON.stringify(snapshot)));
  return id;
}
