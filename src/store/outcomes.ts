import type { Sql } from './database.ts';

/** How the trials of a batch ended that have. */
export interface Outcomes {
  readonly passed: number;
  readonly failed: number;
  /** Undetermined, or a fault of the simulated user. */
  readonly undetermined: number;
  readonly infraErrors: number;
  readonly cancelled: number;
}

/** By batch; one of which no trial has ended is not among them. */
export async function countOutcomes(sql: Sql, batches: readonly string[]): Promise<ReadonlyMap<string, Outcomes>> {
  const rows = await sql.query<Outcomes & { batch: string }>(
    `select t.batch, count(*) filter (where a.pass = 'pass')::int as passed, count(*) filter (where a.pass = 'fail')::int as failed,
       count(*) filter (where a.pass = 'undetermined' or (a.pass is null and a.ending not in ('infra_error', 'cancelled')))::int as undetermined,
       count(*) filter (where a.ending = 'infra_error')::int as "infraErrors", count(*) filter (where a.ending = 'cancelled')::int as cancelled
     from trialbed.trials t join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
     where t.batch = any ($1::text[]) and t.settled is not null group by 1`,
    [batches],
  );
  return new Map(rows.map(({ batch, ...outcomes }) => [batch, outcomes]));
}
