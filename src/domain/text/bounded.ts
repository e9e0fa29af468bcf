import type { Json, JsonObject } from '../json.ts';

const MAX_STRING = 400;
const MAX_ITEMS = 60;
const MAX_DEPTH = 6;

/** The longest text that any rule reads, in UTF-16 units. */
const MAX_TEXT = 200_000;

/** A text as rules read it, in Unicode NFC. What lies beyond 200,000 UTF-16 units is not looked at. */
export function readable(text: string): string {
  return text.slice(0, MAX_TEXT).normalize('NFC');
}

/** Text that any store accepts: no lone surrogate, no NUL (both become U+FFFD), at most `max` UTF-16 units. */
export function printable(text: string, max: number = MAX_STRING): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  return cut.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** A JSON value as evidence: strings, lists and depth bounded, so that a finding stays small whatever an agent wrote. */
export function evidence(value: Json | undefined, depth = 0): Json {
  if (value === undefined) return null;
  if (typeof value === 'string') return printable(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) return '…';
  if (isList(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => evidence(item, depth + 1));
    return value.length > MAX_ITEMS ? [...items, '…'] : items;
  }
  const entries = Object.entries(value);
  const kept = entries.slice(0, MAX_ITEMS).map(([key, item]) => [printable(key), evidence(item, depth + 1)] as const);
  return Object.fromEntries(entries.length > MAX_ITEMS ? [...kept, ['…', '…'] as const] : kept);
}

/** A value inside a sentence: text in quotation marks, everything bounded. */
export function quote(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return `"${printable(value, 160)}"`;
  return printable(JSON.stringify(evidence(value)), 200);
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
