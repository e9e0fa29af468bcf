import type { Columns, EffectPattern, MailPattern, Matcher, RowPattern, TextRule } from '../case.ts';
import type { MailEffect, RowEffect } from '../effect.ts';
import type { Json, JsonObject } from '../json.ts';
import type { TextComparison } from '../record.ts';
import { isObject, printable, quote } from '../text/bounded.ts';
import { mailbox } from '../text/mailbox.ts';
import { brokenParts } from '../text/says.ts';
import { addressesText, brokenText, describe, expectation, isOperator, isTextRule, type OperatorName, phrasesText } from './words.ts';
import { compareValues, valuesEqual } from './equal.ts';
import { changedColumns, columnOf, factsOf, type NetEffect, scaleOf, textOf, type Tables } from './net.ts';

/** One difference between what a pattern expects and what was found. */
export interface Mismatch {
  /** Column, or part of a mail: `recipients`, `from`, `subject`, `body`. */
  readonly at: string;
  readonly expected: Json;
  readonly found: Json;
  /** The difference as half a sentence, for example `column amount is "20.00", expected 25`. */
  readonly text: string;
}

/** How a pattern is applied. `only: 'explicit'`: an update may differ in any column unless the pattern lists `only` itself. */
export interface MatchOptions {
  readonly tables: Tables;
  readonly only?: 'default' | 'explicit';
}

/** Whether an effect is of the kind that a pattern speaks of: a mail, or a row of the same table changed in the same way. */
export function sameKind(pattern: EffectPattern, effect: NetEffect | RowEffect | MailEffect): boolean {
  if (isMailPattern(pattern)) return effect.kind === 'mail';
  return effect.kind === 'row' && effect.table === pattern.row && effect.change === pattern.change;
}

/** What keeps an effect from matching a pattern; empty when it matches, null when it is of another kind. */
export function mismatches(pattern: EffectPattern, effect: NetEffect | RowEffect | MailEffect, options: MatchOptions): Mismatch[] | null {
  if (!sameKind(pattern, effect)) return null;
  if (effect.kind === 'mail') return isMailPattern(pattern) ? mailMismatches(pattern, effect) : null;
  return isMailPattern(pattern) ? null : rowMismatches(pattern, effect, options);
}

/** Whether the arguments of a call match; without a `where` all do. What is no object has no arguments to match. */
export function argumentsMatch(where: Columns | undefined, args: Json): boolean {
  return where === undefined || (isObject(args) && columnMismatches(where, args, () => undefined).length === 0);
}

/** Columns of a row, or arguments of a call, against what is expected of them. Columns not named are free. */
export function columnMismatches(
  columns: Columns,
  row: JsonObject | null,
  scale: (column: string) => number | undefined,
  text: (column: string) => TextComparison | undefined = () => undefined,
): Mismatch[] {
  const found: Mismatch[] = [];
  for (const [column, matcher] of Object.entries(columns)) {
    const value = columnOf(row, column);
    if (value === undefined) found.push(mismatch(column, matcher, null, `there is no ${printable(column)}, expected ${describe(matcher)}`));
    else if (!matches(matcher, value, scale(column), text(column))) {
      found.push(mismatch(column, matcher, value, differsText(printable(column), value, matcher)));
    }
  }
  return found;
}

/** Whether a value is what a matcher asks for. Several operators in one object must all hold. */
export function matches(matcher: Matcher, value: Json, scale?: number, text?: TextComparison): boolean {
  if (!isOperator(matcher)) return valuesEqual(matcher as Json, value, scale, text);
  return Object.entries(matcher).every(([name, operand]) => holds(name as OperatorName, operand as Json, value, scale, text));
}

export function isMailPattern(pattern: EffectPattern): pattern is MailPattern {
  return 'mail' in pattern;
}

/** Recipients that the server accepted: who gets the mail, whatever its headers say. */
export function acceptedRecipients(mail: MailEffect): string[] {
  return mail.recipients.filter((recipient) => recipient.code >= 200 && recipient.code < 300).map((recipient) => recipient.address);
}

/** Patterns are the case author's, texts the agent's: the text is bounded so that a slow pattern stays bearable. */
const MAX_PATTERN_TEXT = 20_000;

function holds(name: OperatorName, operand: Json, value: Json, scale: number | undefined, text: TextComparison | undefined): boolean {
  switch (name) {
    case 'any':
      return true;
    case 'one_of':
      return Array.isArray(operand) && operand.some((item: Json) => valuesEqual(item, value, scale, text));
    case 'not':
      return !valuesEqual(operand, value, scale, text);
    case 'gte':
    case 'lte':
    case 'gt':
    case 'lt':
      return inBound(name, operand, value, scale, text);
    case 'matches':
      return typeof operand === 'string' && matchesPattern(operand, value, text);
    case 'says':
    case 'not_says':
      return saysRule({ [name]: operand } as TextRule, value);
  }
}

