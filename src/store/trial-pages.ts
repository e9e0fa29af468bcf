import type { Ending, Judgement } from '../domain/verdict.ts';
import type { TrialSummary } from '../domain/trial.ts';
import type { Sql } from './database.ts';
import { openSummary } from './summaries.ts';
import type { TrialRow } from './store.ts';
import { type TrialColumns, trialColumns, trialOf } from './trials.ts';

/** How a trial stands, in one word: `open` until nothing more is to come, then its judgement, or its ending where it has none. */
export type TrialStanding = 'open' | Judgement | Extract<Ending, 'infra_error' | 'user_error' | 'cancelled'>;

/** Which trials of a batch. */
export interface TrialFilter {
  readonly standing?: TrialStanding;
  readonly ending?: Ending;
  /** As {@link ReasonCount} names it. */
  readonly reason?: string;
  /** Part of the id, or of the name of case, agent or schedule; letter case aside. */
  readonly text?: string;
}

/** Some trials of a batch in the manifest's order, and how many there are. */
export interface TrialPage {
  readonly trials: readonly TrialRow[];
  readonly total: number;
}

/** Trials that ended for what is the same reason but for numbers and quoted names. */
export interface ReasonCount {
  /** Names the reason: the same for the same reason of any batch. */
  readonly reason: string;
  /** The sentence of one of them. */
  readonly why: string;
  readonly trials: number;
}

/** How many trials of a batch stand how, and ended how; and why, the most frequent reasons first. */
export interface TrialCensus {
  readonly standings: readonly { readonly standing: TrialStanding; readonly trials: number }[];
  readonly endings: readonly { readonly ending: Ending; readonly trials: number }[];
  readonly reasons: readonly ReasonCount[];
}

/** Reasons that a census names. */
const MOST_REASONS = 12;

export async function pageTrials(sql: Sql, batch: string, filter: TrialFilter, page: { readonly offset: number; readonly limit: number }): Promise<TrialPage> {
  const pattern = filter.text === undefined || filter.text === '' ? null : `%${filter.text.replaceAll('\0', '').replaceAll(/[\\%_]/g, '\\$&')}%`;
  const values = [batch, filter.standing ?? null, filter.ending ?? null, filter.reason ?? null, pattern];
  const [rows, [count]] = await Promise.all([
    sql.query<TrialColumns>(`select ${trialColumns('t')}, a.summary ${FROM} ${MATCHING} order by t.ordinal limit $6 offset $7`, [
      ...values,
      page.limit,
      page.offset,
    ]),
    sql.query<{ total: number }>(`select count(*)::int as total ${FROM} ${MATCHING}`, values),
  ]);
  return { trials: rows.map((row) => trialOf(sql, row)), total: count?.total ?? 0 };
}

export async function countCensus(sql: Sql, batch: string): Promise<TrialCensus> {
  const [standings, endings, reasons] = await Promise.all([
    sql.query<TrialCensus['standings'][number]>(
      `select ${STANDING} as standing, count(*)::int as trials ${FROM} where t.batch = $1 group by 1 order by 2 desc`,
      [batch],
    ),
    sql.query<TrialCensus['endings'][number]>(
      `select a.ending, count(*)::int as trials ${FROM} where t.batch = $1 and t.settled is not null and a.ending is not null group by 1 order by 2 desc`,
      [batch],
    ),
    sql.query<{ reason: string; trials: number; trial: string; summary: TrialSummary }>(
      `select r.reason, r.trials, r.trial, a.summary
       from (select a.reason, count(*)::int as trials, min(t.id) as trial ${FROM} where t.batch = $1 and t.settled is not null and a.reason is not null group by 1) r
       join trialbed.trials t on t.id = r.trial join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt
       order by r.trials desc, r.reason limit ${MOST_REASONS}`,
      [batch],
    ),
  ]);
  const told = reasons.map(({ reason, trials, trial, summary }) => ({ reason, trials, why: openSummary(sql, trial, summary).why ?? '' }));
  return { standings, endings, reasons: told };
}

const FROM = 'from trialbed.trials t left join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt';

const STANDING = `case when t.settled is null then 'open' when a.ending in ('infra_error', 'user_error', 'cancelled') then a.ending else coalesce(a.pass, 'undetermined') end`;

const MATCHING = `
  where t.batch = $1 and ($2::text is null or ${STANDING} = $2) and ($3::text is null or (t.settled is not null and a.ending = $3))
    and ($4::text is null or (t.settled is not null and a.reason = $4))
    and ($5::text is null or t.id ilike $5 or t.case_id ilike $5 or t.agent_name ilike $5 or t.schedule ilike $5)`;
