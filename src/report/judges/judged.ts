import type { JudgeSeries, Judgement } from '../../domain/judging.ts';
import type { StoredRubric } from '../../domain/rubric.ts';
import type { Rated } from '../../judges/standing-of-series.ts';

/** One series as a batch has it. */
export interface JudgedSeries {
  readonly series: JudgeSeries;
  readonly rubric: StoredRubric;
  /** Of the attempts that count of the batch's trials. */
  readonly judgements: readonly Judgement[];
  /** What people said where this series has a category, over all batches: a judge is calibrated once, and not batch by batch. */
  readonly rated: readonly Rated[];
}
