import type { AgentSpec } from '../domain/agent.ts';
import type { Case } from '../domain/case.ts';
import type { Effect } from '../domain/effect.ts';
import type { FaultSchedule } from '../domain/fault.ts';
import type { Sql } from './database.ts';
import type { AgentDocument, CaseDocument, ScheduleDocument } from './store.ts';

/** In order of hash, so that two writers of overlapping sets wait for each other and never in a circle. */
export async function putDocuments(
  sql: Sql,
  cases: readonly CaseDocument[],
  agents: readonly AgentDocument[],
  schedules: readonly ScheduleDocument[],
): Promise<void> {
  const sortedCases = [...cases].sort(byHash);
  const sortedAgents = [...agents].sort(byHash);
  const sortedSchedules = [...schedules].sort(byHash);
  await sql.query(
    `insert into trialbed.cases (hash, case_id, body)
     select * from unnest($1::text[], $2::text[], $3::json[]) on conflict (hash) do nothing`,
    [sortedCases.map((c) => c.hash), sortedCases.map((c) => c.kase.id), sortedCases.map((c) => JSON.stringify(c.kase))],
  );
  await sql.query(
    `insert into trialbed.agents (hash, name, spec)
     select * from unnest($1::text[], $2::text[], $3::json[]) on conflict (hash) do nothing`,
    [sortedAgents.map((a) => a.hash), sortedAgents.map((a) => a.spec.name), sortedAgents.map((a) => JSON.stringify(a.spec))],
  );
  await sql.query(
    `insert into trialbed.schedules (hash, name, body)
     select * from unnest($1::text[], $2::text[], $3::json[]) on conflict (hash) do nothing`,
    [sortedSchedules.map((s) => s.hash), sortedSchedules.map((s) => s.schedule.name), sortedSchedules.map((s) => JSON.stringify(s.schedule))],
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

function byHash(a: { readonly hash: string }, b: { readonly hash: string }): number {
  return a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0;
}
