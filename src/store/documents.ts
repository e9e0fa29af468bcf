import type { AgentSpec } from '../domain/agent.ts';
import type { Case } from '../domain/case.ts';
import type { Effect } from '../domain/effect.ts';
import type { FaultSchedule } from '../domain/fault.ts';
import type { Sql } from './database.ts';
import type { AgentDocument, BatchDocuments, CaseDocument, ScheduleDocument } from './store.ts';

/** Whoever plans a batch names its documents before the batch is there: until then they must not go. */
const NAMED_ANEW = 'on conflict (hash) do update set named_at = excluded.named_at';

/** In order of hash, so that two writers of overlapping sets wait for each other and never in a circle. */
export async function putDocuments(
  sql: Sql,
  cases: readonly CaseDocument[],
  agents: readonly AgentDocument[],
  schedules: readonly ScheduleDocument[],
  now: Date,
): Promise<void> {
  const sortedCases = inOrder(cases);
  const sortedAgents = inOrder(agents);
  const sortedSchedules = inOrder(schedules);
  await sql.query(
    `insert into trialbed.cases (hash, case_id, body, named_at)
     select d.*, $4::timestamptz from unnest($1::text[], $2::text[], $3::json[]) d ${NAMED_ANEW}`,
    [sortedCases.map((c) => c.hash), sortedCases.map((c) => c.kase.id), sortedCases.map((c) => JSON.stringify(c.kase)), now],
  );
  await sql.query(
    `insert into trialbed.agents (hash, name, spec, named_at)
     select d.*, $4::timestamptz from unnest($1::text[], $2::text[], $3::json[]) d ${NAMED_ANEW}`,
    [sortedAgents.map((a) => a.hash), sortedAgents.map((a) => a.spec.name), sortedAgents.map((a) => JSON.stringify(a.spec)), now],
  );
  await sql.query(
    `insert into trialbed.schedules (hash, name, body, named_at)
     select d.*, $4::timestamptz from unnest($1::text[], $2::text[], $3::json[]) d ${NAMED_ANEW}`,
    [sortedSchedules.map((s) => s.hash), sortedSchedules.map((s) => s.schedule.name), sortedSchedules.map((s) => JSON.stringify(s.schedule)), now],
  );
}

export async function caseDocument(sql: Sql, hash: string): Promise<CaseDocument | null> {
  const [row] = await sql.query<{ hash: string; body: Case }>('select hash, body from trialbed.cases where hash = $1', [hash]);
  return row === undefined ? null : { hash: row.hash, kase: row.body };
}

export async function agentDocument(sql: Sql, hash: string): Promise<AgentDocument | null> {
  const [row] = await sql.query<{ hash: string; spec: AgentSpec }>('select hash, spec from trialbed.agents where hash = $1', [hash]);
  return row === undefined ? null : { hash: row.hash, spec: row.spec };
}

export async function scheduleDocument(sql: Sql, hash: string): Promise<ScheduleDocument | null> {
  const [row] = await sql.query<{ hash: string; body: FaultSchedule }>('select hash, body from trialbed.schedules where hash = $1', [hash]);
  return row === undefined ? null : { hash: row.hash, schedule: row.body };
}

/** What the trials of a batch are made of, each document once. */
export async function documentsOf(sql: Sql, batch: string): Promise<BatchDocuments> {
  const [cases, agents, schedules] = await Promise.all([
    sql.query<CaseDocument>('select hash, body as kase from trialbed.cases where hash in (select case_hash from trialbed.trials where batch = $1)', [batch]),
    sql.query<AgentDocument>('select hash, spec from trialbed.agents where hash in (select agent_hash from trialbed.trials where batch = $1)', [batch]),
    sql.query<ScheduleDocument>(
      'select hash, body as schedule from trialbed.schedules where hash in (select schedule_hash from trialbed.trials where batch = $1)',
      [batch],
    ),
  ]);
  return { cases, agents, schedules };
}

export async function referenceEffects(sql: Sql, generation: string, caseHash: string): Promise<readonly Effect[] | null> {
  const [row] = await sql.query<{ effects: Effect[] }>('select effects from trialbed.reference_effects where generation = $1 and case_hash = $2', [
    generation,
    caseHash,
  ]);
  return row?.effects ?? null;
}

export async function putReferenceEffects(sql: Sql, generation: string, caseHash: string, effects: readonly Effect[]): Promise<void> {
  await sql.query('insert into trialbed.reference_effects (generation, case_hash, effects) values ($1, $2, $3) on conflict do nothing', [
    generation,
    caseHash,
    JSON.stringify(effects),
  ]);
}

/** By table: what else names a document `d` by its hash. */
const NAMED_BY = {
  cases: 'select 1 from trialbed.trials t where t.case_hash = d.hash union all select 1 from trialbed.verdicts v where v.case_hash = d.hash',
  agents: 'select 1 from trialbed.trials t where t.agent_hash = d.hash',
  schedules: 'select 1 from trialbed.trials t where t.schedule_hash = d.hash',
} as const;

/** Removes documents that no trial and no verdict names any more, and nobody has named since `cutoff`. Needs a transaction. One that is named right now stays. */
export async function removeUnnamed(sql: Sql, cutoff: Date): Promise<void> {
  for (const [table, named] of Object.entries(NAMED_BY))
    await sql.query(
      `delete from trialbed.${table} where hash in (select d.hash from trialbed.${table} d where d.named_at < $1 and not exists (${named}) for update of d skip locked)`,
      [cutoff],
    );
  await sql.query('delete from trialbed.reference_effects e where not exists (select 1 from trialbed.cases c where c.hash = e.case_hash)');
}

/** Each once. */
function inOrder<T extends { readonly hash: string }>(documents: readonly T[]): readonly T[] {
  return [...new Map(documents.map((one) => [one.hash, one])).values()].sort((a, b) => (a.hash < b.hash ? -1 : 1));
}
