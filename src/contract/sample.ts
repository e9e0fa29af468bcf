import { createHash } from 'node:crypto';

/** A recorded call that a tool answered. */
export interface Candidate {
  readonly tool: string;
  /** Name of its cassette. */
  readonly cassette: string;
  /** Place of the interaction in it, from 1. */
  readonly place: number;
}

/** One call of each tool, chosen by a seed; in order of the tools' names. The same seed and cassettes give the same calls, in whatever order they are named. */
export function sampled(candidates: readonly Candidate[], seed: string): readonly Candidate[] {
  const drawn = (one: Candidate) =>
    createHash('sha256')
      .update(JSON.stringify([seed, one.tool, one.cassette, one.place]))
      .digest('hex');
  return [...Map.groupBy(candidates, ({ tool }) => tool).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, all]) => all.map((one) => ({ one, draw: drawn(one) })).reduce((least, next) => (next.draw < least.draw ? next : least)).one);
}
