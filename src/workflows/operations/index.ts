/**
 * The operation state machine, for use in workflows: in trials here, and in production workflows that want to meet the same states.
 * Runs inside the workflow sandbox; imports nothing but `@temporalio/workflow`.
 */
export { classifyFailure, WORKER_SHUTDOWN } from './classify.ts';
export type { Classified, ClassifyOptions, FailureReason } from './classify.ts';
export { runOperation } from './operation.ts';
export type { OperationOptions, OperationOutcome, Recovery } from './operation.ts';
export { IllegalTransitionError, isFinal, transition } from './state.ts';
export type { OperationProblem, OperationState } from '../../domain/operation.ts';
