import type { AgentSpec } from '../domain/agent.ts';
import type { Sql } from './database.ts';

/** A batch of a series, counted. */
export interface SeriesBatch {
  readonly batch: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly environment: { readonly version: string; readonly generation: string };
  /** Versions of the graders of its verdicts. */
  readonly graders: readonly string[];
  readonly tasks: readonly SeriesTask[];
}

/** Trials of one agent in one case under one schedule. */
export interface SeriesTask {
  readonly agent: string;
  readonly agentVersion: string;
  readonly agentHash: string;
  readonly case: string;
  readonly caseHash: string;
  readonly schedule: string;
  readonly scheduleHash: string | null;
  readonly trials: number;
  readonly scored: number;
  readonly passed: number;
  /** Scored trials that broke a rule: a forbidden effect or a violated constraint. */
  readonly harmful: number;
}

export interface SeriesRequest {
  /** The last batch of the series. */
  readonly batch: string;
  /** Batches at most, with the last one. */
  readonly limit: number;
}

/**
 * A batch and those of its suite before it that have ended, forks left out, the oldest first: counted by the server, however many trials they have.
 */
export async function seriesUpTo(sql: Sql, { batch, limit }: SeriesRequest): Promise<readonly SeriesBatch[]> {
  const batches = await sql.query<BatchLine>(BATCHES, [batch, limit]);
  const ids = batches.map(({ id }) => id);
  const [tasks, graders] = await Promise.all([sql.query<TaskLine>(TASKS, [ids]), sql.query<{ batch: string; graders: readonly string[] }>(GRADERS, [ids])]);
  const hashes = [...new Set(tasks.map(({ agentHash }) => agentHash))];
  const agents = await sql.query<{ hash: string; spec: AgentSpec }>('select hash, spec from trialbed.agents where hash = any ($1::text[])', [hashes]);
  const versions = new Map(agents.map(({ hash, spec }) => [hash, spec.version]));
  const graded = new Map(graders.map((one) => [one.batch, one.graders]));
  const own = Map.groupBy(tasks, (one) => one.batch);
  return batches
    .map(({ id, environment, created_at }) => ({
      batch: id,
      createdAt: created_at.toISOString(),
      environment: { version: environment.version, generation: environment.generation },
      graders: graded.get(id) ?? [],
      tasks: (own.get(id) ?? []).map(({ batch: _, ...task }) => ({ ...task, agentVersion: versions.get(task.agentHash) ?? '' })),
    }))
    .reverse();
}

interface BatchLine {
  readonly id: string;
  readonly environment: { readonly version: string; readonly generation: string };
  readonly created_at: Date;
}

type TaskLine = Omit<SeriesTask, 'agentVersion'> & { readonly batch: string };

const BATCHES = `
  select b.id, b.environment, b.created_at
  from trialbed.batches b join trialbed.batches last on last.id = $1
  where b.suite = last.suite and (b.id = last.id or (b.created_at < last.created_at and b.state in ('finished', 'cancelled') and b.options ->> 'fork' is null))
  order by b.created_at desc, b.id desc limit $2`;

/** A summary is of type json, of which no operator can be asked where it holds an escape such as \\u0000, so it is read as the text that it is. */
const TASKS = `
  select batch, agent_name as agent, agent_hash as "agentHash", case_id as case, min(case_hash) as "caseHash", schedule, min(schedule_hash) as "scheduleHash",
    count(*)::int as trials, count(*) filter (where scored)::int as scored, count(*) filter (where scored and pass = 'pass')::int as passed,
    count(*) filter (where scored and harmful)::int as harmful
  from (
    select t.batch, t.agent_name, t.agent_hash, t.case_id, t.case_hash, t.schedule, t.schedule_hash, a.pass,
      a.ending is not null and a.ending not in ('infra_error', 'user_error', 'cassette_miss', 'cancelled') as scored,
      a.summary::text ~ '"(effects|constraints)":"fail"' as harmful
    from trialbed.trials t left join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
    where t.batch = any ($1::text[])) one
  group by batch, agent_name, agent_hash, case_id, schedule`;

const GRADERS = `
  select t.batch, array_agg(distinct v.grader_version order by v.grader_version) as graders
  from trialbed.trials t join trialbed.verdicts v on v.trial = t.id and v.attempt = t.attempt
  where t.batch = any ($1::text[]) group by 1`;
