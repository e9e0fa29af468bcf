import type { JsonObject } from '../domain/json.ts';
import type { TrialRecord } from '../domain/record.ts';
import type { RecordClass } from '../domain/retention.ts';
import type { Database, Sql } from './database.ts';
import { removeUnnamed } from './documents.ts';
import { placeOf } from './sealed-columns.ts';

/** What a class of record has, or had, that is older than it is to be kept. */
export interface PurgedClass {
  readonly class: RecordClass;
  /** Attempts; of `verdicts` batches. */
  readonly count: number;
}

interface Attempt {
  readonly trial: string;
  readonly attempt: number;
}

/** Nothing more is to come of the trial, so that nothing of it is needed. A trial that goes on from another's world needs that one's snapshot until it has ended itself. */
const OVER = `t.settled is not null and t.phase = 'done' and a.ended_at < $1`;

/** By class: attempts that have something of it to be removed. */
const OLD: { readonly [K in Exclude<RecordClass, 'verdicts'>]: string } = {
  snapshots: `exists (select 1 from trialbed.snapshots s where s.trial = a.trial and s.attempt = a.attempt and UNNEEDED)`,
  raw_mail: `exists (select 1 from trialbed.snapshots s where s.trial = a.trial and s.attempt = a.attempt and s.raw_mails::text is distinct from '[]' and UNNEEDED)`,
  conversation: `(exists (select 1 from trialbed.messages m where m.trial = a.trial and m.attempt = a.attempt)
    or exists (select 1 from trialbed.conversation c where c.trial = a.trial and c.attempt = a.attempt))`,
  ledger: `(exists (select 1 from trialbed.records r where r.trial = a.trial and r.attempt = a.attempt)
    or exists (select 1 from trialbed.approvals p where p.trial = a.trial and p.attempt = a.attempt)
    or exists (select 1 from trialbed.model_calls m where m.trial = a.trial and m.attempt = a.attempt))`,
};

const UNNEEDED = `not exists (select 1 from trialbed.origins o join trialbed.trials n on n.id = o.trial where o.snapshot = s.id and n.settled is null)`;

/** Removes what of a class ended before `cutoff`, an attempt (or batch) in a transaction, or with `dryRun` counts it. Nothing of a trial that may still run is touched. */
export async function purgeClass(database: Database, which: RecordClass, cutoff: Date, dryRun: boolean): Promise<PurgedClass> {
  if (which === 'verdicts') return { class: which, count: await purgeBatches(database, cutoff, dryRun) };
  const [known] = await database.query<{ origins: boolean }>("select to_regclass('trialbed.origins') is not null as origins");
  const old = OLD[which].replace('UNNEEDED', known?.origins ? UNNEEDED : 'true');
  const find = (sql: Sql, and = '', values: readonly unknown[] = []) =>
    sql.query<Attempt>(
      `select a.trial, a.attempt from trialbed.attempts a join trialbed.trials t on t.id = a.trial where ${OVER} and ${old} ${and} order by a.trial, a.attempt`,
      [cutoff, ...values],
    );
  const attempts = await find(database);
  if (dryRun) return { class: which, count: attempts.length };
  let count = 0;
  for (const { trial, attempt } of attempts) {
    await database.transaction(async (sql) => {
      // Whoever wants it run again waits, or was first.
      await sql.query('select 1 from trialbed.trials where id = $1 for update', [trial]);
      if ((await find(sql, 'and a.trial = $2 and a.attempt = $3', [trial, attempt])).length === 0) return;
      await REMOVE[which](sql, { trial, attempt });
      count += 1;
    });
  }
  return { class: which, count };
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

async function purgeBatches(database: Database, cutoff: Date, dryRun: boolean): Promise<number> {
  const over = `b.state in ('finished', 'cancelled') and b.finished_at < $1 and not exists (select 1 from trialbed.trials t where t.batch = b.id and t.phase <> 'done' and t.attempt > 0)`;
  const batches = await database.query<{ id: string }>(`select b.id from trialbed.batches b where ${over} order by b.id`, [cutoff]);
  if (dryRun) return batches.length;
  let count = 0;
  for (const { id } of batches) {
    await database.transaction(async (sql) => {
      if ((await sql.query(`select 1 from trialbed.batches b where ${over} and b.id = $2 for update`, [cutoff, id])).length === 0) return;
      const [known] = await sql.query<{ origins: boolean }>("select to_regclass('trialbed.origins') is not null as origins");
      if (known?.origins) {
        const needed = `select 1 from trialbed.snapshots s join trialbed.trials t on t.id = s.trial where t.batch = $1 and not (${UNNEEDED}) limit 1`;
        if ((await sql.query(needed, [id])).length > 0) return;
        await sql.query('delete from trialbed.origins where trial in (select id from trialbed.trials where batch = $1)', [id]);
      }
      for (const table of OF_A_TRIAL) await sql.query(`delete from trialbed.${table} where trial in (select id from trialbed.trials where batch = $1)`, [id]);
      await sql.query('delete from trialbed.trials where batch = $1', [id]);
      await sql.query('delete from trialbed.batches where id = $1', [id]);
      count += 1;
    });
  }
  await database.transaction((sql) => removeUnnamed(sql, cutoff));
  return count;
}
