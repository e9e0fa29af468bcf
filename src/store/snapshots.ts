import type { JsonObject } from '../domain/json.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
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

interface Row {
  readonly trial: string;
  readonly attempt: number;
  readonly body: JsonObject;
  readonly raw_mails: JsonObject['rawMails'] | null;
}
