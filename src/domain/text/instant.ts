/** An ISO 8601 date-time. `offset`: it names one (`Z`, `+01:00`); without, it is local time and only comparable with local time. */
export interface DateTime {
  readonly offset: boolean;
  /** Nanoseconds since 1970 (of local time where no offset is named). */
  readonly nanos: bigint;
}

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?\s?(Z|z|[+-]\d{2}(?::?\d{2})?)?$/;

/** Reads `2026-03-02T09:30:00+01:00` and PostgreSQL's `2026-03-02 09:30:00+01`; null for anything else, a plain date and an impossible one included. */
export function dateTimeOf(text: string): DateTime | null {
  if (text.length > 64) return null;
  const found = DATE_TIME.exec(text);
  if (found === null) return null;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '00', fraction = '', zone] = found;
  if (!isDate(Number(year), Number(month), Number(day))) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const milliseconds = Date.UTC(2000, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const date = new Date(milliseconds);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const nanos = BigInt(date.getTime()) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return { offset: zone !== undefined, nanos: nanos - BigInt(minutesOf(zone)) * 60_000_000_000n };
}

/** A plain ISO date `2026-03-02` that exists. */
export function isPlainDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return found !== null && isDate(Number(found[1]), Number(found[2]), Number(found[3]));
}

/** Whether the calendar has this day (month from 1). */
export function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (days[month - 1] ?? 0);
}

function minutesOf(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || '0');
  return zone.startsWith('-') ? -minutes : minutes;
}
