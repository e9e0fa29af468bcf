import type { ModelSpending } from '../domain/model-budget.ts';
import type { OperationProblem, ToldState } from '../domain/operation.ts';
import type { BatchStatus } from './batch-messages.ts';
import type { TrialStatus } from './messages.ts';

/** Where a trial's workflow stands at one point of its history. */
export interface TrialStanding extends TrialStatus {
  readonly kind: 'trial';
  /** What may be used at most; null before the attempt has its plan. */
  readonly budget: { readonly calls: number; readonly turns: number; readonly wallMs: number } | null;
  /** Messages of the user so far. */
  readonly turns: number;
  /** Calls beyond the budget, which were refused. */
  readonly beyondBudget: number;
  /** What the agent was told of its calls, in the order of their ends; those under way are in `inFlight` and `waiting`. */
  readonly operations: readonly { readonly id: string; readonly tool: string; readonly state: ToldState; readonly problem: OperationProblem | null }[];
}

/** Where a batch's workflow stands. */
export interface BatchStanding extends BatchStatus {
  readonly kind: 'batch';
  /** Nobody is left to be launched. */
  readonly exhausted: boolean;
  /** Further windows. */
  readonly windows: number;
}

/** What is told beside it, by parts of the workflow that have state of their own. */
export interface Standing {
  readonly workflow: TrialStanding | BatchStanding | null;
  /** What the models of the trial have used; null: none was asked. */
  readonly models: ModelSpending | null;
}

const told: { workflow: () => Standing['workflow']; models: () => Standing['models'] } = { workflow: () => null, models: () => null };

/** Names who can tell where this workflow stands. It is asked only while a history is stepped through, by `trialbed replay --step`. */
export function tells<P extends keyof typeof told>(part: P, standing: (typeof told)[P]): void {
  told[part] = standing;
}

/** Where this workflow stands now. */
export function standingNow(): Standing {
  return { workflow: told.workflow(), models: told.models() };
}
