import type { Money } from '../domain/model.ts';
import type { BatchHold, TrialSummary } from '../domain/trial.ts';
import { finishAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import type { BatchOptions, BatchState, LaunchableTrial, ReopenOptions, SettledTrial } from './store.ts';
import { StoreConflictError } from './store.ts';
import { trialColumns, type TrialColumns, trialOf } from './trials.ts';

/** What decides whether a batch may launch. */
export interface BatchStanding {
  readonly state: BatchState;
  readonly hold: BatchHold | null;
  readonly maxCost: Money | null;
  readonly suite: string;
  readonly options: BatchOptions;
}

export async function standingOf(sql: Sql, batch: string): Promise<BatchStanding | null> {
  const [row] = await sql.query<{ state: BatchState; hold: BatchHold | null; max_cost: Money | null; suite: string; options: BatchOptions }>(
    'select state, hold, max_cost, suite, options from trialbed.batches where id = $1',
    [batch],
  );
  return row === undefined ? null : { state: row.state, hold: row.hold, maxCost: row.max_cost, suite: row.suite, options: row.options };
}

/**
 * Needs a transaction: a batch that comes to its end at the same moment is waited for. What a trouble of the harness or a cancellation ended is open again.
 *
 * @throws {StoreConflictError} when there is no such batch, or it has ended.
 */
export async function reopenBatch(sql: Sql, batch: string, { options, maxCost }: ReopenOptions): Promise<void> {
  const [row] = await sql.query<{ state: BatchState; hold: BatchHold | null }>('select state, hold from trialbed.batches where id = $1 for update', [batch]);
  if (!row) throw new StoreConflictError(`there is no batch ${batch}`);
  const ended = row.hold === 'cancelling' ? 'being cancelled' : row.state === 'finished' || row.state === 'cancelled' ? row.state : null;
  if (ended !== null) throw new StoreConflictError(`batch ${batch} is ${ended} and stays so; start a new batch instead`);
  await sql.query(`update trialbed.batches set state = 'running', max_cost = $2, options = (options::jsonb || $3::jsonb)::json where id = $1`, [
    batch,
    maxCost === null ? null : JSON.stringify(maxCost),
    JSON.stringify({ concurrency: options.concurrency, priority: options.priority, gates: options.gates, allowMisses: options.allowMisses }),
  ]);
  await sql.query(
    `update trialbed.trials t set settled = null, claimed_by = null from trialbed.attempts a
     where t.batch = $1 and t.settled is not null and a.trial = t.id and a.attempt = t.attempt and a.ending in ('infra_error', 'cancelled')`,
    [batch],
  );
}

export async function setControl(
  sql: Sql,
  batch: string,
  { hold, concurrency, priority }: { readonly hold?: BatchHold | null; readonly concurrency?: number; readonly priority?: number },
): Promise<void> {
  if (hold !== undefined) await sql.query('update trialbed.batches set hold = $2 where id = $1', [batch, hold]);
  if (concurrency !== undefined || priority !== undefined)
    await sql.query('update trialbed.batches set options = (options::jsonb || $2::jsonb)::json where id = $1', [
      batch,
      JSON.stringify({ concurrency, priority }),
    ]);
}

/** Gives up who has launched what, for a workflow that begins without knowing it. */
export async function releaseClaims(sql: Sql, batch: string): Promise<void> {
  await sql.query('update trialbed.trials set claimed_by = null where batch = $1 and settled is null and claimed_by is not null', [batch]);
}

/**
 * The next trials of the manifest that nobody has launched, now launched by `claimant`. What it claimed before and does not know of (its reply was lost) comes again.
 * `begun`: only those that have an attempt already.
 */
export async function claimTrials(
  sql: Sql,
  batch: string,
  request: { readonly claimant: string; readonly known: readonly string[]; readonly limit: number; readonly begun: boolean },
): Promise<readonly LaunchableTrial[]> {
  const rows = await sql.query<TrialColumns & { ordinal: number }>(
    `with next as (
       select id from trialbed.trials
       where batch = $1 and settled is null and (claimed_by is null or (claimed_by = $2 and id <> all ($3::text[]))) and ($5 = false or attempt > 0)
       order by ordinal limit $4 for update skip locked)
     update trialbed.trials t set claimed_by = $2 from next where t.id = next.id
     returning ${trialColumns('t')}, t.ordinal`,
    [batch, request.claimant, request.known, request.limit, request.begun],
  );
  return rows.toSorted((a, b) => a.ordinal - b.ordinal).map((row) => ({ ...trialOf(sql, { ...row, summary: null }) }));
}

/** Those of the trials of which nothing more is to come. */
export async function settledAmong(sql: Sql, trials: readonly string[]): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>('select id from trialbed.trials where id = any ($1::text[]) and settled is not null', [trials]);
  return rows.map(({ id }) => id);
}

export async function settle(sql: Sql, trials: readonly string[]): Promise<void> {
  await sql.query(`update trialbed.trials set settled = nextval('trialbed.settled_order') where id = any ($1::text[]) and settled is null`, [trials]);
}

/** Ends a trial that has not begun, so that it is never launched. Needs a transaction. */
export async function cancelWaiting(sql: Sql, trial: string, summary: TrialSummary, now: Date): Promise<void> {
  const waiting = await sql.query('select 1 from trialbed.trials where id = $1 and attempt = 0 and settled is null for update', [trial]);
  if (waiting.length > 0) await finishAttempt(sql, trial, 1, summary, { endedAt: now.toISOString(), settles: true });
}

/** Ends a batch of which every trial is settled; `false`: one is not. Needs a transaction. */
export async function finishBatch(sql: Sql, batch: string, now: Date): Promise<boolean> {
  await sql.query('select 1 from trialbed.batches where id = $1 for update', [batch]);
  const open = await sql.query('select 1 from trialbed.trials where batch = $1 and settled is null limit 1', [batch]);
  if (open.length > 0) return false;
  await sql.query(`update trialbed.batches set state = 'finished', hold = null, finished_at = $2 where id = $1 and state in ('running', 'interrupted')`, [
    batch,
    now,
  ]);
  return true;
}

/** Places of a batch's trials in the order of settling, all of them. */
export async function settledPlaces(sql: Sql, batch: string): Promise<readonly number[]> {
  const rows = await sql.query<{ place: number }>('select settled::float8 as place from trialbed.trials where batch = $1 and settled is not null', [batch]);
  return rows.map(({ place }) => place);
}

/** Trials that settled after a place, without those that are known, in order. */
export async function settledAfter(sql: Sql, batch: string, after: number, known: readonly number[]): Promise<readonly SettledTrial[]> {
  const rows = await sql.query<TrialColumns & { place: number }>(
    `select ${trialColumns('t')}, a.summary, t.settled::float8 as place
     from trialbed.trials t left join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
     where t.batch = $1 and t.settled > $2 and t.settled <> all ($3::bigint[]) order by t.settled`,
    [batch, after, known],
  );
  return rows.map((row) => ({ place: row.place, trial: trialOf(sql, row) }));
}
