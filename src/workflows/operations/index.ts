/**
 * The operation state machine, for use in workflows: in trials here, and in production workflows that want to meet the same states.
 * Runs inside the workflow sandbox; imports nothing but `@temporalio/workflow`.
 */
export { Approvals, DuplicateRequestError } from './approval.ts';
export type { ApprovalDecision, ApprovalOutcome, ApprovalRequest } from './approval.ts';
export { classifyFailure, TIMEOUTS_NOT_RETRIED, WORKER_SHUTDOWN } from './classify.ts';
export type { Classified, ClassifyOptions, FailureReason } from './classify.ts';
export { contentDigest, idempotencyKey, IdempotencyKeys } from './idempotency.ts';
export type { KeyAnswer } from './idempotency.ts';
export { runOperation } from './operation.ts';
export type { OperationOptions, OperationOutcome, Recovery } from './operation.ts';
export { performOperation } from './perform.ts';
export type { DeniedOutcome, PerformOptions } from './perform.ts';
export { proxyOperations } from './proxy.ts';
export { reconcile, repeatWithKey } from './reconcile.ts';
export type { ReconcilePolicy } from './reconcile.ts';
export { IllegalTransitionError, isFinal, transition } from './state.ts';
export type { OperationProblem, OperationState } from '../../domain/operation.ts';
