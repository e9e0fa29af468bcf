import type { TrialFacts } from './trial-facts.ts';
import type { Ending } from './verdict.ts';

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
