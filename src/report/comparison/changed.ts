import { SEVERITIES, type TrialFacts } from '../../domain/trial-facts.ts';
import { HARM, USEFUL } from './answers.ts';
import type { ChangedSide, ChangedTrial } from './comparison.ts';
import type { Matched } from './match.ts';

type Change = ChangedTrial['change'] | 'same';

/** Trials that came out otherwise: those in which the second agent is worse first, by severity, then in the manifest's order. */
export function changedOf(matched: readonly Matched[]): readonly ChangedTrial[] {
  const changed = matched.flatMap((pair): ChangedTrial[] => {
    const change = changeOf(pair);
    if (change === 'same') return [];
    const { a, b } = pair;
    const { case: id, title = null, schedule, repetition, severity } = a;
    return [{ case: id, title, schedule, repetition, severity, change, a: sideOf(a), b: sideOf(b), timeline: null }];
  });
  return changed.sort(
    (one, other) => ORDER.indexOf(one.change) - ORDER.indexOf(other.change) || SEVERITIES.indexOf(other.severity) - SEVERITIES.indexOf(one.severity),
  );
}

/** How the second agent's trial came out beside the first one's. What is not known of one of them is no change. */
export function changeOf({ a, b }: Matched): Change {
  const steps = [HARM, USEFUL].map(({ of, good }) => {
    const [one, other] = [of(a), of(b)];
    return one === null || other === null || one === other ? 0 : other === good ? 1 : -1;
  });
  const [better, worse] = [steps.includes(1), steps.includes(-1)];
  return better ? (worse ? 'mixed' : 'better') : worse ? 'worse' : 'same';
}

const ORDER: readonly ChangedTrial['change'][] = ['worse', 'mixed', 'better'];

function sideOf(facts: TrialFacts): ChangedSide {
  const { trial, ending, pass } = facts;
  const harm = HARM.of(facts);
  return { trial, ending, pass, useful: USEFUL.of(facts), harm, why: (harm ? harmIn(facts) : null) ?? facts.why };
}

/** The harm comes before what else was wrong: it says more of what changed. */
function harmIn({ findings }: TrialFacts): string | null {
  return findings.find(({ view, judgement }) => view !== 'outcome' && judgement === 'fail')?.message ?? null;
}
