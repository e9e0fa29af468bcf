import type { JudgeSeries, Judgement } from '../../domain/judging.ts';
import { addUp } from '../../domain/model.ts';
import type { Calibration, Rubric } from '../../domain/rubric.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import { standingOfSeries } from '../../judges/standing-of-series.ts';
import type { JudgeStanding } from '../../judges/standing.ts';
import { type Rate, rateOf } from '../../domain/gates/rate.ts';
import { isScored } from '../../domain/standing.ts';
import type { JudgedSeries } from './judged.ts';

/** What one judge made of a batch. Series stand beside each other and are never added up. */
export interface JudgeFigures {
  readonly series: JudgeSeries;
  readonly rubric: Pick<Rubric, 'question' | 'scale' | 'passes' | 'shows'>;
  readonly calibration: Calibration;
  /** Against people. `calibrated: false` is to be printed wherever a figure of it is. */
  readonly standing: JudgeStanding;
  readonly agents: readonly JudgedAgent[];
  /** Judgements that are errors, by their code. */
  readonly problems: { readonly [code: string]: number };
  /** Trials of which the judge was not shown all. */
  readonly shortened: number;
  readonly tokens: { readonly input: number; readonly output: number } | null;
  /** By currency; null: not measured. */
  readonly cost: { readonly [currency: string]: number } | null;
  /** What it said of each trial, in the manifest's order. */
  readonly judgements: readonly Pick<Judgement, 'trial' | 'attempt' | 'category' | 'reason' | 'problem'>[];
}

/** The trials of one agent. */
export interface JudgedAgent {
  readonly agent: string;
  /** Trials with a result. */
  readonly scored: number;
  /** Trials of each category, in the rubric's order. */
  readonly categories: readonly { readonly category: string; readonly trials: number }[];
  /** Judgements that are errors. */
  readonly failed: number;
  readonly unjudged: number;
  /** Of the trials with a category, those whose category passes. */
  readonly passes: Rate;
}

export function judgeFigures(facts: readonly TrialFacts[], judged: readonly JudgedSeries[]): readonly JudgeFigures[] {
  const scored = facts.filter(isScored);
  return judged.map(({ series, rubric: { rubric, calibration, digest }, judgements, rated }) => {
    const byTrial = new Map(judgements.map((one) => [one.trial, one]));
    const used = judgements.flatMap(({ usage }) => (usage === null ? [] : [usage]));
    const paid = judgements.flatMap(({ price }) => (price === null ? [] : [price]));
    const failed = judgements.filter(({ category }) => category === null);
    return {
      series,
      rubric: { question: rubric.question, scale: rubric.scale, passes: rubric.passes, shows: rubric.shows },
      calibration,
      standing: standingOfSeries({ rubric, calibration }, digest === series.digest ? rated : []),
      agents: [...Map.groupBy(scored, ({ agent }) => agent)].map(([agent, own]) => agentOf(agent, own, rubric, byTrial)),
      problems: Object.fromEntries([...Map.groupBy(failed, ({ problem }) => problem?.code ?? 'unknown')].map(([code, own]) => [code, own.length])),
      shortened: judgements.filter(({ shortened }) => shortened).length,
      tokens: used.length === 0 ? null : { input: used.reduce((sum, { input }) => sum + input, 0), output: used.reduce((sum, { output }) => sum + output, 0) },
      cost: paid.length === 0 ? null : addUp(paid),
      judgements: judgements.map(({ trial, attempt, category, reason, problem }) => ({ trial, attempt, category, reason, problem })),
    };
  });
}

function agentOf(agent: string, own: readonly TrialFacts[], { scale, passes }: Rubric, byTrial: ReadonlyMap<string, Judgement>): JudgedAgent {
  const categoryOf = ({ trial }: TrialFacts) => byTrial.get(trial)?.category ?? null;
  const failed = own.filter(({ trial }) => byTrial.get(trial)?.category === null).length;
  const decided = own.filter((one) => categoryOf(one) !== null);
  return {
    agent,
    scored: own.length,
    categories: scale.map(({ category }) => ({ category, trials: decided.filter((one) => categoryOf(one) === category).length })),
    failed,
    unjudged: own.length - decided.length - failed,
    passes: rateOf(decided, (one) => passes.includes(categoryOf(one) ?? '')),
  };
}
