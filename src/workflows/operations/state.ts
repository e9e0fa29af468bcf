import type { OperationState } from '../../domain/operation.ts';

/** Where an operation may go from each state. An end state that is not listed as a source is final. */
const NEXT: { readonly [from in OperationState]: readonly OperationState[] } = {
  proposed: ['awaiting_approval', 'rejected', 'denied', 'dispatched'],
  awaiting_approval: ['denied', 'dispatched'],
  dispatched: ['committed', 'failed', 'unknown'],
  // Reconciliation: what the system of record knew afterwards.
  unknown: ['committed', 'failed'],
  rejected: [],
  denied: [],
  committed: [],
  failed: [],
};

/** Moves an operation on. @throws {IllegalTransitionError} when the state machine has no such step. */
export function transition(from: OperationState, to: OperationState): OperationState {
  if (!NEXT[from].includes(to)) throw new IllegalTransitionError(from, to);
  return to;
}

/** Whether the operation can still change. */
export function isFinal(state: OperationState): boolean {
  return NEXT[state].length === 0;
}

/** A step that the state machine does not have: a defect of the caller, never of the agent. */
export class IllegalTransitionError extends Error {
  override readonly name = 'IllegalTransitionError';
  readonly code = 'illegal_transition';
  readonly from: OperationState;
  readonly to: OperationState;

  constructor(from: OperationState, to: OperationState) {
    super(`an operation cannot go from ${from} to ${to}`);
    this.from = from;
    this.to = to;
  }
}
