import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { Ending } from '../../domain/verdict.ts';

/** How a trial counts: `missing` is neither passed nor failed (trouble of the test bed, a fault of the simulated user, a call that no cassette holds, cancelled), `open` has not ended. */
export type Standing = 'pass' | 'fail' | 'undetermined' | 'missing' | 'open';

export function standingOf({ ending, pass }: Pick<TrialFacts, 'ending' | 'pass'>): Standing {
  if (ending === null) return 'open';
  return WITHOUT_RESULT.includes(ending) ? 'missing' : (pass ?? 'undetermined');
}

const WITHOUT_RESULT: readonly Ending[] = ['infra_error', 'user_error', 'cassette_miss', 'cancelled'];

export function isScored(facts: Pick<TrialFacts, 'ending' | 'pass'>): boolean {
  const standing = standingOf(facts);
  return standing !== 'missing' && standing !== 'open';
}

/** Whether a case's quarantine gates nothing on this day. After its last day it counts as any other. */
export function isQuarantined({ quarantine }: Pick<TrialFacts, 'quarantine'>, day: string): boolean {
  return quarantine !== null && day.slice(0, 10) <= quarantine.until;
}
