import { casesNeeded, detectableDifference, repeatsNeeded } from '../../domain/statistics/detectable.ts';
import { pairedRateDifference } from '../../domain/statistics/paired.ts';
import { critical } from '../../domain/statistics/quantiles.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import { isScored } from '../../domain/standing.ts';
import type { Question } from './answers.ts';
import type { Answer, Need, Noise, Sensitivity } from './comparison.ts';
import type { Matched } from './match.ts';

/** What a comparison of this size can show, and what it would take to show less. */
export function sensitivityOf(answer: Answer, matched: readonly Matched[], question: Question, level: number): Sensitivity {
  const { cases } = answer;
  if (cases < 2) return { detectable: null, needs: [] };
  // Where no pair or few differ, the standard error says less than the interval does.
  const half = (answer.interval.high - answer.interval.low) / 2 / critical(level, cases - 1);
  const precision = { standardError: Math.max(answer.standardError ?? 0, half), cases, level };
  const detectable = detectableDifference(precision);
  const seen = Math.abs(answer.gain ?? 0);
  const asked = answer.answer === 'not_shown' && seen >= LEAST ? [seen, ...SIZES] : SIZES;
  const within = withinCases(matched, question);
  const needs = [...new Set(asked)].map(
    (difference): Need => ({
      difference,
      cases: casesNeeded(difference, precision),
      times: within === null ? null : repeatsNeeded(difference, { ...precision, within: within.variance, repeats: within.repeats }),
    }),
  );
  return { detectable: Math.min(1, detectable), needs };
}

/** Odd repetitions of an agent against its even ones, as if they were two agents: nothing may be shown. Null where no trial has a second repetition. */
export function noiseOf(facts: readonly TrialFacts[], level: number): Noise | null {
  const scored = facts.filter((one) => isScored(one) && (one.pass === 'pass' || one.pass === 'fail'));
  const pairs = [...Map.groupBy(scored, ({ case: id, schedule }) => JSON.stringify([id, schedule])).values()].flatMap((group) => {
    const passes = new Map(group.map((one) => [one.repetition, one.pass === 'pass']));
    return group.flatMap((one) => {
      const other = passes.get(one.repetition + 1);
      return one.repetition % 2 === 0 || other === undefined ? [] : [{ case: one.case, difference: Number(other) - Number(one.pass === 'pass') }];
    });
  });
  const found = pairedRateDifference(pairs, level);
  return found === null ? null : { pairs: found.n, differ: found.higher + found.lower, difference: found.difference, interval: found.interval };
}

/** A difference below this is none. */
const LEAST = 0.005;
/** Differences that people ask about. */
const SIZES = [0.1, 0.05];

/** Variance of differences within cases, and how many trials a case has. Null where no case has two. */
function withinCases(matched: readonly Matched[], { of }: Question): { readonly variance: number; readonly repeats: number } | null {
  const pairs = matched.flatMap(({ a, b }) => {
    const [one, other] = [of(a), of(b)];
    return one === null || other === null ? [] : [{ case: a.case, difference: Number(other) - Number(one) }];
  });
  const groups = [...Map.groupBy(pairs, (pair) => pair.case).values()].map((all) => all.map(({ difference }) => difference));
  const freedom = pairs.length - groups.length;
  if (freedom <= 0) return null;
  const squares = groups.reduce((total, values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return total + values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  }, 0);
  return { variance: squares / freedom, repeats: pairs.length / groups.length };
}
