import { holdsOn } from '../../domain/quarantine.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import { UNMATCHED_REASONS, type Unmatched, type UnmatchedReason } from './comparison.ts';

/** The same trial of two agents. */
export interface Matched {
  readonly a: TrialFacts;
  readonly b: TrialFacts;
}

export interface MatchOptions {
  /** Day, as `2027-01-31`: a case is left out as long as its quarantine holds. */
  readonly today: string;
  /** Trials of other generations of the environment are compared all the same. */
  readonly acrossGenerations: boolean;
}

/** Trials with equal case, fault schedule (both by content), repetition and generation; and what is left over, by reason. A pure function. */
export function matchTrials(
  a: readonly TrialFacts[],
  b: readonly TrialFacts[],
  options: MatchOptions,
): { readonly matched: readonly Matched[]; readonly unmatched: readonly Unmatched[] } {
  const others = new Map(b.map((facts) => [keyOf(facts), facts]));
  const matched: Matched[] = [];
  const left = new Map<UnmatchedReason, TrialFacts[]>(UNMATCHED_REASONS.map((reason) => [reason, []]));
  for (const facts of a) {
    const other = others.get(keyOf(facts));
    others.delete(keyOf(facts));
    const reason = other === undefined ? 'only_a' : reasonOf({ a: facts, b: other }, options);
    if (other !== undefined && reason === null) matched.push({ a: facts, b: other });
    else if (reason !== null) left.get(reason)?.push(facts);
  }
  left.get('only_b')?.push(...others.values());
  return {
    matched,
    unmatched: [...left].flatMap(([reason, trials]) =>
      trials.length === 0 ? [] : [{ reason, trials: trials.length, examples: trials.slice(0, EXAMPLES).map(nameOf) }],
    ),
  };
}

/** A trial in words. */
export function nameOf({ case: id, schedule, repetition }: Pick<TrialFacts, 'case' | 'schedule' | 'repetition'>): string {
  return `${id}, ${schedule}, ${repetition}`;
}

const EXAMPLES = 5;

function keyOf({ case: id, schedule, repetition }: TrialFacts): string {
  return JSON.stringify([id, schedule, repetition]);
}

function reasonOf({ a, b }: Matched, { today, acrossGenerations }: MatchOptions): UnmatchedReason | null {
  if (a.caseHash !== b.caseHash) return 'case_changed';
  if (a.scheduleHash !== b.scheduleHash) return 'schedule_changed';
  if (a.generation !== b.generation && !acrossGenerations) return 'generation';
  if ([a, b].some(({ quarantine }) => holdsOn(quarantine, today))) return 'quarantined';
  return a.ending === null || b.ending === null ? 'not_ended' : null;
}
