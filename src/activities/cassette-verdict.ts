import type { Case } from '../domain/case.ts';
import { verdictDifferences } from '../domain/cassette.ts';
import type { TrialCassette } from '../domain/trial.ts';
import type { Verdict } from '../domain/verdict.ts';

/** What a trial that was played on a cassette has to say beside its verdict; nothing of one that had a world. */
export function cassetteOf({ cassette: played }: Case, verdict: Verdict): { readonly cassette?: TrialCassette } {
  const { replayed } = verdict;
  if (!played || !replayed) return {};
  const { recorded } = played.cassette;
  const now = {
    pass: verdict.pass,
    outcome: verdict.outcome.judgement,
    constraints: verdict.constraints.judgement,
    effects: verdict.effects.judgement,
  };
  // By another case the recorded verdict says nothing.
  const comparable = replayed.route === 'recorded' && recorded.caseHash === played.caseHash;
  return {
    cassette: {
      variant: replayed.variant,
      route: replayed.route,
      unused: replayed.unused.length,
      ...(comparable && { differs: verdictDifferences(recorded.verdict, now) }),
    },
  };
}
