import type { JsonObject } from '../domain/json.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';
import type { Origin } from './store.ts';

/** A later one of the same attempt takes the place of one from which nothing has begun. */
export async function putOrigin(sql: Sql, { trial, attempt, source, calls, snapshot, notes }: Origin): Promise<void> {
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
