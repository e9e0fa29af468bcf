import type { RunningTrial, TrialGroup } from '../domain/progress.ts';
import type { Sql } from './database.ts';

/** A trial that has begun and is not done, as it is stored. */
export type StoredRunning = Omit<RunningTrial, 'waits'> &
  Pick<TrialGroup, 'asks' | 'waits'> & {
    readonly batch: string;
    /** Name of the server that has its world; null: it has none yet. */
    readonly host: string | null;
  };

/** How many trials of a batch are where. Counted by the server: what it costs grows with the trials, and what it gives does not. */
export async function countGroups(sql: Sql, batch: string): Promise<readonly TrialGroup[]> {
  return sql.query<TrialGroup>(
    `select case when ${AGAIN} then 'waiting' else t.phase end as phase,
       case when t.attempt = 0 or ${AGAIN} then case when t.claimed_by is null then 'none' when t.attempt = 0 then 'launched' else 'further' end
         when t.attempt = 1 then 'first' else 'further' end as attempt, ${ASKS} as asks, ${WAITS} as waits,
       case when t.settled is null then null when a.ending in ('infra_error', 'user_error', 'cancelled') then a.ending else a.pass end as result, count(*)::int as trials
     from trialbed.trials t left join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt and t.phase = 'done'
     where t.batch = $1 group by 1, 2, 3, 4, 5`,
    [batch],
  );
}

/** Trials that have begun and are not done, those that have run for longest first. `batch` null: of all batches. */
export async function listRunning(sql: Sql, batch: string | null, limit: number): Promise<readonly StoredRunning[]> {
  return sql.query<StoredRunning>(
    `select t.id as trial, t.batch, t.case_id as "case", t.schedule, t.agent_name as agent, t.repetition, t.attempt, t.phase, ${ASKS} as asks, ${WAITS} as waits,
       greatest(0, extract(epoch from now() - a.started_at))::float8 as seconds, a.world ->> 'host' as host
     from trialbed.trials t join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
     where ($1::text is null or t.batch = $1) and t.attempt > 0 and t.phase <> 'done' order by a.started_at, t.id limit $2`,
    [batch, limit],
  );
}

/** `waitMs`: from now on. A shorter wait never takes back a longer one. What is told of an older attempt is passed over. */
export async function setModelWait(sql: Sql, trial: string, attempt: number, waitMs: number): Promise<void> {
  await sql.query(
    `update trialbed.trials set model_wait_until = greatest(model_wait_until, now() + $3::float8 * interval '1 millisecond') where id = $1 and attempt = $2`,
    [trial, attempt, waitMs],
  );
}

/** Its last attempt has ended, and another is to follow. */
const AGAIN = `(t.phase = 'done' and t.settled is null)`;

/** Only few trials are in a state in which people are asked, so each is looked for by itself. */
const ASKS = `(t.phase = 'drive' and exists (
  select 1 from trialbed.approvals p where p.trial = t.id and p.attempt = t.attempt and p.ending is null and (p.subject ->> 'people')::boolean))`;

const WAITS = `case when t.phase = 'drive' and t.model_wait_until > now() then 'model' end`;
