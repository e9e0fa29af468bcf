import type { JsonObject } from '../domain/json.ts';
import type { TrialRecord } from '../domain/record.ts';
import type { RecordClass } from '../domain/retention.ts';
import type { Database, Sql } from './database.ts';
import { removeUnnamed } from './documents.ts';
import { goingOnFrom } from './origins.ts';
import { placeOf } from './sealed-columns.ts';

/** What a class of record has, or had, that is older than it is to be kept. */
export interface PurgedClass {
  readonly class: RecordClass;
  /** Attempts; of `verdicts` batches. */
  readonly count: number;
  /** Those of the same age that stay, since a trial that was forked or reset goes on from them and has not ended. */
  readonly needed: number;
}

interface Attempt {
  readonly trial: string;
  readonly attempt: number;
}

/** Nothing more is to come of the trial, so that it needs nothing of it itself. */
const OVER = `t.settled is not null and t.phase = 'done' and a.ended_at < $1`;

/** By class: attempts that have something of it to be removed. */
const OLD: { readonly [K in Exclude<RecordClass, 'verdicts'>]: string } = {
  snapshots: `exists (select 1 from trialbed.snapshots s where s.trial = a.trial and s.attempt = a.attempt)`,
  raw_mail: `exists (select 1 from trialbed.snapshots s where s.trial = a.trial and s.attempt = a.attempt and s.raw_mails::text is distinct from '[]')`,
  conversation: `(exists (select 1 from trialbed.messages m where m.trial = a.trial and m.attempt = a.attempt)
    or exists (select 1 from trialbed.conversation c where c.trial = a.trial and c.attempt = a.attempt)
    or exists (select 1 from trialbed.judgements j where j.trial = a.trial and j.attempt = a.attempt and (j.reason is not null or j.problem is not null))
    or exists (select 1 from trialbed.labels l where l.trial = a.trial and l.attempt = a.attempt and l.note is not null))`,
  ledger: `(exists (select 1 from trialbed.records r where r.trial = a.trial and r.attempt = a.attempt)
    or exists (select 1 from trialbed.approvals p where p.trial = a.trial and p.attempt = a.attempt)
    or exists (select 1 from trialbed.model_calls m where m.trial = a.trial and m.attempt = a.attempt))`,
};

/** Removes what of a class ended before `cutoff`, an attempt (or batch) in a transaction, or with `dryRun` counts it. Nothing of a trial that may still run is touched, nor what one goes on from. */
export async function purgeClass(database: Database, which: RecordClass, cutoff: Date, dryRun: boolean): Promise<PurgedClass> {
  if (which === 'verdicts') return { class: which, ...(await purgeBatches(database, cutoff, dryRun)) };
  const find = (sql: Sql, and = '', values: readonly unknown[] = []) =>
    sql.query<Attempt & { readonly needed: boolean }>(
      `select a.trial, a.attempt, exists (${goingOnFrom('a')}) as needed
       from trialbed.attempts a join trialbed.trials t on t.id = a.trial where ${OVER} and ${OLD[which]} ${and} order by a.trial, a.attempt`,
      [cutoff, ...values],
    );
  const found = await find(database);
  const attempts = found.filter(({ needed }) => !needed);
  const needed = found.length - attempts.length;
  if (dryRun) return { class: which, count: attempts.length, needed };
  let count = 0;
  for (const { trial, attempt } of attempts) {
    await database.transaction(async (sql) => {
      // Whoever wants it run again, or another to go on from it, waits, or was first.
      await sql.query('select 1 from trialbed.trials where id = $1 for update', [trial]);
      await sql.query('select 1 from trialbed.snapshots where trial = $1 and attempt = $2 order by id for update', [trial, attempt]);
      const [now] = await find(sql, 'and a.trial = $2 and a.attempt = $3', [trial, attempt]);
      if (now === undefined || now.needed) return;
      await REMOVE[which](sql, { trial, attempt });
      count += 1;
    });
  }
  return { class: which, count, needed };
}

