import { createHash } from 'node:crypto';
import type { Message, TrialRecord } from '../domain/record.ts';
import type { TrialPhase, TrialSummary } from '../domain/trial.ts';
import type { Ending } from '../domain/verdict.ts';
import { forgetLive } from './forget-live.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';
import { summaryText } from './summaries.ts';
import { sqlState } from './errors.ts';
import { type AttemptRow, StoreConflictError } from './store.ts';

/** An attempt with a higher number than any before becomes the one that counts. */
export async function beginAttempt(sql: Sql, trial: string, attempt: number, startedAt: string, phase: TrialPhase = 'waiting'): Promise<void> {
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `with begun as (insert into trialbed.attempts (trial, attempt, started_at) values ($1, $2, $3) on conflict do nothing)
       update trialbed.trials set attempt = $2, phase = $4 where id = $1 and attempt < $2`,
      [trial, attempt, startedAt, phase],
    ),
  );
}

/** `phase`: what the attempt enters with it; null: it stays. */
export async function setAttemptWorld(
  sql: Sql,
  trial: string,
  attempt: number,
  world: { readonly id: string; readonly host: string },
  phase: TrialPhase | null = null,
): Promise<void> {
  const rows = await sql.query(
    `with entered as (update trialbed.trials set phase = $4 where id = $1 and attempt = $2 and phase <> 'done' and $4::text is not null)
     update trialbed.attempts set world = $3 where trial = $1 and attempt = $2 returning trial`,
    [trial, attempt, JSON.stringify({ id: world.id, host: world.host }), phase],
  );
  if (rows.length === 0) throw unknownAttempt(trial, attempt);
}

/** The same message of the same turn is kept once. */
export async function addMessage(sql: Sql, trial: string, attempt: number, message: Message): Promise<void> {
  const body = JSON.stringify(message);
  const digest = createHash('sha256').update(body).digest('hex');
  await ofAttempt(trial, attempt, () =>
    sql.query('insert into trialbed.messages (trial, attempt, turn, sender, body, digest) values ($1, $2, $3, $4, $5, $6) on conflict do nothing', [
      trial,
      attempt,
      message.turn,
      message.from,
      sql.sealing.sealedText(body, placeOf('messages', 'body', trial)),
      digest,
    ]),
  );
}

/** In the order in which they were added. */
export async function listMessages(sql: Sql, trial: string, attempt: number): Promise<readonly Message[]> {
  const rows = await sql.query<{ body: Message }>('select body from trialbed.messages where trial = $1 and attempt = $2 order by id', [trial, attempt]);
  return rows.map((row) => sql.sealing.open(row.body, placeOf('messages', 'body', trial)));
}

/** Needs a transaction where the record has a problem. */
export async function putRecord(sql: Sql, trial: string, attempt: number, record: TrialRecord): Promise<void> {
  const stored = await ofAttempt(trial, attempt, () =>
    sql.query('insert into trialbed.records (trial, attempt, body) values ($1, $2, $3) on conflict do nothing returning trial', [
      trial,
      attempt,
      sql.sealing.text(record, placeOf('records', 'body', trial)),
    ]),
  );
  if (stored.length === 0 || record.problem === null) return;
  await sql.query('update trialbed.attempts set problem = $3 where trial = $1 and attempt = $2', [
    trial,
    attempt,
    sql.sealing.text(record.problem, placeOf('attempts', 'problem', trial)),
  ]);
}

export async function findRecord(sql: Sql, trial: string, attempt: number): Promise<TrialRecord | null> {
  const [row] = await sql.query<{ body: TrialRecord }>('select body from trialbed.records where trial = $1 and attempt = $2', [trial, attempt]);
  return row === undefined ? null : sql.sealing.open(row.body, placeOf('records', 'body', trial));
}

export async function listAttempts(sql: Sql, trial: string): Promise<readonly AttemptRow[]> {
  const rows = await sql.query<Row>(
    `select a.trial, a.attempt, a.started_at, a.ended_at, a.ending, a.world, a.problem, a.attempt = t.attempt as counts
     from trialbed.attempts a join trialbed.trials t on t.id = a.trial where a.trial = $1 order by a.attempt`,
    [trial],
  );
  return rows.map((row) => ({
    trial: row.trial,
    attempt: row.attempt,
    ending: row.ending,
    counts: row.counts,
    problem: sql.sealing.open(row.problem, placeOf('attempts', 'problem', row.trial)),
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    world: row.world,
  }));
}

/**
 * Needs a transaction. The first end stands. An attempt that never came to begin (its first step failed) is recorded with its end.
 * Where there is no record to take the problem from, the summary's sentence stands for it. `settles`: no other attempt follows.
 */
export async function finishAttempt(
  sql: Sql,
  trial: string,
  attempt: number,
  summary: TrialSummary,
  { endedAt, settles }: { readonly endedAt: string; readonly settles: boolean },
): Promise<void> {
  const problem =
    summary.ending === 'completed' || summary.why === null
      ? null
      : sql.sealing.text({ code: summary.ending, message: summary.why }, placeOf('attempts', 'problem', trial));
  const end = () =>
    sql.query(
      `update trialbed.attempts set ending = $3, summary = $4, ended_at = $5, problem = coalesce(problem, $6::json)
       where trial = $1 and attempt = $2 and ended_at is null returning trial`,
      [trial, attempt, summary.ending, summaryText(sql, summary), endedAt, problem],
    );
  if ((await end()).length === 0) {
    await beginAttempt(sql, trial, attempt, endedAt);
    await end();
  }
  await sql.query(
    `update trialbed.trials set phase = 'done', settled = case when $3 then coalesce(settled, nextval('trialbed.settled_order')) end where id = $1 and attempt = $2`,
    [trial, attempt, settles],
  );
  await forgetLive(sql, trial, attempt);
}

/** Gives a violated foreign key its meaning. */
export async function ofAttempt<T>(trial: string, attempt: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) === '23503') throw unknownAttempt(trial, attempt, error);
    throw error;
  }
}

function unknownAttempt(trial: string, attempt: number, cause?: unknown): StoreConflictError {
  return new StoreConflictError(`the store has no attempt ${attempt} of trial ${trial}; create its batch and begin the attempt first`, { cause });
}

interface Row {
  readonly trial: string;
  readonly attempt: number;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly ending: Ending | null;
  readonly world: AttemptRow['world'];
  readonly problem: TrialRecord['problem'];
  readonly counts: boolean;
}
