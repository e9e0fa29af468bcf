import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { StoreUnavailableError, storeError } from '../store/errors.ts';

/** As long as a trial's own steps are tried again. */
const PATIENCE_MS = 4 * 60_000;
const PAUSE_MS = 500;
const GRPC_DEADLINE_EXCEEDED = 4;
const GRPC_UNAVAILABLE = 14;

/**
 * Repeats what failed because PostgreSQL or Temporal is away for a moment, such as one that is restarted: a batch must not end for that, since its trials
 * go on by themselves. `work` must be safe to repeat. @throws what else it throws, or the last error after some minutes.
 */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || Date.now() > deadline) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

function isAway(error: unknown): boolean {
  if (error instanceof StoreUnavailableError || storeError('', error) instanceof StoreUnavailableError) return true;
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && (cause.code === GRPC_UNAVAILABLE || cause.code === GRPC_DEADLINE_EXCEEDED);
}
