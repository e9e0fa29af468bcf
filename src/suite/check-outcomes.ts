import { sourceOf } from './case-file.ts';
import { unknownName } from './issues.ts';
import type { FileProblem, LoadedCase, LoadedSchedule } from './suite.ts';

/** End states that are accepted under a fault schedule which the suite does not have. */
export function checkOutcomes(cases: readonly LoadedCase[], schedules: readonly LoadedSchedule[]): readonly FileProblem[] {
  const known = schedules.map(({ schedule }) => schedule.name);
  return cases.flatMap((loaded) => {
    const source = sourceOf(loaded);
    if (source === null) return [];
    return loaded.kase.expect.outcomes.flatMap(({ under = [] }, index) =>
      under.flatMap((name, at) =>
        known.includes(name) ? [] : [unknownName(source, ['expect', 'outcomes', index, 'under', at], 'fault schedule', name, known)],
      ),
    );
  });
}
