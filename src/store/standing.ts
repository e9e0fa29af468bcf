import type { Sql } from './database.ts';

/** What the store knows of a trial beside its row, for whoever asks why it stands still. */
export interface TrialStanding {
  /** Some window of its batch has launched it. */
  readonly launched: boolean;
  /** Nothing more is to come of it. */
  readonly settled: boolean;
  /** Until when its worker waits for a model's rate limit; ISO 8601. Null: it does not. */
  readonly modelWaitUntil: string | null;
  /** Base URLs of the gateways that hold sessions of the attempt's agents. */
  readonly gateways: readonly string[];
}

/** Null: there is no such trial. */
export async function trialStanding(sql: Sql, trial: string): Promise<TrialStanding | null> {
  const [row] = await sql.query<{ launched: boolean; settled: boolean; until: Date | null; gateways: readonly string[] }>(
    `select t.claimed_by is not null as launched, t.settled is not null as settled, case when t.model_wait_until > now() then t.model_wait_until end as until,
       array(select distinct g.place from trialbed.gateway_tokens g where g.trial = t.id and g.attempt = t.attempt and g.ended_at is null and g.place is not null) as gateways
     from trialbed.trials t where t.id = $1`,
    [trial],
  );
  return row ? { launched: row.launched, settled: row.settled, modelWaitUntil: row.until?.toISOString() ?? null, gateways: row.gateways } : null;
}

/** Trials that some window has launched and that have not begun, in the manifest's order. */
export async function launchedTrials(sql: Sql, batch: string, limit: number): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from trialbed.trials where batch = $1 and settled is null and attempt = 0 and claimed_by is not null order by ordinal limit $2',
    [batch, limit],
  );
  return rows.map(({ id }) => id);
}
