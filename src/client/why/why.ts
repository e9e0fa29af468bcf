import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchWhy, TrialWhy, WhyEvidence } from '../../domain/why.ts';
import { NotFoundError } from '../api.ts';
import { whyBatch } from './why-batch.ts';
import { batchFacts, type Looking } from './batch-facts.ts';
import { explainTrial } from './explain-trial.ts';
import { lockEvidence } from './evidence.ts';
import { heldLocks } from './held-locks.ts';
import { soon } from './soon.ts';
import { trialFacts } from './trial-facts.ts';

/**
 * What a trial or a batch waits for, by the id of a batch, or that of a trial or the beginning of it that only this trial has. Answers within two seconds where the store does, whatever
 * else is stuck or away: nothing is asked of what may be wedged, and every question has its time. @throws {NotFoundError}
 * @throws {StoreLockedError} where the store itself cannot be read
 */
export async function why(looking: Looking, id: string): Promise<TrialWhy | BatchWhy> {
  const { store } = looking.root;
  const { batch, trial, own } = await unlessLocked(looking, async () => {
    const batch = await store.batch(id);
    const trial = batch ? null : await store.trial(id);
    return { batch, trial, own: trial && (await store.batch(trial.batch)) };
  });
  if (batch) return whyBatch(looking, batch);
  if (!trial || !own) throw new NotFoundError(`there is no batch or trial ${id}; \`trialbed ps\` lists batches, \`trialbed ps BATCH\` a batch's trials`);
  return explainTrial(await trialFacts(looking, trial, batchFacts(looking, own)));
}

/** Another session holds a lock on tables of the store, so that nothing can be read of a trial, and no trial goes on. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError';
  readonly code = 'store_locked';
  readonly lock: Extract<WhyEvidence, { kind: 'lock' }>;

  constructor(lock: StoreLockedError['lock']) {
    super(`the store waits for a lock, and so does every trial: ${lock.text}; end that transaction, or its session, then ask again`);
    this.lock = lock;
  }
}

/** Reads the store; where that takes long, looks whether a lock is to blame, which the catalogue tells. @throws {StoreLockedError} @throws what `read` threw */
async function unlessLocked<T>({ root: { store }, patienceMs, now }: Looking, read: () => Promise<T>): Promise<T> {
  const reading = read();
  // Whoever it is too late for has gone on.
  reading.catch(() => undefined);
  const late = Symbol('late');
  const first = await Promise.race([reading, sleep(patienceMs, late, { ref: false })]);
  if (first !== late) return first as T;
  const { value: locks } = await soon(patienceMs, () => store.lockWaits());
  const [lock] = heldLocks(
    now(),
    (locks ?? []).map((one) => ({ ...one, server: 'the store' })),
  );
  if (lock) throw new StoreLockedError(lockEvidence(now(), lock));
  return await reading;
}
