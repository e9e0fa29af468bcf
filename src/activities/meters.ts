import type { ToldState } from '../domain/operation.ts';
import type { TrialSummary } from '../domain/trial.ts';

/** What a worker counts for those who watch it. */
export interface Meters {
  attemptEnded(summary: TrialSummary): void;
  /** Calls of an attempt that is graded for the first time. The name of a tool that there is not is left out: it is the agent's own text. */
  operationsGraded(told: readonly { readonly tool: string; readonly state: ToldState }[]): void;
  /** A world was asked for; after so many milliseconds it was there, or not. */
  worldLeased(ms: number, outcome: 'leased' | 'failed'): void;
  worldReleased(how: 'reset' | 'dropped'): void;
}
