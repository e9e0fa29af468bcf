import type { OperationProblem } from '../../domain/operation.ts';
import type { ApprovalOutcome } from './approval.ts';
import { type OperationOptions, type OperationOutcome, runOperation } from './operation.ts';
import { reconcile, type ReconcilePolicy } from './reconcile.ts';
import { transition } from './state.ts';

/** It was never sent: not approved, or not in time. */
export interface DeniedOutcome {
  readonly state: 'denied';
  readonly problem: OperationProblem;
}

export interface PerformOptions<T> extends Omit<OperationOptions<T>, 'from'> {
  /** Waits for the approval that the operation needs, for example `() => approvals.request(...)`. Default: none is needed. */
  readonly approval?: () => Promise<ApprovalOutcome>;
  /** How an unknown outcome is found out. Default: it stays unknown, and nothing is repeated. */
  readonly reconcile?: ReconcilePolicy<T>;
}

/** One operation as production has it, whole: approval, dispatch, outcome, and what reconciling an unknown one found. */
export async function performOperation<T>(options: PerformOptions<T>): Promise<OperationOutcome<T> | DeniedOutcome> {
  const { approval, reconcile: policy, ...operation } = options;
  if (approval) {
    const waiting = transition('proposed', 'awaiting_approval');
    options.onState?.(waiting);
    const decided = await approval();
    if (!decided.approved) {
      options.onState?.(transition(waiting, 'denied'));
      return { state: 'denied', problem: decided.problem };
    }
  }
  const outcome = await runOperation({ ...operation, from: approval ? 'awaiting_approval' : 'proposed' });
  return policy ? reconcile(outcome, policy, operation) : outcome;
}
