import type { Json, JsonObject } from '../domain/json.ts';
import { isObject } from '../domain/text/bounded.ts';

/**
 * Makes foreign text (of agents, mails, rows, case files) safe to print on a terminal or in a log: nothing in it can move the cursor, set a colour or a
 * title, reverse the direction of reading, or hide. What is not printable is shown as an escape such as `\x1b` or `\u{202e}`.
 *
 * `lines: 'show'` (default) gives one line, with a line break as `\n`; `lines: 'keep'` keeps line breaks and makes a tab two spaces.
 */
export function plainText(text: string, options: { readonly lines?: 'show' | 'keep' } = {}): string {
  if (options.lines !== 'keep') return text.replace(UNPRINTABLE, escapeOne);
  return text
    .split(/\r\n|\n/)
    .map((line) => line.replaceAll('\t', '  ').replace(UNPRINTABLE, escapeOne))
    .join('\n');
}

/** Columns of a terminal that a text takes, once it went through {@link plainText}. */
export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts a text to so many columns; what was cut shows as an ellipsis. Cuts between graphemes, never inside one. */
export function shorten(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (displayWidth(text) <= columns) return text;
  let taken = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = graphemeWidth(segment);
    if (width + next > columns - 1) break;
    taken += segment;
    width += next;
  }
  return `${taken}…`;
}

/** Pads with spaces to so many columns. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

/** A JSON value on one line, safe to print and cut to so many columns. */
export function oneLineJson(value: unknown, columns: number = Number.POSITIVE_INFINITY): string {
  const json = JSON.stringify(value) ?? 'undefined';
  return shorten(plainText(json), columns);
}

/**
 * Expected or found values of a finding on one line, safe to print: a text as it is, since it is a sentence most of the time; the members of an object by name; anything
 * else as JSON. A text among members that JSON would have to escape is left as it is too.
 */
export function evidenceText(value: Json, columns: number = Number.POSITIVE_INFINITY): string {
  return shorten(plainText(typeof value === 'string' ? value : isObject(value) ? membersText(value) : JSON.stringify(value)), columns);
}

function membersText(members: JsonObject): string {
  const texts = Object.entries(members).map(([name, value]) => {
    const json = JSON.stringify(value);
    return `${name}: ${typeof value === 'string' && json.includes('\\') ? value : json}`;
  });
  return texts.length === 0 ? '{}' : texts.join(', ');
}

/** Controls, invisible and direction characters, lone surrogates, line and paragraph separators. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const ZERO_WIDTH_JOINER = '\u200d';
const NAMED: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function escapeOne(character: string, offset: number, whole: string): string {
  // A joiner that makes one pictogram of two is no hiding place; between letters it is.
  if (character === ZERO_WIDTH_JOINER && joinsPictograms(whole, offset)) return character;
  const named = NAMED[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

function joinsPictograms(whole: string, offset: number): boolean {
  return (
    /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u.test(whole.slice(Math.max(0, offset - 6), offset)) &&
    /^\p{Extended_Pictographic}/u.test(whole.slice(offset + 1, offset + 3))
  );
}

function graphemeWidth(grapheme: string): number {
  if (/^\p{Mark}+$/u.test(grapheme)) return 0;
  if (/\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Blocks that terminals show in two columns (Unicode Standard Annex 11, classes W and F, in whole blocks). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
];
