import { daysLeft } from '../domain/quarantine.ts';
import type { FileProblem, LoadedCase } from './suite.ts';

/** Days before its end from which a quarantine is warned of. */
const NEAR = 14;

/** Quarantines that are over, or soon will be: from then on no gate of a batch with the case is met. `today`: ISO 8601. */
export function quarantineWarnings(cases: readonly LoadedCase[], today: string): readonly FileProblem[] {
  return cases.flatMap(({ kase, file, lineOf }): FileProblem[] => {
    const { quarantine } = kase;
    if (quarantine === undefined) return [];
    const left = daysLeft(quarantine, today);
    if (left > NEAR) return [];
    const { until, owner, reason } = quarantine;
    const when =
      left <= 0
        ? `is over since ${until}; no gate is met`
        : `ends ${left === 1 ? 'today' : `in ${left - 1} ${left === 2 ? 'day' : 'days'}, on ${until}`}; after it no gate is met`;
    const message = `quarantine.until: the quarantine of ${kase.id} (${owner}: ${reason}) ${when} until the case is mended, taken out of quarantine, or given a new day`;
    return [{ file, line: lineOf('quarantine.until') ?? lineOf('quarantine'), column: null, message, suggestion: null }];
  });
}
