import type { Interval } from './interval.ts';

/**
 * Where the pass rate lies whatever became of the trials that nobody could score: as if all of them had failed, and as if all had passed (Manski, "Nonparametric bounds on treatment effects", Am. Econ. Rev. 80, 1990). No
 * confidence interval: it is about what is missing, not about chance. With no trial: `[0, 1]`.
 */
export function rateBounds({ passed, scored, missing }: { readonly passed: number; readonly scored: number; readonly missing: number }): Interval {
  const all = scored + missing;
  return all > 0 ? { low: passed / all, high: (passed + missing) / all } : { low: 0, high: 1 };
}