const REMOVE: { readonly [K in Exclude<RecordClass, 'verdicts'>]: (sql: Sql, at: Attempt) => Promise<void> } = {
  async snapshots(sql, { trial, attempt }) {
    await sql.query('delete from trialbed.snapshots where trial = $1 and attempt = $2', [trial, attempt]);
  },
  async raw_mail(sql, { trial, attempt }) {
    const rows = await sql.query<{ id: string; body: JsonObject }>('select id, body from trialbed.snapshots where trial = $1 and attempt = $2', [
      trial,
      attempt,
    ]);
    for (const { id, body } of rows) {
      // Before they lay apart, they lay in it.
      const { rawMails: _, ...rest } = sql.sealing.open(body, placeOf('snapshots', 'body', trial));
      await sql.query(`update trialbed.snapshots set body = $2, raw_mails = '[]' where id = $1`, [
        id,
        sql.sealing.text(rest, placeOf('snapshots', 'body', trial)),
      ]);
    }
  },
  async conversation(sql, { trial, attempt }) {
    for (const table of ['messages', 'conversation']) await sql.query(`delete from trialbed.${table} where trial = $1 and attempt = $2`, [trial, attempt]);
    // What raters wrote quotes what was said; their categories stay.
    await sql.query('update trialbed.judgements set reason = null, problem = null where trial = $1 and attempt = $2', [trial, attempt]);
    await sql.query('update trialbed.labels set note = null where trial = $1 and attempt = $2', [trial, attempt]);
    const [row] = await sql.query<{ body: TrialRecord }>('select body from trialbed.records where trial = $1 and attempt = $2', [trial, attempt]);
    if (row === undefined) return;
    const { handOvers: _, ...record } = sql.sealing.open(row.body, placeOf('records', 'body', trial));
    const removed = new Set(record.removed).add('conversation');
    const left: TrialRecord = { ...record, messages: [], removed: [...removed] };
    await sql.query('update trialbed.records set body = $3 where trial = $1 and attempt = $2', [
      trial,
      attempt,
      sql.sealing.text(left, placeOf('records', 'body', trial)),
    ]);
  },
  async ledger(sql, { trial, attempt }) {
    for (const table of ['records', 'approvals', 'model_calls', 'gateway_calls', 'late_requests'])
      await sql.query(`delete from trialbed.${table} where trial = $1 and attempt = $2`, [trial, attempt]);
  },
};

/** Of the trials of a batch, in the order in which they refer to each other. */
const OF_A_TRIAL = [
  'judgements',
  'labels',
  'origins',
  'snapshots',
  'verdicts',
  'records',
  'messages',
  'conversation',
  'model_calls',
  'approvals',
  'open_turns',
  'gateway_tokens',
  'gateway_calls',
  'late_requests',
  'attempts',
];

async function purgeBatches(database: Database, cutoff: Date, dryRun: boolean): Promise<Pick<PurgedClass, 'count' | 'needed'>> {
  const find = (sql: Sql, and = '', values: readonly unknown[] = []) =>
    sql.query<{ readonly id: string; readonly needed: boolean }>(
      `select b.id, exists (select 1 from trialbed.attempts a join trialbed.trials t on t.id = a.trial where t.batch = b.id and exists (${goingOnFrom('a')})) as needed
       from trialbed.batches b where b.state in ('finished', 'cancelled') and b.finished_at < $1
         and not exists (select 1 from trialbed.trials t where t.batch = b.id and t.phase <> 'done' and t.attempt > 0) ${and} order by b.id`,
      [cutoff, ...values],
    );
  const found = await find(database);
  const batches = found.filter(({ needed }) => !needed);
  const needed = found.length - batches.length;
  if (dryRun) return { count: batches.length, needed };
  let count = 0;
  for (const { id } of batches) {
    await database.transaction(async (sql) => {
      await sql.query('select 1 from trialbed.batches where id = $1 for update', [id]);
      await sql.query('select 1 from trialbed.snapshots s join trialbed.trials t on t.id = s.trial where t.batch = $1 order by s.id for update of s', [id]);
      const [now] = await find(sql, 'and b.id = $2', [id]);
      if (now === undefined || now.needed) return;
      for (const table of OF_A_TRIAL) await sql.query(`delete from trialbed.${table} where trial in (select id from trialbed.trials where batch = $1)`, [id]);
      await sql.query('delete from trialbed.trials where batch = $1', [id]);
      await sql.query('delete from trialbed.batches where id = $1', [id]);
      count += 1;
    });
  }
  await database.transaction((sql) => removeUnnamed(sql, cutoff));
  return { count, needed };
}
