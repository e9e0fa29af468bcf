import { isDate } from '../text/instant.ts';
import type { Candidate } from './candidates.ts';

/** A date as written in a text. `year` is null where none is written; `swapped`: day and month could also be read the other way round. */
export interface WrittenDate {
  readonly at: number;
  readonly end: number;
  readonly text: string;
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
  readonly swapped: boolean;
}

/** Dates in a sentence: ISO, `3 March 2026`, `March 3rd`, `the 3rd of March`, `03.04.2026`. Words such as "tomorrow" are none. */
export function datesIn(sentence: string): WrittenDate[] {
  if (!/\d/.test(sentence)) return [];
  const found: WrittenDate[] = [];
  for (const { pattern, read } of FORMS) {
    for (const match of sentence.matchAll(pattern)) {
      const date = read(match.slice(1));
      const [at, end] = [match.index, match.index + match[0].length];
      if (date === null || found.some((other) => at < other.end && other.at < end)) continue;
      found.push({ ...date, at, end, text: match[0] });
    }
  }
  return found.sort((a, b) => a.at - b.at);
}

/** Dates of a sentence against an expected ISO date, or date-time read as it is written (its offset aside): then the time of day must be there too. */
export function datesAgainst(sentence: string, expected: string): Candidate[] {
  const wanted = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?/u.exec(expected);
  if (wanted === null) return [];
  const [year, month, day] = [Number(wanted[1]), Number(wanted[2]), Number(wanted[3])];
  const time = wanted[4] === undefined ? null : Number(wanted[4]) * 60 + Number(wanted[5]);
  const times = timesIn(sentence);
  return datesIn(sentence).map((date) => {
    const yearFits = date.year === null || date.year === year;
    const asWritten = yearFits && date.month === month && date.day === day;
    const turned = yearFits && date.swapped && date.month === day && date.day === month;
    const place = { at: date.at, end: date.end, text: date.text };
    if (!asWritten && !turned) return { ...place, match: 'wrong' };
    if (date.swapped) return { ...place, match: 'maybe' };
    if (time === null || times.includes(time)) return { ...place, match: 'right' };
    return { ...place, match: times.length === 0 ? 'maybe' : 'wrong' };
  });
}

/** Whether a sentence names a day in relation to another, which takes a calendar to resolve. */
export function relativeDay(sentence: string): boolean {
  return /\b(?:today|tonight|tomorrow|yesterday|(?:next|this|last|coming|on) (?:week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|in (?:a|one|two|three|four|five|six|seven|\d+) (?:days?|weeks?|months?))\b/iu.test(
    sentence,
  );
}

const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const MONTH = '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const YEAR = '(?:,?\\s+(\\d{4})(?!\\d))?';

type Reading = Omit<WrittenDate, 'at' | 'end' | 'text'> | null;

const FORMS: readonly { readonly pattern: RegExp; readonly read: (parts: readonly (string | undefined)[]) => Reading }[] = [
  { pattern: /(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?!\d|-\d)/gu, read: ([y, m, d]) => made(Number(y), Number(m), Number(d), false) },
  { pattern: /(?<![\d/])(\d{4})\/(\d{1,2})\/(\d{1,2})(?![\d/])/gu, read: ([y, m, d]) => made(Number(y), Number(m), Number(d), false) },
  {
    pattern: new RegExp(`(?<![\\d.,])${DAY}(?:\\s+of)?\\s+${MONTH}(?![\\p{L}])${YEAR}`, 'giu'),
    read: ([d, m, y]) => made(yearOf(y), monthOf(m), Number(d), false),
  },
  {
    pattern: new RegExp(`(?<![\\p{L}])${MONTH}\\s+(?:the\\s+)?${DAY}(?![\\d\\p{L}]|[.,:]\\d)${YEAR}`, 'giu'),
    read: ([m, d, y]) => made(yearOf(y), monthOf(m), Number(d), false),
  },
  { pattern: /(?<![\d./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?!\d|[./-]\d)/gu, read: ([a, , b, y]) => numeric(Number(a), Number(b), yearOf(y)) },
];

function numeric(a: number, b: number, year: number | null): Reading {
  if (b <= 12) return made(year, b, a, a <= 12 && a !== b) ?? made(year, a, b, false);
  return made(year, a, b, false);
}

function made(year: number | null, month: number, day: number, swapped: boolean): Reading {
  return isDate(year ?? 2024, month, day) ? { year, month, day, swapped } : null;
}

function yearOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  return text.length === 2 ? 2000 + Number(text) : Number(text);
}

function monthOf(name: string | undefined): number {
  const start = (name ?? '').toLowerCase().slice(0, 3);
  return MONTHS.findIndex((month) => month.startsWith(start)) + 1;
}

/** Minutes since midnight. */
function timesIn(sentence: string): number[] {
  const times: number[] = [];
  for (const match of sentence.matchAll(
    /(?<![\d:.])(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?\s?(a\.?m\.?|p\.?m\.?)(?!\p{L})|(?<![\d:])(?:\d{4}-\d{2}-\d{2}[T ])?(\d{1,2}):(\d{2})(?!\d)|\b(noon)\b/giu,
  )) {
    const [, hour, minute = '0', half, plainHour, plainMinute, noon] = match;
    if (noon !== undefined) times.push(720);
    else if (half !== undefined) times.push((Number(hour) % 12) * 60 + Number(minute) + (half.toLowerCase().startsWith('p') ? 720 : 0));
    else times.push(Number(plainHour) * 60 + Number(plainMinute));
  }
  return times;
}
