import type { StoredRubric } from '../domain/rubric.ts';
import { judgeStanding, type JudgeStanding } from './standing.ts';

/** One label beside what the judge said of the same attempt. */
export interface Rated {
  readonly trial: string;
  readonly attempt: number;
  readonly judge: string;
  readonly rater: string;
  readonly person: string;
}

/** How a series stands against people, from every attempt that both have put into a category. */
export function standingOfSeries({ rubric, calibration }: Pick<StoredRubric, 'rubric' | 'calibration'>, rated: readonly Rated[]): JudgeStanding {
  const keyOf = ({ trial, attempt }: Rated) => `${trial}.${attempt}`;
  const scores = new Map(rated.map((one) => [keyOf(one), one.judge]));
  return judgeStanding({
    scale: rubric.scale.map(({ category }) => category),
    scores: [...scores].map(([trial, category]) => ({ trial, category })),
    labels: rated.map((one) => ({ trial: keyOf(one), person: one.rater, category: one.person })),
    calibration,
  });
}
