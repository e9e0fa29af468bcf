import type { Money } from '../domain/model.ts';
import type { BatchHold } from '../domain/trial.ts';
import type { Sql } from './database.ts';
import { sqlState } from './errors.ts';
import { putOrigin } from './origins.ts';
import { type BatchPlan, type BatchRow, type BatchState, StoreConflictError } from './store.ts';

/**
 * Needs a transaction. Of two callers with one id the second waits for the first and then compares.
 *
 * @throws {StoreConflictError} when the id exists with another manifest, a trial's id is taken, or a document is missing.
 */
export async function createBatch(sql: Sql, plan: BatchPlan, createdAt: Date): Promise<void> {
  const made = await sql.query(
    `insert into trialbed.batches (id, suite, suite_file, manifest_hash, environment, seed, options, sources, created_at, labels)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (id) do nothing returning id`,
    [
      plan.id,
      plan.suite,
      plan.suiteFile,
      plan.manifestHash,
      JSON.stringify(plan.environment),
      plan.seed,
      JSON.stringify(plan.options),
      JSON.stringify(plan.sources),
      createdAt,
      plan.labels ? JSON.stringify(plan.labels) : null,
    ],
  );
  if (made.length === 0) {
    const [existing] = await sql.query<{ manifest_hash: string }>('select manifest_hash from trialbed.batches where id = $1', [plan.id]);
    if (existing?.manifest_hash === plan.manifestHash) return;
    throw new StoreConflictError(`batch ${plan.id} exists with another manifest; start a new batch under an id of its own`);
  }
  try {
    await sql.query(
      `insert into trialbed.trials (batch, ordinal, id, case_id, case_hash, agent_name, agent_hash, schedule, schedule_hash, repetition)
       select $1, ordinality, id, case_id, case_hash, agent_name, agent_hash, schedule, schedule_hash, repetition
       from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[]) with ordinality
         as plan (id, case_id, case_hash, agent_name, agent_hash, schedule, schedule_hash, repetition, ordinality)`,
      [
        plan.id,
        plan.trials.map((trial) => trial.id),
        plan.trials.map((trial) => trial.caseId),
        plan.trials.map((trial) => trial.caseHash),
        plan.trials.map((trial) => trial.agentName),
        plan.trials.map((trial) => trial.agentHash),
        plan.trials.map((trial) => trial.schedule),
        plan.trials.map((trial) => trial.scheduleHash),
        plan.trials.map((trial) => trial.repetition),
      ],
    );
    if (plan.origin) await putOrigin(sql, plan.origin);
  } catch (error) {
    const detail = error instanceof Error && 'detail' in error ? `: ${String(error.detail)}` : '';
    if (sqlState(error) === '23505') throw new StoreConflictError(`batch ${plan.id} names a trial that exists already${detail}`, { cause: error });
    if (sqlState(error) === '23503') {
      throw new StoreConflictError(`batch ${plan.id} names a case, agent or schedule whose document is not stored; call putDocuments first${detail}`, {
        cause: error,
      });
    }
    throw error;
  }
}

export async function findBatch(sql: Sql, id: string): Promise<BatchRow | null> {
  const [row] = await sql.query<Row>(`${SELECT} where b.id = $1`, [id]);
  return row === undefined ? null : batchOf(row);
}

/** Newest first. */
export async function listBatches(
  sql: Sql,
  filter: { readonly state?: BatchState; readonly suite?: string; readonly limit?: number },
): Promise<readonly BatchRow[]> {
  const rows = await sql.query<Row>(
    `${SELECT} where ($1::text is null or b.state = $1) and ($2::text is null or b.suite = $2) order by b.created_at desc, b.id desc limit $3`,
    [filter.state ?? null, filter.suite ?? null, filter.limit ?? null],
  );
  return rows.map(batchOf);
}

/** A cancelled batch counts as finished: nobody asked for the rest of it. */
export async function unfinishedBatch(sql: Sql, manifestHash: string): Promise<BatchRow | null> {
  const [row] = await sql.query<Row>(
    `${SELECT} where b.manifest_hash = $1 and b.state in ('running', 'interrupted') and b.hold is distinct from 'cancelling' order by b.created_at desc, b.id desc limit 1`,
    [manifestHash],
  );
  return row === undefined ? null : batchOf(row);
}

/** @throws {StoreConflictError} when there is no such batch, or it has ended and should get another state. */
export async function setBatchState(sql: Sql, id: string, state: BatchState, now: Date): Promise<void> {
  const changed = await sql.query(
    `update trialbed.batches set state = $2, hold = case when $2 in ('running', 'interrupted') then hold end, finished_at = case when $2 in ('finished', 'cancelled') then coalesce(finished_at, $3::timestamptz) end
     where id = $1 and (state = $2 or state in ('running', 'interrupted')) returning id`,
    [id, state, now],
  );
  if (changed.length > 0) return;
  const batch = await findBatch(sql, id);
  if (batch === null) throw new StoreConflictError(`there is no batch ${id}`);
  throw new StoreConflictError(`batch ${id} is ${batch.state} and stays so; start a new batch instead`);
}

interface Row {
  readonly id: string;
  readonly suite: string;
  readonly suite_file: string;
  readonly manifest_hash: string;
  readonly state: BatchState;
  readonly hold: BatchHold | null;
  readonly max_cost: Money | null;
  readonly environment: BatchRow['environment'];
  readonly seed: string;
  readonly options: BatchRow['options'];
  readonly sources: BatchRow['sources'];
  readonly created_at: Date;
  readonly finished_at: Date | null;
  readonly trials: number;
  readonly done: number;
}

const SELECT = `
  select b.id, b.suite, b.suite_file, b.manifest_hash, b.state, b.hold, b.max_cost, b.environment, b.seed, b.options, b.sources, b.created_at, b.finished_at,
    (select count(*)::int from trialbed.trials t where t.batch = b.id) as trials,
    (select count(*)::int from trialbed.trials t where t.batch = b.id and t.phase = 'done' and t.settled is not null) as done
  from trialbed.batches b`;

function batchOf(row: Row): BatchRow {
  return {
    id: row.id,
    suite: row.suite,
    suiteFile: row.suite_file,
    manifestHash: row.manifest_hash,
    state: row.state,
    hold: row.hold,
    maxCost: row.max_cost,
    environment: row.environment,
    seed: row.seed,
    options: row.options,
    sources: row.sources,
    trials: row.trials,
    done: row.done,
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}
