import type { ModelCall } from '../domain/model.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';

/** The same id of an attempt is kept once: the first stands. */
export async function addModelCall(sql: Sql, trial: string, attempt: number, call: ModelCall): Promise<void> {
  const { usage, price } = call;
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `insert into trialbed.model_calls (trial, attempt, id, who, agent, source, route, body, input_tokens, output_tokens, cached_tokens, reasoning_tokens,
         price, currency, latency_ms, tries, ended_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) on conflict do nothing`,
      [
        ...[trial, attempt, call.id, call.who, call.agent, call.source, call.route, JSON.stringify(call)],
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
  return rows.map(({ body }) => body);
}
