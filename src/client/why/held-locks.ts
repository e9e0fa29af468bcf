import { secondsBetween } from './times.ts';
import type { TrialFacts } from './trial-facts.ts';

/** Shorter waits for a lock are how databases work. */
const LONG_SECONDS = 1;

/** Those that are waited for so long that it holds somebody up, the longest first. */
export function heldLocks(now: Date, locks: TrialFacts['locks']): TrialFacts['locks'] {
  return locks.filter(({ waits, holders }) => holders.length > 0 && waits.since !== null && secondsBetween(waits.since, now) >= LONG_SECONDS);
}
