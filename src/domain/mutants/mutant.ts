import type { Solution } from '../case.ts';

/** The reference solution with one fault. A case that passes it has a hole. */
export interface Mutant {
  /** Stable while the case's steps and claims stay: `drop:2`, `alter:2:amount`, `answer:contradicted:refund`. Steps are counted from 1. */
  readonly id: string;
  readonly description: string;
  readonly solution: Solution;
  /** What of the case file the fault is about, for example `reference.steps[1].with.amount`. */
  readonly path: string;
}
