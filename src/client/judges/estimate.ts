import type { Range } from '../../domain/estimate.ts';
import { priceOf } from '../../domain/model.ts';
import type { Store } from '../../store/store.ts';
import { type JudgeRequest, type PlannedJudging, planJudging } from './plan.ts';
import { showToJudge } from './show-to-judge.ts';

/** What judging would take. No model is asked for it. */
export interface JudgeEstimate {
  readonly type: 'judge_estimate';
  readonly batch: string;
  readonly rubric: string;
  readonly version: string;
  readonly series: string;
  /** Name of the route. */
  readonly route: string;
  /** Trials that would be asked about. */
  readonly trials: number;
  /** Those that are judged already, those whose judgement is an error, and those that nobody can judge since their record was removed. */
  readonly before: { readonly judged: number; readonly failed: number };
  readonly unjudgeable: number;
  /** Trials of which not all can be shown, since they are too long. */
  readonly shortened: number;
  readonly tokens: { readonly input: Range; readonly output: Range };
  /** By the route's prices; null: it has none. */
  readonly cost: { readonly currency: string; readonly amount: Range } | null;
  /** What tokens are estimated from: judgements of the same series, or the length of what would be sent. */
  readonly basis: 'judgements' | 'length';
}

/** Characters of a token: likely, and where there are many. */
const LIKELY = 4;
const DENSE = 2.5;
/** Tokens of a reply where none was seen. */
const REPLY: Range = { likely: 120, high: 400 };

/** @throws as `planJudging` */
export async function estimateJudging(store: Store, request: JudgeRequest): Promise<JudgeEstimate> {
  const plan = await planJudging(store, request);
  let characters = 0;
  let shortened = 0;
  let unjudgeable = 0;
  for (const trial of plan.open) {
    const sent = await showToJudge(store, plan, trial);
    if (sent === null) unjudgeable++;
    if (sent?.shortened) shortened++;
    characters += (sent?.messages ?? []).reduce((sum, message) => sum + (message.text?.length ?? 0), 0);
  }
  const trials = plan.open.length - unjudgeable;
  const output = outputOf(plan);
  const tokens = {
    input: { likely: Math.ceil(characters / LIKELY), high: Math.ceil(characters / DENSE) },
    output: { likely: Math.ceil(output.likely * trials), high: Math.ceil(output.high * trials) },
  };
  return {
    type: 'judge_estimate',
    batch: plan.batch.id,
    rubric: plan.rubric.rubric.name,
    version: plan.rubric.rubric.version,
    series: plan.series.id,
    route: plan.route.name,
    trials,
    before: { judged: plan.before.filter(({ category }) => category !== null).length, failed: plan.before.filter(({ category }) => category === null).length },
    unjudgeable,
    shortened,
    tokens,
    cost: costOf(plan, tokens),
    basis: output === REPLY ? 'length' : 'judgements',
  };
}

/** Tokens of a reply, from what was seen of this series in this batch. */
function outputOf({ before }: PlannedJudging): Range {
  const seen = before.flatMap(({ usage }) => (usage === null ? [] : [usage.output])).sort((a, b) => a - b);
  if (seen.length === 0) return REPLY;
  return { likely: seen.reduce((sum, tokens) => sum + tokens, 0) / seen.length, high: seen[Math.floor(0.9 * (seen.length - 1))] ?? 0 };
}

function costOf({ route: { prices } }: PlannedJudging, { input, output }: JudgeEstimate['tokens']): JudgeEstimate['cost'] {
  const amount = (which: keyof Range) => priceOf({ input: input[which], output: output[which], cached: null, reasoning: null }, prices)?.amount ?? 0;
  return prices === null ? null : { currency: prices.currency, amount: { likely: amount('likely'), high: amount('high') } };
}
