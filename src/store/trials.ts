import type { TrialPhase, TrialSummary } from '../domain/trial.ts';
import type { Sql } from './database.ts';
import { openSummary } from './summaries.ts';
import { StoreConflictError, type TrialRow } from './store.ts';

/** In the manifest's order. `underWay`: only those that have begun and are not done. */
export async function listTrials(sql: Sql, batch: string, filter: { readonly underWay?: boolean } = {}): Promise<readonly TrialRow[]> {
  const where = filter.underWay ? `t.batch = $1 and t.phase not in ('waiting', 'done')` : 't.batch = $1';
  const rows = await sql.query<TrialColumns>(`${SELECT} where ${where} order by t.ordinal`, [batch]);
  return rows.map((row) => trialOf(sql, row));
}

/** Of each combination of a suite, in any batch, the one whose verdict or trouble is the newest. A trial that was cancelled says nothing. */
export async function newestTrials(sql: Sql, suite: string): Promise<readonly TrialRow[]> {
  const rows = await sql.query<TrialColumns>(
    `select distinct on (t.case_id, t.schedule, t.agent_name, t.repetition) ${COLUMNS}
     from trialbed.batches b join trialbed.trials t on t.batch = b.id join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
     where b.suite = $1 and b.options ->> 'fork' is null and a.summary is not null and a.ending <> 'cancelled'
     order by t.case_id, t.schedule, t.agent_name, t.repetition, a.ended_at desc, b.created_at desc, b.id desc`,
    [suite],
  );
  return rows.map((row) => trialOf(sql, row));
}

/**
 * By id, or by a prefix that only one trial has. A prefix of nothing names no trial.
 *
 * @throws {StoreConflictError} when several have it.
 */
export async function findTrial(sql: Sql, idOrPrefix: string): Promise<TrialRow | null> {
  if (idOrPrefix === '' || idOrPrefix.includes('\0')) return null;
  const pattern = `${idOrPrefix.replaceAll(/[\\%_]/g, '\\$&')}%`;
  // The id itself sorts before every longer one.
  const rows = await sql.query<TrialColumns>(`${SELECT} where t.id like $1 order by t.id limit 4`, [pattern]);
  const [first] = rows;
  if (first === undefined) return null;
  if (first.id === idOrPrefix || rows.length === 1) return trialOf(sql, first);
  const ids = rows.slice(0, 3).map((row) => row.id);
  throw new StoreConflictError(`several trials begin with "${idOrPrefix}": ${ids.join(', ')}${rows.length > 3 ? ', ...' : ''}; give more of the id`);
}

/** What an older attempt, or a late one of a trial that is done, reports is passed over. */
export async function setPhase(sql: Sql, trial: string, attempt: number, phase: TrialPhase): Promise<void> {
  await sql.query(`update trialbed.trials set phase = $3 where id = $1 and attempt = $2 and phase <> 'done'`, [trial, attempt, phase]);
}

/** A row as it is selected by {@link trialColumns}, with the summary of the attempt that counts. */
export interface TrialColumns {
  readonly id: string;
  readonly batch: string;
  readonly case_id: string;
  readonly case_hash: string;
  readonly agent_name: string;
  readonly agent_hash: string;
  readonly schedule: string;
  readonly schedule_hash: string | null;
  readonly repetition: number;
  readonly phase: TrialPhase;
  readonly attempt: number;
  readonly summary: TrialSummary | null;
}

const NAMES = ['id', 'batch', 'case_id', 'case_hash', 'agent_name', 'agent_hash', 'schedule', 'schedule_hash', 'repetition', 'phase', 'attempt'];

/** Columns of a trial, of the table with this alias. */
export function trialColumns(alias: string): string {
  return NAMES.map((name) => `${alias}.${name}`).join(', ');
}

const COLUMNS = `${trialColumns('t')}, a.summary`;

const SELECT = `
  select ${COLUMNS}
  from trialbed.trials t left join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt`;

export function trialOf(sql: Sql, row: TrialColumns): TrialRow {
  return {
    id: row.id,
    batch: row.batch,
    caseId: row.case_id,
    caseHash: row.case_hash,
    agentName: row.agent_name,
    agentHash: row.agent_hash,
    schedule: row.schedule,
    scheduleHash: row.schedule_hash,
    repetition: row.repetition,
    phase: row.phase,
    attempt: row.attempt,
    summary: openSummary(sql, row.id, row.summary),
  };
}