function inBound(name: 'gte' | 'lte' | 'gt' | 'lt', operand: Json, value: Json, scale: number | undefined, text: TextComparison | undefined): boolean {
  if (typeof operand !== 'number' && typeof operand !== 'string') return false;
  const order = compareValues(value, operand, scale, text);
  if (order === null) return false;
  return { gte: order >= 0, lte: order <= 0, gt: order > 0, lt: order < 0 }[name];
}

function matchesPattern(pattern: string, value: Json, text: TextComparison | undefined): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  try {
    return new RegExp(pattern, text === 'caseless' ? 'iu' : 'u').test(String(value).slice(0, MAX_PATTERN_TEXT).normalize('NFC'));
  } catch {
    return false;
  }
}

function saysRule(rule: TextRule, value: Json): boolean {
  return (typeof value === 'string' || typeof value === 'number') && brokenParts(rule, String(value)).length === 0;
}

function rowMismatches(pattern: RowPattern, effect: RowEffect, options: MatchOptions): Mismatch[] {
  const facts = factsOf(options.tables, effect.table);
  const scale = (column: string): number | undefined => scaleOf(facts, column);
  const text = (column: string): TextComparison | undefined => textOf(facts, column);
  const subject = effect.change === 'delete' ? effect.before : effect.after;
  const found = columnMismatches(pattern.where ?? {}, subject, scale, text);
  for (const difference of columnMismatches(pattern.before ?? {}, effect.before, scale, text)) {
    found.push({ ...difference, at: `before.${difference.at}`, text: `before the change ${difference.text}` });
  }
  if (effect.change !== 'update' || effect.before === null || effect.after === null) return found;
  const only = pattern.only ?? (options.only === 'explicit' || pattern.where === undefined ? undefined : Object.keys(pattern.where));
  if (only === undefined) return found;
  for (const column of changedColumns(effect.table, effect.before, effect.after, options.tables)) {
    if (only.includes(column)) continue;
    const before = columnOf(effect.before, column) ?? null;
    const after = columnOf(effect.after, column) ?? null;
    found.push({
      at: column,
      expected: before,
      found: after,
      text: `${printable(column)} changed from ${quote(before)} to ${quote(after)}, and only ${only.join(', ') || 'no column'} may change`,
    });
  }
  return found;
}

function mailMismatches(pattern: MailPattern, mail: MailEffect): Mismatch[] {
  const found: Mismatch[] = [];
  const expected = [...new Set(pattern.mail.map(mailbox))].sort();
  const recipients = [...new Set(acceptedRecipients(mail).map(mailbox))].sort();
  if (expected.join('\n') !== recipients.join('\n')) {
    found.push({ at: 'recipients', expected, found: recipients, text: `recipients are ${addressesText(recipients)}, expected ${addressesText(expected)}` });
  }
  if (pattern.from !== undefined && mailbox(pattern.from) !== mailbox(mail.from)) {
    found.push(mismatch('from', pattern.from, mail.from, `sender is ${quote(mail.from)}, expected ${quote(pattern.from)}`));
  }
  if (pattern.subject !== undefined && !matches(pattern.subject, mail.subject)) {
    found.push(mismatch('subject', pattern.subject, mail.subject, differsText('subject', mail.subject, pattern.subject)));
  }
  for (const part of pattern.body === undefined ? [] : brokenParts(pattern.body, mail.text)) {
    const expected = `a text that ${part.kind === 'missing' ? 'says' : 'does not say'} ${phrasesText(part.phrases)}`;
    found.push({ at: 'body', expected, found: printable(mail.text), text: `body ${brokenText([part])}` });
  }
  return found;
}

function mismatch(at: string, expected: Matcher, found: Json, text: string): Mismatch {
  return { at, expected: expectation(expected), found, text };
}

/** What a value is and should be. Of a text only what it lacks: a rule may ask for much. */
function differsText(what: string, value: Json, matcher: Matcher): string {
  const broken = isTextRule(matcher) && (typeof value === 'string' || typeof value === 'number') ? brokenParts(matcher, String(value)) : [];
  if (broken.length > 0) return `${what} ${quote(value)} ${brokenText(broken)}`;
  return `${what} is ${quote(value)}, expected ${describe(matcher)}`;
}
