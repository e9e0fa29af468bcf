import { z } from 'zod';
import { ToolFailure } from '../define.ts';

/** An optional text argument. Absent, null and `""` all count as missing. */
export function text(description: string) {
  return z.string().nullish().describe(description);
}

/** Reads that find rows return them, and a sentence when there are none. */
export const cells = z.record(z.string(), z.string().nullable());

export function given(value: string | null | undefined): value is string {
  return value !== undefined && value !== null && value !== '';
}

/** The text, or null when the argument is missing. */
export function orNull(value: string | null | undefined): string | null {
  return given(value) ? value : null;
}

/**
 * A date-time argument as `YYYY-MM-DD HH:MM:SS`; a bare date is midnight. Takes ISO dates and date-times without offset. (The published tools
 * understand more spellings, such as `Nov 30 2023`.)
 * @throws {ToolFailure} `invalid_date`
 */
export function dateTime(value: string): string {
  const parts = /^\s*(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?\s*$/.exec(value);
  if (parts) {
    const [year, month, day, hour, minute, second] = parts.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
    const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
    const written = `${parts[1]}-${parts[2]}-${parts[3]} ${parts[4] ?? '00'}:${parts[5] ?? '00'}:${parts[6] ?? '00'}`;
    if (!Number.isNaN(time.getTime()) && time.toISOString().slice(0, 19).replace('T', ' ') === written) return written;
  }
  throw new ToolFailure('invalid_date', `"${value}" is not a date: write YYYY-MM-DD or YYYY-MM-DD HH:MM:SS. Nothing was changed.`);
}
