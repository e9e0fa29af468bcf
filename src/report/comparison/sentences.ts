import type { AmountComparison, Comparison, Noise, Sensitivity } from './comparison.ts';
import { count, intervalText, namesOf, percentText, pointsText } from './wording.ts';

/** Whether repetitions of the same agent differ as much as the two do. Not escaped. */
export function noiseSentences(comparison: Comparison): readonly string[] {
  const names = namesOf(comparison);
  return (['a', 'b'] as const).map((side) => noiseSentence(names[side], comparison.noise[side]));
}

/** What a comparison of this size can show. */
export function sensitivitySentences({ sensitivity, safer, useful }: Comparison): readonly string[] {
  return [...sensitivityOf('Safer', sensitivity.safer, safer.cases), ...sensitivityOf('More useful', sensitivity.useful, useful.cases)];
}

/** A mean amount and its difference, for a table. */
export function amountTexts({ a, b, difference, interval, unit }: AmountComparison): readonly [string, string, string, string] {
  const text = (value: number): string => `${numberText(value)}${unit === '' ? '' : ` ${unit}`}`;
  const sign = difference > 0 ? '+' : '';
  return [text(a), text(b), `${sign}${text(difference)}`, interval === null ? '' : `${numberText(interval.low)} to ${numberText(interval.high)}`];
}

function noiseSentence(name: string, noise: Noise | null): string {
  if (noise === null) return `${name} against itself: no trial has a second repetition.`;
  const same = noise.interval.low <= 0 && noise.interval.high >= 0;
  const verdict = same
    ? 'No difference is shown, as it should be.'
    : 'A difference is shown where there can be none but chance or order: take what is found with care.';
  return `${name} against itself, odd repetitions against even ones: ${noise.differ} of ${count(noise.pairs, 'pair')} differ (${percentText(noise.differ / noise.pairs)}), ${pointsText(noise.difference)} points (${intervalText(noise.interval)}). ${verdict}`;
}

function sensitivityOf(label: string, { detectable, needs }: Sensitivity, cases: number): readonly string[] {
  if (detectable === null) return [`${label}: with fewer than two cases nothing can be shown.`];
  return [
    `${label}: with ${count(cases, 'case')} a true difference of ${points(detectable)} points is shown four times in five, a smaller one less often.`,
    ...needs.map((need) => `For ${points(need.difference)} points: ${needText(need.cases, need.times, cases)}.`),
  ];
}

function needText(needed: number | null, times: number | null, cases: number): string {
  if (needed === null) return 'more than a million cases';
  if (needed <= cases) return 'these cases are enough';
  const more = `${needed - cases} more cases (${needed} in all)`;
  return times === null ? `${more}; no number of repetitions of these is enough` : `${more}, or ${times.toFixed(1)} times as many trials of each of these`;
}

function points(share: number): string {
  return (share * 100).toFixed(1);
}

function numberText(value: number): string {
  const size = Math.abs(value);
  return size >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(size >= 10 || Number.isInteger(value) ? 1 : size >= 0.1 ? 2 : 4);
}
