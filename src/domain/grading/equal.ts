import type { Json } from '../json.ts';
import type { TextComparison } from '../record.ts';
import { canonicalText } from '../text/canonical.ts';
import { compareDecimals, type Decimal, decimalOf, decimalText, rounded } from '../text/decimal.ts';
import { dateTimeOf } from '../text/instant.ts';

/**
 * Equal after declared normalisation only. A number equals a number or a numeric text of the same value (`25` and `"25.00"`), rounded at `scale` where
 * one is declared. Two texts are compared as numbers only where a scale is declared; else by instant when both are ISO date-times (both with an offset,
 * or both without), else exactly in Unicode NFC; where `text` is declared, two texts are compared as it says and in no other way. Null equals null only.
 * Lists and objects are equal member by member.
 */
export function valuesEqual(expected: Json, found: Json, scale?: number, text?: TextComparison): boolean {
  if (expected === null || found === null) return expected === found;
  if (text !== undefined && typeof expected === 'string' && typeof found === 'string') return written(expected, text) === written(found, text);
  if (typeof expected === 'object' || typeof found === 'object') {
    return typeof expected === 'object' && typeof found === 'object' && canonicalText(expected) === canonicalText(found);
  }
  if (typeof expected === 'boolean' || typeof found === 'boolean') return expected === found;
  if (typeof expected === 'number' || typeof found === 'number' || scale !== undefined) {
    const left = decimalAt(expected, scale);
    const right = decimalAt(found, scale);
    if (left !== null && right !== null) return compareDecimals(left, right) === 0;
    if (typeof expected === 'number' || typeof found === 'number') return false;
  }
  const left = dateTimeOf(expected);
  const right = dateTimeOf(found);
  if (left !== null && right !== null && left.offset === right.offset) return left.nanos === right.nanos;
  return expected.normalize('NFC') === found.normalize('NFC');
}

/** One text for column values that {@link valuesEqual} calls equal, given that both come from the same column. */
export function columnText(value: Json, scale?: number, text?: TextComparison): string {
  if (text !== undefined && typeof value === 'string') return `x${written(value, text)}`;
  if (typeof value === 'number' || (typeof value === 'string' && scale !== undefined)) {
    const number = decimalAt(value, scale);
    if (number !== null) return `n${decimalText(number)}`;
  }
  if (typeof value === 'string') {
    const time = dateTimeOf(value);
    if (time !== null) return `t${time.offset ? 'z' : ''}${time.nanos}`;
  }
  return canonicalText(value);
}

/**
 * Order of two values, or null where they have none: by number when both are numeric, by instant when both are date-times, by day when one is a plain date,
 * else by text.
 */
export function compareValues(found: Json, bound: number | string, scale?: number, text?: TextComparison): number | null {
  if (typeof found !== 'number' && typeof found !== 'string') return null;
  if (text !== undefined && typeof found === 'string' && typeof bound === 'string') {
    const [a, b] = [written(found, text), written(bound, text)];
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const left = decimalAt(found, scale);
  const right = decimalAt(bound, scale);
  if (left !== null && right !== null) return compareDecimals(left, right);
  if (typeof found === 'number' || typeof bound === 'number') return null;
  const from = dateTimeOf(found);
  const to = dateTimeOf(bound);
  if (from !== null && to !== null) return from.offset !== to.offset ? null : from.nanos < to.nanos ? -1 : from.nanos > to.nanos ? 1 : 0;
  const day = from !== null || to !== null ? 10 : Number.POSITIVE_INFINITY;
  const a = found.slice(0, day).normalize('NFC');
  const b = bound.slice(0, day).normalize('NFC');
  return a < b ? -1 : a > b ? 1 : 0;
}

function written(value: string, text: TextComparison): string {
  return text === 'caseless' ? value.toLowerCase() : value;
}

function decimalAt(value: number | string, scale: number | undefined): Decimal | null {
  const number = decimalOf(value);
  return number === null || scale === undefined ? number : rounded(number, scale);
}
