import type { JsonObject } from '../domain/json.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';
import { type Origin, StoreConflictError } from './store.ts';

/**
 * Needs a transaction. A later one of the same attempt takes the place of one from which nothing has begun.
 *
 * @throws {StoreConflictError} when the snapshot has been deleted meanwhile
 */
export async function putOrigin(sql: Sql, { trial, attempt, source, calls, snapshot, notes }: Origin): Promise<void> {
  // Whoever deletes it at this moment waits and then finds that it is needed, or was first.
  const there = await sql.query('select 1 from trialbed.snapshots where id = $1 for key share', [snapshot]);
  if (there.length === 0) throw new StoreConflictError(`snapshot ${snapshot} was deleted meanwhile, so nothing can go on from it; nothing was changed`);
  await sql.query(
    `insert into trialbed.origins (trial, attempt, source_trial, source_attempt, calls, snapshot, notes) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (trial, attempt) do update set source_trial = $3, source_attempt = $4, calls = $5, snapshot = $6, notes = $7, made_at = now()`,
    [trial, attempt, source.trial, source.attempt, calls, snapshot, sql.sealing.text(notes, placeOf('origins', 'notes', trial))],
  );
}

/** From where an attempt goes on: its own origin, or the newest of those before it. */
export async function findOrigin(sql: Sql, trial: string, attempt: number): Promise<Origin | null> {
  const [row] = await sql.query<{ source_trial: string; source_attempt: number; calls: number; snapshot: string; notes: readonly JsonObject[] }>(
    'select source_trial, source_attempt, calls, snapshot, notes from trialbed.origins where trial = $1 and attempt <= $2 order by attempt desc limit 1',
    [trial, attempt],
  );
  if (!row) return null;
  return {
    trial,
    attempt,
    source: { trial: row.source_trial, attempt: row.source_attempt },
    calls: row.calls,
    snapshot: row.snapshot,
    notes: sql.sealing.open(row.notes, placeOf('origins', 'notes', trial)),
  };
}

/**
 * SQL that gives the ids of trials which are to come to an end yet and go on from what `condition` says of the origin `o`: until then they need its snapshot, with each
 * further attempt anew, and what was said there. What a cancelled batch never began does not count.
 */
export function goingOn(condition: string): string {
  return `select n.id from trialbed.origins o join trialbed.trials n on n.id = o.trial join trialbed.batches nb on nb.id = n.batch
    where ${condition} and n.settled is null and not (nb.state = 'cancelled' and (n.attempt = 0 or n.phase = 'done')) order by n.id`;
}

/** The same of the attempt that a row under this name is of. */
export function goingOnFrom(row: string): string {
  return goingOn(`o.source_trial = ${row}.trial and o.source_attempt = ${row}.attempt`);
}
