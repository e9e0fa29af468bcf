import type { Case } from '../domain/case.ts';
import type { CaseLabels } from '../domain/case-labels.ts';
import { factsOf } from '../domain/trial-facts-of.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { TrialSummary } from '../domain/trial.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';
import { openSummary } from './summaries.ts';

/** Trials of one page. A verdict may be large, and of each only a part is kept. */
const PAGE = 250;

/**
 * What reports read of a batch's trials, in the manifest's order, in pages: four statements for a page, however many trials it holds, and never more than one page of verdicts
 * in memory. A page sees the store as it is when it is read, so that of a batch that runs later pages may be newer.
 */
export async function* listFacts(sql: Sql, batch: string): AsyncGenerator<readonly TrialFacts[]> {
  const cases = new Map<string, Case>();
  const [batchRow] = await sql.query<{ labels: { readonly [caseId: string]: CaseLabels } | null }>('select labels from trialbed.batches where id = $1', [
    batch,
  ]);
  const labels = new Map(Object.entries(batchRow?.labels ?? {}));
  for (let after = 0; ; ) {
    const rows = await sql.query<Row>(PAGE_OF_TRIALS, [batch, after, PAGE]);
    const last = rows.at(-1);
    if (last === undefined) return;
    const ids = rows.map(({ id }) => id);
    const unknown = [...new Set(rows.map((row) => row.case_hash))].filter((hash) => !cases.has(hash));
    const [documents, tokens, costs] = await Promise.all([
      unknown.length === 0 ? [] : sql.query<{ hash: string; body: Case }>('select hash, body from trialbed.cases where hash = any ($1::text[])', [unknown]),
      sql.query<TokenRow>(TOKENS, [ids]),
      sql.query<CostRow>(COSTS, [ids]),
    ]);
    for (const { hash, body } of documents) cases.set(hash, body);
    const used = new Map(tokens.map((row) => [row.trial, row]));
    const paid = Map.groupBy(costs, ({ trial }) => trial);
    yield rows.map((row) => {
      const { input, output } = used.get(row.id) ?? { input: null, output: null };
      const money = paid.get(row.id);
      return factsOf({
        ...row,
        kase: cases.get(row.case_hash) ?? null,
        labels: labels.get(row.case_id) ?? null,
        summary: openSummary(sql, row.id, row.summary),
        verdict: row.verdict === null ? null : sql.sealing.open(row.verdict, placeOf('verdicts', 'body', row.id)),
        tokens: input === null || output === null ? null : { input, output },
        money: money === undefined ? null : Object.fromEntries(money.map(({ currency, amount }) => [currency, amount])),
      });
    });
    if (rows.length < PAGE) return;
    after = last.ordinal;
  }
}

/** By place in the manifest, so that no page costs more than another. The verdict with the highest rank is the current one. */
const PAGE_OF_TRIALS = `
  select t.id, t.batch, t.ordinal, t.case_id, t.case_hash, t.agent_name, t.agent_hash, t.schedule, t.schedule_hash, t.repetition, t.attempt,
    b.environment ->> 'generation' as generation, a.summary, v.body as verdict
  from trialbed.trials t
  join trialbed.batches b on b.id = t.batch
  left join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
  left join lateral (
    select body from trialbed.verdicts where trial = t.id and attempt = t.attempt and a.ended_at is not null order by rank desc limit 1) v on true
  where t.batch = $1 and t.ordinal > $2 order by t.ordinal limit $3`;

/** Of all attempts: what a failed one used was paid for as well. */
const TOKENS = `
  select trial, sum(input_tokens)::float8 as input, sum(output_tokens)::float8 as output
  from trialbed.model_calls where trial = any ($1::text[]) group by trial`;

const COSTS = `
  select trial, currency, sum(price)::float8 as amount
  from trialbed.model_calls where trial = any ($1::text[]) and price is not null group by trial, currency`;

interface Row {
  readonly id: string;
  readonly batch: string;
  readonly ordinal: number;
  readonly case_id: string;
  readonly case_hash: string;
  readonly agent_name: string;
  readonly agent_hash: string;
  readonly schedule: string;
  readonly schedule_hash: string | null;
  readonly repetition: number;
  readonly attempt: number;
  readonly generation: string;
  readonly summary: TrialSummary | null;
  readonly verdict: Verdict | null;
}

interface TokenRow {
  readonly trial: string;
  readonly input: number | null;
  readonly output: number | null;
}

interface CostRow {
  readonly trial: string;
  readonly currency: string;
  readonly amount: number;
}
