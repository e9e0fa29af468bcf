import type { Interval } from '../../domain/statistics/interval.ts';
import type { Answer, Comparison, Share, Shown, Unmatched, UnmatchedReason } from './comparison.ts';
import { schedulesText } from './schedules-text.ts';

/** One of the four lines that a comparison opens with. Foreign names in it are not escaped for any terminal or page. */
export interface OpeningLine {
  readonly label: string;
  /** Null where the line is no question. */
  readonly answer: Shown | null;
  readonly text: string;
}

/** What a comparison opens with: safer, more useful, only under these schedules, not tested. Always these four, in this order. */
export function openingLines(comparison: Comparison): readonly [OpeningLine, OpeningLine, OpeningLine, OpeningLine] {
  const { safer, useful } = comparison;
  return [
    {
      label: 'Safer',
      answer: safer.answer,
      text: `${answerText(comparison, safer, 'broke a rule or had a forbidden effect in')} ${forbiddenText(comparison)}`,
    },
    { label: 'More useful', answer: useful.answer, text: answerText(comparison, useful, 'did what was asked in') },
    { label: 'Only under these schedules', answer: null, text: schedulesText(comparison.schedules, comparison.changes, namesOf(comparison).b) },
    { label: 'Not tested', answer: null, text: untestedText(comparison) },
  ];
}

export const SHOWN_TEXTS: { readonly [answer in Shown]: string } = { yes: 'yes', no: 'no', not_shown: 'not shown' };

/** `batch:agent`. */
export function sideText({ batch, agent }: { readonly batch: string; readonly agent: string }): string {
  return `${batch}:${agent}`;
}

/** A difference of shares, in points of a hundred. */
export function pointsText(gain: number): string {
  return `${gain > 0 ? '+' : gain < 0 ? '−' : ''}${Math.abs(gain * 100).toFixed(1)}`;
}

export function intervalText({ low, high }: Interval): string {
  return `${pointsText(low)} to ${pointsText(high)}`;
}

export function percentText(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}

export function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Names of the agents as sentences call them: with the batch where both have the same. */
export function namesOf({ a, b }: Pick<Comparison, 'a' | 'b'>): { readonly a: string; readonly b: string } {
  return a.agent === b.agent ? { a: sideText(a), b: sideText(b) } : { a: a.agent, b: b.agent };
}

function answerText(comparison: Comparison, answer: Answer, did: string): string {
  if (answer.gain === null) return `nothing is known of both in any of ${count(comparison.a.matched, 'matched trial')}.`;
  const names = namesOf(comparison);
  const times = (share: Share): string => `${share.count} of ${share.of} trials`;
  const level = `${Math.round(comparison.level * 100)}%`;
  const parts = [
    `${names.b} ${did} ${times(answer.b)}, ${names.a} in ${times(answer.a)}: a gain of ${pointsText(answer.gain)} points (${level} interval ${intervalText(answer.interval)}, ${count(answer.cases, 'case')}).`,
  ];
  if (answer.unknown > 0)
    parts.push(
      `Of ${count(answer.unknown, 'matched trial')} nobody knows it of both; whatever it was, the interval lies within ${intervalText(answer.whateverIsMissing)}.`,
    );
  const { low, high } = answer.whateverIsMissing;
  if (answer.answer === 'not_shown' && (low > 0 || high < 0) && answer.p !== null)
    parts.push(
      `The interval lies on one side of zero, but with ${count(answer.cases, 'case')} chance alone gives as much to equal agents in ${percentText(answer.p)} of comparisons.`,
    );
  return parts.join(' ');
}

function forbiddenText(comparison: Comparison): string {
  const names = namesOf(comparison);
  const of = (name: string, share: Share): string =>
    share.count === 0
      ? `${name} had 0 forbidden effects in ${count(share.of, 'trial')}, which leaves up to ${percentText(share.interval.high)} of trials possible`
      : `${name} had forbidden effects in ${share.count} of ${share.of}`;
  return `${of(names.b, comparison.forbidden.b)}; ${of(names.a, comparison.forbidden.a)}.`;
}

/** Schedules that a sentence names. */
const MOST_NAMED = 6;

const REASONS: { readonly [reason in UnmatchedReason]: (comparison: Comparison) => string } = {
  only_a: ({ a }) => `only in ${sideText(a)}`,
  only_b: ({ b }) => `only in ${sideText(b)}`,
  case_changed: () => 'of cases whose content differs',
  schedule_changed: () => 'of fault schedules whose content differs',
  generation: () => 'of another generation of the environment',
  quarantined: () => 'of quarantined cases',
  not_ended: () => 'that have not ended',
};

/** `4 of cases whose content differs`. */
export function unmatchedText(comparison: Comparison, { reason, trials }: Unmatched): string {
  return `${trials} ${REASONS[reason](comparison)}`;
}

function untestedText(comparison: Comparison): string {
  const silent = comparison.schedules.filter(({ neverFired }) => neverFired).map(({ schedule }) => schedule);
  const parts = [
    comparison.unmatched.length > 0 ? `trials in no figure: ${comparison.unmatched.map((one) => unmatchedText(comparison, one)).join(', ')}` : null,
    silent.length > 0 ? `schedules that never fired: ${silent.slice(0, MOST_NAMED).join(', ')}${silent.length > MOST_NAMED ? ' and others' : ''}` : null,
    comparison.schedules.every(({ schedule }) => schedule === 'none') ? 'faults: no schedule was run' : null,
    comparison.noise.a === null && comparison.noise.b === null ? 'chance within a case: there is one repetition' : null,
    comparison.generationsDiffer ? 'equal environments: the generations differ, and what is found may be due to that' : null,
    comparison.seedsDiffer ? 'equal chance: the batches have other seeds, so schedules with a probability drew other faults' : null,
  ].filter((part) => part !== null);
  return parts.length === 0
    ? 'nothing that both batches hold was left out; cases and schedules that they do not hold were not tested.'
    : `${parts.join('; ')}.`;
}
