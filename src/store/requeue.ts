import type { Sql } from './database.ts';
import { putOrigin } from './origins.ts';
import { type BatchState, type Origin, StoreConflictError } from './store.ts';

/** What became of the wish that a trial is run again. */
export interface Requeued {
  readonly batch: string;
  /** State of the batch now: one that was finished is interrupted, until somebody goes on with it. */
  readonly state: BatchState;
  /** Number of the newest attempt that there was. */
  readonly attempt: number;
  /** It was to be run again already. */
  readonly already: boolean;
}

/** Needs a transaction. Opens a trial that has ended, so that its batch launches it once more; the attempt that ended stays. @throws {StoreConflictError} */
export async function requeueTrial(sql: Sql, trial: string, origin: Omit<Origin, 'trial' | 'attempt'> | null = null): Promise<Requeued> {
  const [batch] = await sql.query<{ id: string; state: BatchState; hold: string | null }>(
    'select b.id, b.state, b.hold from trialbed.batches b join trialbed.trials t on t.batch = b.id where t.id = $1 for update of b',
    [trial],
  );
  if (!batch) throw new StoreConflictError(`there is no trial ${trial}`);
  if (batch.state === 'cancelled' || batch.hold === 'cancelling')
    throw new StoreConflictError(`batch ${batch.id} was cancelled, and nothing of it is run again; start a new batch instead`);
  const [row] = await sql.query<{ attempt: number; settled: boolean }>(
    'select attempt, settled is not null as settled from trialbed.trials where id = $1 for update',
    [trial],
  );
  const attempt = row?.attempt ?? 0;
  if (origin) await putOrigin(sql, { ...origin, trial, attempt: attempt + 1 });
  if (!row?.settled) return { batch: batch.id, state: batch.state, attempt, already: true };
  await sql.query('update trialbed.trials set settled = null, claimed_by = null where id = $1', [trial]);
  if (batch.state !== 'finished') return { batch: batch.id, state: batch.state, attempt, already: false };
  await sql.query(`update trialbed.batches set state = 'interrupted', finished_at = null where id = $1`, [batch.id]);
  return { batch: batch.id, state: 'interrupted', attempt, already: false };
}
