import type { JsonObject } from '../domain/json.ts';
import type { Ending } from '../domain/verdict.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import { goingOn } from './origins.ts';
import { placeOf } from './sealed-columns.ts';

/** Raw mails lie beside the rest, since they may be kept for less long. */
export async function putSnapshot(sql: Sql, id: string, trial: string, attempt: number, { rawMails, ...body }: JsonObject): Promise<void> {
  await ofAttempt(trial, attempt, () =>
    sql.query('insert into trialbed.snapshots (id, trial, attempt, body, raw_mails) values ($1, $2, $3, $4, $5) on conflict (id) do nothing', [
      id,
      trial,
      attempt,
      sql.sealing.text(body, placeOf('snapshots', 'body', trial)),
      rawMails === undefined ? null : sql.sealing.text(rawMails, placeOf('snapshots', 'raw_mails', trial)),
    ]),
  );
}

export async function findSnapshot(sql: Sql, id: string): Promise<{ readonly trial: string; readonly attempt: number; readonly snapshot: JsonObject } | null> {
  const [row] = await sql.query<Row>('select trial, attempt, body, raw_mails from trialbed.snapshots where id = $1', [id]);
  if (row === undefined) return null;
  const body = sql.sealing.open(row.body, placeOf('snapshots', 'body', row.trial));
  const rawMails = sql.sealing.open(row.raw_mails, placeOf('snapshots', 'raw_mails', row.trial));
  return { trial: row.trial, attempt: row.attempt, snapshot: rawMails === null ? body : { ...body, rawMails } };
}

/** A snapshot without what is in it. */
export interface SnapshotRow {
  readonly id: string;
  readonly trial: string;
  readonly attempt: number;
  readonly batch: string;
  readonly case: string;
  readonly schedule: string;
  readonly agent: string;
  /** Null: the attempt has not ended. */
  readonly ending: Ending | null;
  readonly endedAt: string | null;
  /** As the store keeps it, compressed. */
  readonly bytes: number;
}

/** The newest first. */
export async function listSnapshots(
  sql: Sql,
  { batch, trial, limit = 1_000 }: { readonly batch?: string; readonly trial?: string; readonly limit?: number },
): Promise<readonly SnapshotRow[]> {
  const rows = await sql.query<Omit<SnapshotRow, 'endedAt'> & { endedAt: Date | null }>(
    `select s.id, s.trial, s.attempt, t.batch, t.case_id as "case", t.schedule, t.agent_name as agent, a.ending, a.ended_at as "endedAt",
       (pg_column_size(s.body) + coalesce(pg_column_size(s.raw_mails), 0))::int as bytes
     from trialbed.snapshots s join trialbed.trials t on t.id = s.trial join trialbed.attempts a on a.trial = s.trial and a.attempt = s.attempt
     where ($1::text is null or t.batch = $1) and ($2::text is null or s.trial = $2) order by a.ended_at desc nulls first, s.id desc limit $3`,
    [batch ?? null, trial ?? null, limit],
  );
  return rows.map((row) => ({ ...row, endedAt: row.endedAt?.toISOString() ?? null }));
}

/** What became of the wish that a snapshot is deleted. */
export interface DeletedSnapshot {
  /** `false`: there was none, or it is needed. */
  readonly deleted: boolean;
  /** Trials that go on from it and have not ended. Nothing was deleted where there are some. */
  readonly neededBy: readonly string[];
}

/** Needs a transaction. */
export async function deleteSnapshot(sql: Sql, id: string): Promise<DeletedSnapshot> {
  // Whoever lets a trial go on from it at this moment waits and then finds nothing, or was first.
  await sql.query('select 1 from trialbed.snapshots where id = $1 for update', [id]);
  const neededBy = (await sql.query<{ id: string }>(goingOn('o.snapshot = $1'), [id])).map((row) => row.id);
  if (neededBy.length > 0) return { deleted: false, neededBy };
  return { deleted: (await sql.query('delete from trialbed.snapshots where id = $1 returning id', [id])).length > 0, neededBy };
}

interface Row {
  readonly trial: string;
  readonly attempt: number;
  readonly body: JsonObject;
  readonly raw_mails: JsonObject['rawMails'] | null;
}
