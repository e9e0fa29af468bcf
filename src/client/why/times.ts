import { durationText } from '../../report/duration-text.ts';

/** A time as Temporal's protocol has it. */
interface Timestamp {
  readonly seconds?: { toString(): string } | number | null;
  readonly nanos?: number | null;
}

export function isoTime(time: Timestamp | null | undefined): string | null {
  const seconds = Number(String(time?.seconds ?? 0));
  return time && seconds > 0 ? new Date(seconds * 1000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString() : null;
}

/** How long ago, for people. */
export function ago(now: Date, time: string): string {
  return `${since(now, time)} ago`;
}

/** How long it has lasted, for people. */
export function since(now: Date, time: string): string {
  return durationText(Math.max(0, secondsBetween(time, now)));
}

/** How long it will last, for people. */
export function until(now: Date, time: string): string {
  return durationText(Math.max(0, -secondsBetween(time, now)));
}

export function secondsBetween(time: string, now: Date): number {
  return (now.getTime() - Date.parse(time)) / 1000;
}
