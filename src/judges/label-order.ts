import { createHash } from 'node:crypto';

/** A trial in somebody's order. */
export interface PlacedTrial {
  /** Names the trial for this person and rubric, and tells nobody which trial it is: 32 hexadecimal digits. */
  readonly item: string;
  readonly trial: string;
}

/**
 * The trials in the order in which one person labels them by one rubric: random, another one for each person and each content of a rubric, and the same whenever it is asked for. A trial has its place by itself, so
 * that what is added to a batch later moves none of those that are there.
 */
export function labelOrder(rater: string, digest: string, trials: readonly string[]): readonly PlacedTrial[] {
  const placed = trials.map((trial) => ({ item: itemOf(rater, digest, trial), trial }));
  return placed.sort((a, b) => (a.item < b.item ? -1 : 1));
}

function itemOf(rater: string, digest: string, trial: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['label', rater, digest, trial]))
    .digest('hex')
    .slice(0, 32);
}
