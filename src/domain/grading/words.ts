import type { Columns, Matcher, TextRule } from '../case.ts';
import type { Json, JsonObject } from '../json.ts';
import { isObject, printable, quote } from '../text/bounded.ts';
import type { Unsaid } from '../text/says.ts';

/** A matcher inside a sentence: `25`, `at least 20 and at most 30`, `a text that says "pole" or "poles"`. */
export function describe(matcher: Matcher): string {
  if (!isOperator(matcher)) return quote(matcher as Json);
  return Object.entries(matcher)
    .map(([name, operand]) => operatorText(name as OperatorName, operand as Json))
    .join(' and ');
}

/** Columns and what is asked of them, inside a sentence: `order_id 1007, amount at most 25`. */
export function columnsText(columns: Columns): string {
  return Object.entries(columns)
    .map(([column, matcher]) => partText(column, matcher))
    .join(', ');
}

/** One part of a row or mail and what is asked of it: `amount 25`, `subject that says "pole"`. */
export function partText(name: string, matcher: Matcher): string {
  return `${printable(name)} ${isTextRule(matcher) ? describe(matcher).replaceAll('a text that ', 'that ') : describe(matcher)}`;
}

/** Arguments of a call inside a sentence: `order_id 1007, amount "25.00"`. */
export function argumentsText(args: Json): string {
  if (!isObject(args)) return quote(args);
  const all = Object.entries(args);
  const named = all.slice(0, MAX_NAMED).map(([name, value]) => `${printable(name)} ${quote(value)}`);
  return all.length === 0 ? 'none' : `${named.join(', ')}${all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : ''}`;
}

/** Phrases of which any one will do: `"pole" or "poles"`. */
export function phrasesText(phrases: readonly string[]): string {
  return phrases.map((phrase) => `"${printable(phrase)}"`).join(' or ');
}

/** Mail addresses: `a@x.test, b@x.test`, or `nobody`. */
export function addressesText(addresses: readonly string[]): string {
  const named = addresses.slice(0, MAX_NAMED).map((address) => printable(address, 120));
  return `${named.join(', ') || 'nobody'}${addresses.length > MAX_NAMED ? ` and ${addresses.length - MAX_NAMED} more` : ''}`;
}

/** What a text breaks of a rule: `does not say "pole" or "poles" and says "sorry", which it must not`. */
export function brokenText(parts: readonly Unsaid[]): string {
  return parts
    .map(({ kind, phrases }) => (kind === 'missing' ? `does not say ${phrasesText(phrases)}` : `says ${phrasesText(phrases)}, which it must not`))
    .join(' and ');
}

/** What is expected, as evidence: a plain value as it is, anything else in words. */
export function expectation(matcher: Matcher): Json {
  return isOperator(matcher) ? describe(matcher) : (matcher as Json);
}

const WORDS = {
  any: 'any value',
  one_of: 'one of',
  not: 'other than',
  gte: 'at least',
  lte: 'at most',
  gt: 'more than',
  lt: 'less than',
  matches: 'a text that matches',
  says: 'a text that says',
  not_says: 'a text that does not say',
} as const;
export type OperatorName = keyof typeof WORDS;

/** More than a person reads in one sentence. */
const MAX_NAMED = 20;

/** Whether a matcher is one of the operators, and not a value. */
export function isOperator(matcher: Matcher): matcher is Exclude<Matcher, Json> {
  if (!isObject(matcher as Json)) return false;
  const names = Object.keys(matcher as JsonObject);
  return names.length > 0 && names.every((name) => Object.hasOwn(WORDS, name));
}

/** Whether a matcher asks of a text what it says, and nothing else. */
export function isTextRule(matcher: Matcher): matcher is TextRule {
  return isOperator(matcher) && Object.keys(matcher).every((name) => name === 'says' || name === 'not_says');
}

function operatorText(name: OperatorName, operand: Json): string {
  const items: readonly Json[] = Array.isArray(operand) ? operand : [operand];
  if (name === 'any') return WORDS.any;
  if (name === 'one_of') return `one of ${items.map(quote).join(', ')}`;
  if (name === 'not_says') return `${WORDS.not_says} ${phrasesText(items.map(String))}`;
  if (name !== 'says') return `${WORDS[name]} ${quote(operand)}`;
  const parts = items.map((part) => (Array.isArray(part) ? phrasesText(part.map(String)) : phrasesText([String(part)])));
  // With several parts an "or" would not show where one ends.
  const told = parts.length === 1 ? parts : parts.map((part) => (part.includes('" or "') ? `(${part})` : part));
  return `${WORDS.says} ${told.join(' and ')}`;
}
