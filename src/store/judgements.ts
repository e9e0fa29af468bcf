import type { Judgement } from '../domain/judging.ts';
import type { Json } from '../domain/json.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';

/** A category stands once it is there; a judgement that has none gives way to another one. */
export async function addJudgement(sql: Sql, one: Judgement): Promise<void> {
  const { series, trial, attempt, usage, price } = one;
  const sealed = (column: 'reason' | 'problem', value: Json) => (value === null ? null : sql.sealing.text(value, placeOf('judgements', column, trial)));
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `insert into trialbed.judgements (series, trial, attempt, category, reason, problem_code, problem, shortened, input_tokens, output_tokens, cached_tokens, reasoning_tokens,
         price, currency, reported, latency_ms, tries, judged_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
       on conflict (series, trial, attempt) do update set category = excluded.category, reason = excluded.reason, problem_code = excluded.problem_code, problem = excluded.problem,
         shortened = excluded.shortened, reported = excluded.reported, latency_ms = excluded.latency_ms, judged_at = excluded.judged_at,
         input_tokens = coalesce(judgements.input_tokens + excluded.input_tokens, judgements.input_tokens, excluded.input_tokens),
         output_tokens = coalesce(judgements.output_tokens + excluded.output_tokens, judgements.output_tokens, excluded.output_tokens),
         cached_tokens = coalesce(judgements.cached_tokens + excluded.cached_tokens, judgements.cached_tokens, excluded.cached_tokens),
         reasoning_tokens = coalesce(judgements.reasoning_tokens + excluded.reasoning_tokens, judgements.reasoning_tokens, excluded.reasoning_tokens),
         price = case when judgements.currency <> excluded.currency then excluded.price else coalesce(judgements.price + excluded.price, judgements.price, excluded.price) end,
         currency = coalesce(excluded.currency, judgements.currency), tries = judgements.tries + excluded.tries
       where judgements.category is null`,
      [
        ...[series, trial, attempt, one.category, sealed('reason', one.reason), one.problem?.code ?? null, sealed('problem', one.problem?.message ?? null)],
        ...[one.shortened, usage?.input ?? null, usage?.output ?? null, usage?.cached ?? null, usage?.reasoning ?? null],
        ...[price?.amount ?? null, price?.currency ?? null, one.reported, one.latencyMs, one.tries, one.at],
      ],
    ),
  );
}

const SELECT = `select j.series, j.trial, j.attempt, j.category, j.reason, j.problem_code as "problemCode", j.problem, j.shortened, j.input_tokens::float8 as input,
    j.output_tokens::float8 as output, j.cached_tokens::float8 as cached, j.reasoning_tokens::float8 as reasoning, j.price::float8 as price, j.currency, j.reported,
    j.latency_ms as "latencyMs", j.tries, j.judged_at as at
  from trialbed.judgements j`;

/** Of the attempts that count of a batch's trials, in the manifest's order. */
export async function listJudgements(sql: Sql, batch: string, series: string | null): Promise<readonly Judgement[]> {
  const rows = await sql.query<Row>(
    `${SELECT} join trialbed.trials t on t.id = j.trial and t.attempt = j.attempt where t.batch = $1 and ($2::text is null or j.series = $2) order by j.series, t.ordinal`,
    [batch, series],
  );
  return rows.map((row) => judgementOf(sql, row));
}

/** Of one attempt, by every series that has judged it. */
export async function judgementsOf(sql: Sql, trial: string, attempt: number): Promise<readonly Judgement[]> {
  const rows = await sql.query<Row>(`${SELECT} where j.trial = $1 and j.attempt = $2 order by j.judged_at, j.series`, [trial, attempt]);
  return rows.map((row) => judgementOf(sql, row));
}

interface Row extends Pick<Judgement, 'series' | 'trial' | 'attempt' | 'category' | 'shortened' | 'reported' | 'latencyMs' | 'tries'> {
  readonly reason: string | null;
  readonly problemCode: string | null;
  readonly problem: string | null;
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
  readonly reasoning: number | null;
  readonly price: number | null;
  readonly currency: string | null;
  readonly at: Date;
}

function judgementOf(sql: Sql, row: Row): Judgement {
  const { series, trial, attempt, category, shortened, reported, latencyMs, tries, input, output, cached, reasoning, price, currency } = row;
  const opened = (column: 'reason' | 'problem', stored: string | null) =>
    stored === null ? null : sql.sealing.open(stored, placeOf('judgements', column, trial));
  return {
    ...{ series, trial, attempt, category, shortened, reported, latencyMs, tries },
    reason: opened('reason', row.reason),
    problem: row.problemCode === null ? null : { code: row.problemCode, message: opened('problem', row.problem) ?? '' },
    usage: input === null || output === null ? null : { input, output, cached, reasoning },
    price: price === null || currency === null ? null : { amount: price, currency },
    at: row.at.toISOString(),
  };
}

/** What a judge said of an attempt, and what one person did. */
export interface RatedByBoth {
  readonly trial: string;
  readonly attempt: number;
  readonly judge: string;
  readonly rater: string;
  readonly person: string;
}

/** Every attempt, of whatever batch, that has a category of the series and labels by the same rubric: a line for each label. */
export async function ratedByBoth(sql: Sql, series: string): Promise<readonly RatedByBoth[]> {
  return sql.query<RatedByBoth>(
    `select j.trial, j.attempt, j.category as judge, l.rater, l.category as person from trialbed.judgements j join trialbed.judge_series s on s.id = j.series
       join trialbed.labels l on l.trial = j.trial and l.attempt = j.attempt and l.rubric_digest = s.rubric_digest
     where j.series = $1 and j.category is not null order by j.trial, j.attempt, l.rater`,
    [series],
  );
}
