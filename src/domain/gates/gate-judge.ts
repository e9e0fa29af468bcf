import type { Judgement, JudgeSeries } from '../judging.ts';

/** What a gate reads of one series of a judge. */
export interface GateJudge {
  readonly series: JudgeSeries;
  /** Categories of its rubric that pass. */
  readonly rubric: { readonly passes: readonly string[] };
  /** Whether it agrees with people well enough to decide anything, and why not. */
  readonly standing: { readonly calibrated: boolean; readonly why: string };
  readonly judgements: readonly Pick<Judgement, 'trial' | 'category'>[];
}
