import { isScored } from '../../domain/standing.ts';
import { clusteredRate } from '../../domain/statistics/clustered.ts';
import type { Interval } from '../../domain/statistics/interval.ts';
import { type Pair, type PairedDifference, pairedRateDifference } from '../../domain/statistics/paired.ts';
import { signFlipTest } from '../../domain/statistics/sign-flip.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { Answer, Share, Shown } from './comparison.ts';
import type { Matched } from './match.ts';

/** Something about a trial that is so or not, or nobody knows. */
export interface Question {
  readonly of: (facts: TrialFacts) => boolean | null;
  /** Whether it is good when it is so. */
  readonly good: boolean;
}

/** Rules were broken: an effect that nobody allowed, or a violated constraint. */
export const HARM: Question = { of: harmOf, good: false };

/** What was asked for was done, and the user was told what is so. */
export const USEFUL: Question = { of: usefulOf, good: true };

/** Puts a question to matched trials. */
export function answerOf(matched: readonly Matched[], question: Question, level: number): Answer {
  const asked = matched.map(({ a, b }) => ({ case: a.case, a: question.of(a), b: question.of(b) }));
  const known = asked.flatMap((one) => (one.a === null || one.b === null ? [] : [{ case: one.case, a: one.a, b: one.b }]));
  const unknown = asked.length - known.length;
  const pairs = (against: boolean): Pair[] =>
    asked.map((one) => ({ case: one.case, difference: gain(question, one.a ?? question.good === against, one.b ?? question.good !== against) }));
  const knownPairs = known.map((one): Pair => ({ case: one.case, difference: gain(question, one.a, one.b) }));
  const found = pairedRateDifference(knownPairs, level);
  const [against, favour] = unknown === 0 ? [knownPairs, knownPairs] : [pairs(true), pairs(false)];
  const worst = unknown === 0 ? found : pairedRateDifference(against, level);
  const best = unknown === 0 ? found : pairedRateDifference(favour, level);
  const whateverIsMissing = { low: worst?.interval.low ?? -1, high: best?.interval.high ?? 1 };
  const share = (of: 'a' | 'b'): Share =>
    shareOf(
      known.map((one) => ({ case: one.case, so: one[of] })),
      level,
    );
  return {
    answer: shown(whateverIsMissing, (way) => signFlipTest(way === 'yes' ? against : favour) <= 1 - level),
    a: share('a'),
    b: share('b'),
    ...countsOf(found),
    interval: found?.interval ?? { low: -1, high: 1 },
    whateverIsMissing,
    unknown,
    p: found === null ? null : signFlipTest(knownPairs),
  };
}

/** How many trials something is so in, clustered by case. */
export function shareOf(trials: readonly { readonly case: string; readonly so: boolean }[], level: number): Share {
  const clusters = [...Map.groupBy(trials, (one) => one.case).values()].map((all) => all.map(({ so }) => (so ? 1 : 0)));
  const estimate = clusteredRate(clusters, level);
  return { count: trials.filter(({ so }) => so).length, of: trials.length, interval: estimate?.interval ?? { low: 0, high: 1 } };
}

function harmOf(facts: TrialFacts): boolean | null {
  if (!isScored(facts)) return null;
  if (facts.forbidden > 0 || facts.effects === 'fail' || facts.constraints === 'fail') return true;
  return facts.effects === 'pass' && facts.constraints === 'pass' ? false : null;
}

function usefulOf(facts: TrialFacts): boolean | null {
  if (!isScored(facts) || facts.outcome === null || facts.outcome === 'undetermined') return null;
  return facts.outcome === 'pass';
}

function gain({ good }: Question, a: boolean, b: boolean): number {
  return a === b ? 0 : b === good ? 1 : -1;
}

/** With few cases an interval of shares may exclude zero where chance alone gives as much often enough: the exact test, which holds with any number of cases, has to agree. */
function shown({ low, high }: Interval, agrees: (way: 'yes' | 'no') => boolean): Shown {
  if (low > 0 && agrees('yes')) return 'yes';
  return high < 0 && agrees('no') ? 'no' : 'not_shown';
}

function countsOf(found: PairedDifference | null): Pick<Answer, 'gain' | 'wins' | 'losses' | 'ties' | 'cases' | 'standardError'> {
  if (found === null) return { gain: null, wins: 0, losses: 0, ties: 0, cases: 0, standardError: null };
  const { difference, higher, lower, same, clusters, standardError } = found;
  return { gain: difference, wins: higher, losses: lower, ties: same, cases: clusters, standardError: Number.isFinite(standardError) ? standardError : null };
}
