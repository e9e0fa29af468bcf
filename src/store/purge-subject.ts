import { createHash } from 'node:crypto';
import type { Json } from '../domain/json.ts';
import type { TrialRecord } from '../domain/record.ts';
import { namesAddress, REMOVED, withoutSubject } from '../domain/without-subject.ts';
import type { Database, Sql } from './database.ts';
import { goingOnFrom } from './origins.ts';
import { placeOf, SEALED_COLUMNS, type SealedTable } from './sealed-columns.ts';

/** What the store had of one person. */
export interface SubjectPurge {
  /** By table: values that were changed, or are to be; of `snapshots` those that were deleted. */
  readonly values: { readonly [table: string]: number };
  /** Trials that are concerned. Their histories in Temporal are another matter. */
  readonly trials: readonly string[];
  /** Trials that run and have something of the person, or go on from an attempt that has: both were left alone, and are looked at again once they have ended. */
  readonly running: readonly string[];
  /** Case files that name the address. They came from a suite, and stay as they are. */
  readonly cases: readonly string[];
}

const STEP = 100;

/**
 * Removes what the store has of the person with a mail address, a few rows in a transaction, or with `dryRun` tells it. Trials that may still run are left alone, and so is
 * what they go on from.
 */
export async function purgeSubject(database: Database, address: string, dryRun: boolean): Promise<SubjectPurge> {
  const names = namesAddress(address);
  const values: { [table: string]: number } = {};
  const trials = new Set<string>();
  const running = new Set<string>();
  for (const table of Object.keys(SEALED_COLUMNS) as SealedTable[]) {
    for (const column of SEALED_COLUMNS[table]) {
      for (let after: string | null = '(0,0)'; after !== null; ) {
        const from: string = after;
        after = await database.transaction((sql) => step(sql, table, column, from));
      }
    }
  }
  const late = await database.query<{ id: string; trial: string; over: boolean; detail: string }>(
    `select l.id, l.trial, t.settled is not null and t.phase = 'done' as over, l.detail from trialbed.late_requests l join trialbed.trials t on t.id = l.trial
     where strpos(lower(l.detail), lower($1)) > 0`,
    [address],
  );
  for (const { id, trial, over, detail } of late.filter((row) => names(row.detail))) {
    if (!over) {
      running.add(trial);
      continue;
    }
    note('late_requests', trial);
    if (!dryRun) await database.query('update trialbed.late_requests set detail = $2 where id = $1 and detail = $3', [id, REMOVED, detail]);
  }
  if (!dryRun)
    await database.query(
      `update trialbed.audit set detail = case when strpos(lower(detail), lower($1)) > 0 then $2 else detail end, problem = case when strpos(lower(problem), lower($1)) > 0 then $2 else problem end
       where strpos(lower(coalesce(detail, '') || coalesce(problem, '')), lower($1)) > 0`,
      [address, REMOVED],
    );
  const cases = await database.query<{ id: string; body: Json }>('select case_id as id, body from trialbed.cases');
  const named = cases.filter(({ body }) => names(JSON.stringify(body))).map(({ id }) => id);
  return { values, trials: [...trials].sort(), running: [...running].sort(), cases: [...new Set(named)].sort() };

  function note(table: string, trial: string): void {
    values[table] = (values[table] ?? 0) + 1;
    trials.add(trial);
  }

  async function step(sql: Sql, table: SealedTable, column: string, after: string): Promise<string | null> {
    const place = (trial: string) => placeOf(table, column as never, trial);
    // Nothing goes on from what is played on a cassette; its rows are of no attempt, and gone with the trial.
    const neededFrom = table === 'cassette_operations' ? 'null::text' : `(${goingOnFrom('v')} limit 1)`;
    const rows = await sql.query<{ place: string; trial: string; over: boolean; needed_by: string | null; value: Json }>(
      `select v.ctid::text as place, v.trial, t.settled is not null and t.phase = 'done' as over, ${neededFrom} as needed_by, v.${column} as value
       from trialbed.${table} v join trialbed.trials t on t.id = v.trial
       where v.ctid > $1::tid and v.${column} is not null order by v.ctid limit ${STEP} for update of v`,
      [after],
    );
    for (const { place: at, trial, over, needed_by: neededBy, value } of rows) {
      const changed = without(sql, table, column, value, place(trial));
      if (changed === null) continue;
      if (!over) running.add(trial);
      if (neededBy !== null) running.add(neededBy);
      if (!over || neededBy !== null) continue;
      // Asked again, now that whoever wants a trial to go on from it waits.
      if (table === 'snapshots' && !dryRun) {
        const gone = await sql.query(`delete from trialbed.snapshots v where v.ctid = $1::tid and not exists (${goingOnFrom('v')}) returning 1`, [at]);
        if (gone.length === 0) continue;
      }
      note(table, trial);
      if (dryRun || table === 'snapshots') continue;
      if (table === 'messages')
        // Two that say nothing any more are still two.
        await sql.query(`update trialbed.messages set body = $2, digest = $3 where ctid = $1::tid`, [
          at,
          changed,
          createHash('sha256').update(`${at} removed`).digest('hex'),
        ]);
      else await sql.query(`update trialbed.${table} set ${column} = $2 where ctid = $1::tid`, [at, changed]);
    }
    return rows.length < STEP ? null : (rows.at(-1)?.place ?? null);
  }

  /** Null: it has nothing of the person. */
  function without({ sealing }: Sql, table: SealedTable, column: string, stored: Json, place: string): string | null {
    if (column === 'summary') {
      const summary = stored as { readonly why: Json };
      const why = sealing.open(summary.why, place);
      return typeof why === 'string' && names(why) ? JSON.stringify({ ...summary, why: JSON.parse(sealing.text(REMOVED, place)) }) : null;
    }
    const value = sealing.open(stored, place);
    const clear = column === 'subject' ? { people: (value as { readonly people?: Json }).people } : {};
    if (column === 'raw_mails')
      return (value as readonly { readonly raw: string }[]).some(({ raw }) => names(Buffer.from(raw, 'base64').toString())) ? '[]' : null;
    const left = withoutSubject(value, names);
    if (left === null) return null;
    const marked =
      table === 'records'
        ? { ...(left as object), removed: [...new Set((value as unknown as Pick<TrialRecord, 'removed'>).removed ?? []).add('subject')] }
        : left;
    return sealing.text(marked, place, clear);
  }
}
