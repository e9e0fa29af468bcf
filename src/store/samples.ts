import type { Sample } from '../domain/estimate.ts';
import type { Sql } from './database.ts';

/** Batches that are looked at, and trials of one kind, the newest first: what was long ago says little of what comes. */
const MOST_BATCHES = 20;
const MOST_OF_A_KIND = 20;

/** What trials of these agents took in a suite's newest batches. One that was cancelled, or that the harness broke, says nothing. */
export async function listSamples(sql: Sql, suite: string, agents: readonly string[]): Promise<readonly Sample[]> {
  const rows = await sql.query<Row>(
    `with recent as (select id, created_at from trialbed.batches where suite = $1 and options ->> 'fork' is null order by created_at desc, id desc limit $3),
     chosen as (
       select t.id, t.case_id, t.schedule, t.agent_name,
         row_number() over (partition by t.agent_name, t.case_id, t.schedule order by b.created_at desc, t.repetition) as place
       from recent b join trialbed.trials t on t.batch = b.id join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
       where t.agent_name = any ($2::text[]) and t.phase = 'done' and a.ending not in ('cancelled', 'infra_error'))
     select c.case_id as "case", c.schedule, c.agent_name as agent, took.seconds, used.calls, used.input, used.output, used.no_tokens, used.no_price, paid.cost
     from chosen c
     cross join lateral (
       select coalesce(sum(extract(epoch from a.ended_at - a.started_at)), 0)::float8 as seconds from trialbed.attempts a where a.trial = c.id) took
     cross join lateral (
       select count(*)::int as calls, coalesce(sum(m.input_tokens), 0)::float8 as input, coalesce(sum(m.output_tokens), 0)::float8 as output,
         count(*) filter (where m.input_tokens is null)::int as no_tokens, count(*) filter (where m.price is null)::int as no_price
       -- One that was never answered took nothing that anybody counts.
       from trialbed.model_calls m where m.trial = c.id and m.latency_ms is not null) used
     cross join lateral (
       select coalesce(jsonb_object_agg(p.currency, p.amount), '{}') as cost
       from (select m.currency, sum(m.price)::float8 as amount from trialbed.model_calls m where m.trial = c.id and m.price is not null group by 1) p) paid
     where c.place <= $4`,
    [suite, agents, MOST_BATCHES, MOST_OF_A_KIND],
  );
  return rows.map(({ no_tokens: tokens, no_price: cost, ...sample }) => ({ ...sample, unmeasured: { tokens, cost } }));
}

interface Row extends Omit<Sample, 'unmeasured'> {
  readonly no_tokens: number;
  readonly no_price: number;
}
