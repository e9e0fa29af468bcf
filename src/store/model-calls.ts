import type { ModelCall } from '../domain/model.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';

/** The same id of an attempt is kept once: the first stands. */
export async function addModelCall(sql: Sql, trial: string, attempt: number, call: ModelCall): Promise<void> {
  const { usage, price } = call;
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `insert into trialbed.model_calls (trial, attempt, id, who, agent, source, route, body, input_tokens, output_tokens, cached_tokens, reasoning_tokens,
         price, currency, latency_ms, tries, ended_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) on conflict do nothing`,
      [
        ...[trial, attempt, call.id, call.who, call.agent, call.source, call.route, sql.sealing.text(call, placeOf('model_calls', 'body', trial))],
        ...[usage?.input ?? null, usage?.output ?? null, usage?.cached ?? null, usage?.reasoning ?? null],
        ...[price?.amount ?? null, price?.currency ?? null, call.latencyMs, call.tries, call.at],
      ],
    ),
  );
}

/** In the order in which they were added. */
export async function listModelCalls(sql: Sql, trial: string, attempt: number): Promise<readonly ModelCall[]> {
  const rows = await sql.query<{ body: ModelCall }>('select body from trialbed.model_calls where trial = $1 and attempt = $2 order by ordinal', [
    trial,
    attempt,
  ]);
  return rows.map(({ body }) => sql.sealing.open(body, placeOf('model_calls', 'body', trial)));
}

/** Of all trials and attempts of a batch, with the agent of the trial. */
export async function listBatchCalls(sql: Sql, batch: string): Promise<readonly { readonly agentName: string; readonly call: ModelCall }[]> {
  const rows = await sql.query<{ agentName: string; call: ModelCall; trial: string }>(
    `select t.agent_name as "agentName", m.body as call, m.trial from trialbed.model_calls m join trialbed.trials t on t.id = m.trial where t.batch = $1 order by m.ordinal`,
    [batch],
  );
  return rows.map(({ agentName, call, trial }) => ({ agentName, call: sql.sealing.open(call, placeOf('model_calls', 'body', trial)) }));
}

/** What all model calls of a batch cost so far, in one currency. */
export async function sumPrices(sql: Sql, batch: string, currency: string): Promise<number> {
  const [row] = await sql.query<{ spent: string }>(
    `select coalesce(sum(m.price), 0)::text as spent from trialbed.model_calls m join trialbed.trials t on t.id = m.trial
     where t.batch = $1 and m.currency = $2`,
    [batch, currency],
  );
  return Number(row?.spent ?? 0);
}
