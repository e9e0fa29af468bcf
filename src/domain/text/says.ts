import type { TextRule } from '../case.ts';
import { readable } from './bounded.ts';
import { compareDecimals, decimalOf } from './decimal.ts';

/** One part of a text rule that does not hold. */
export interface Unsaid {
  readonly kind: 'missing' | 'present';
  /** The phrase, or the phrases of which one was expected. */
  readonly phrases: readonly string[];
}

/** Which parts of the rule a text breaks; empty when it holds. */
export function brokenParts(rule: TextRule, text: string): Unsaid[] {
  const broken: Unsaid[] = [];
  const folded = fold(text);
  for (const part of rule.says ?? []) {
    const phrases = typeof part === 'string' ? [part] : part;
    if (!phrases.some((phrase) => foldedSays(folded, phrase))) broken.push({ kind: 'missing', phrases });
  }
  for (const phrase of rule.not_says ?? []) {
    if (foldedSays(folded, phrase)) broken.push({ kind: 'present', phrases: [phrase] });
  }
  return broken;
}

/**
 * Whether a text holds a phrase at word boundaries. Case, Unicode form, the kind of white space and of apostrophe do not count.
 * A phrase that is a number is found as a whole number and by its value: `25` and `25.00` in `€25.00`, `10` neither in `$110` nor in `10.5` or `2026-03-10`.
 */
export function says(text: string, phrase: string): boolean {
  return foldedSays(fold(text), phrase);
}

/** A text as phrases are looked up in it. */
export function fold(text: string): string {
  return readable(text)
    .replace(/[\u00AD\u200B-\u200D\u2060]/gu, '')
    .replace(/[\u2018\u2019\u02BC]/gu, "'")
    .replace(/[\u2010\u2011]/gu, '-')
    .replace(/\s+/gu, ' ')
    .toLowerCase();
}

/** Places of a phrase in a folded text, at word boundaries. */
export function placesOf(folded: string, phrase: string): number[] {
  const wanted = fold(phrase).trim();
  if (wanted === '') return [];
  const places: number[] = [];
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + 1)) {
    if (boundaryBefore(folded, at) && boundaryAfter(folded, at + wanted.length)) places.push(at);
  }
  return places;
}

const NUMBER = /^\d+(?:\.\d+)?$/u;
const IN_WORD = /[\p{L}\p{N}\p{M}_]/u;
/** Scripts that are written without spaces: a phrase may begin and end anywhere. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const CURRENCY_CODE = '(?:eur|usd|gbp|chf|jpy|cad|aud|sek|nok|dkk|pln|czk)';
const NUMBERS = new RegExp(
  `(?<![\\p{L}\\p{N}_]|\\d[.,:/-])(?:${CURRENCY_CODE})?(\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|\\d+(?:\\.\\d+)?)(?:${CURRENCY_CODE})?(?![\\p{L}\\p{N}_]|[.,:/-]\\d)`,
  'gu',
);

function foldedSays(folded: string, phrase: string): boolean {
  const wanted = fold(phrase).trim();
  if (!NUMBER.test(wanted) || /^0\d/.test(wanted)) return placesOf(folded, wanted).length > 0;
  const value = decimalOf(wanted);
  if (value === null) return placesOf(folded, wanted).length > 0;
  for (const found of folded.matchAll(NUMBERS)) {
    const digits = found[1] ?? '';
    const other = /^0\d/.test(digits) ? null : decimalOf(digits.replaceAll(',', ''));
    if (other !== null && compareDecimals(value, other) === 0) return true;
  }
  return false;
}

function boundaryBefore(text: string, at: number): boolean {
  if (at === 0) return true;
  const edge = codePoint(text, at);
  const before = lastCodePoint(text, at);
  if (!IN_WORD.test(edge) || UNSPACED.test(edge)) return true;
  if (/\d/.test(edge) && /\d[.,]$/.test(text.slice(Math.max(0, at - 2), at))) return false;
  return !IN_WORD.test(before) || UNSPACED.test(before);
}

function boundaryAfter(text: string, end: number): boolean {
  if (end >= text.length) return true;
  const edge = lastCodePoint(text, end);
  const after = codePoint(text, end);
  if (/\p{M}/u.test(after)) return false;
  if (!IN_WORD.test(edge) || UNSPACED.test(edge)) return true;
  if (/\d/.test(edge) && /^[.,]\d/.test(text.slice(end, end + 2))) return false;
  return !IN_WORD.test(after) || UNSPACED.test(after);
}

function codePoint(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 32);
}

function lastCodePoint(text: string, end: number): string {
  const low = text.charCodeAt(end - 1);
  return low >= 0xdc00 && low <= 0xdfff && end >= 2 ? codePoint(text, end - 2) : text.charAt(end - 1);
}
