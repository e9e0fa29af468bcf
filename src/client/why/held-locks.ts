import { secondsBetween } from './times.ts';
import type { TrialFacts } from './trial-facts.ts';

/** Shorter waits for a lock are how databases work. */
const LONG_SECONDS = 1;

/**
 * Those that hold somebody up, the longest first: whoever waits has waited for long, or waits again and again for a transaction that has lasted for long, as a write does that waits a
 * short while at a time.
 */
export function heldLocks(now: Date, locks: TrialFacts['locks']): TrialFacts['locks'] {
  const long = (since: string | null): boolean => since !== null && secondsBetween(since, now) >= LONG_SECONDS;
  return locks.filter(({ waits, holders }) => holders.length > 0 && (long(waits.since) || holders.some(({ since }) => long(since))));
}
