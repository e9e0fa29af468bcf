import { ApplicationFailure, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { CallRef, FAILURE, ToolPlan, TrialActivities, WorldAttempt } from '../activities/contract.ts';
import { type OperationOutcome, type Recovery, runOperation } from './operations/operation.ts';

/** Losses of the harness's own, which no fault schedule injected: what really happened is asked, so that load and crashes never decide a verdict. */
const OURS = new Set(['heartbeat', 'worker_shutdown', 'start_to_close', 'schedule_to_close', 'never_started']);

/** Failure types with which an activity says the same. Kept in step with `FAILURE` of the activities' contract, which workflow code may import as types only. */
const OUR_FAILURES: ReadonlySet<string> = new Set<(typeof FAILURE)[keyof typeof FAILURE]>(['Infrastructure', 'WorldGone', 'Fenced']);

const patient = proxyLocalActivities<TrialActivities>({
  startToCloseTimeout: '60 seconds',
  scheduleToCloseTimeout: '4 minutes',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/** Carries a checked call to its outcome: ordinary activity without retries for whatever can have an effect, local activity for short reads. */
export function dispatchCall(at: WorldAttempt, call: CallRef, tool: ToolPlan): Promise<OperationOutcome<unknown>> {
  const operate = tool.local
    ? proxyLocalActivities<TrialActivities>({ startToCloseTimeout: tool.timeoutMs, retry: { maximumAttempts: 1 } }).operate
    : proxyActivities<TrialActivities>({
        startToCloseTimeout: tool.timeoutMs,
        heartbeatTimeout: '10 seconds',
        retry: { maximumAttempts: 1 },
        cancellationType: 'WAIT_CANCELLATION_COMPLETED',
        summary: `${call.id} ${call.tool}`,
      }).operate;
  return runOperation<unknown>({
    definite: tool.definite,
    dispatch: (dispatch) => operate({ ...at, operation: call.id, tool: call.tool, dispatch }),
    recover: async (dispatch): Promise<Recovery<unknown>> => {
      const found = await patient.recoverOperation({ ...at, operation: call.id, dispatch });
      if (found.found === 'undetermined') {
        // It happened, but its reply is lost, which no fault asked for: another attempt in a new world is the only fair answer.
        throw ApplicationFailure.nonRetryable(`the reply of ${call.id} (${call.tool}) was lost with its worker`, 'ReplyLost');
      }
      return found.found === 'committed' ? { found: 'committed', value: null } : found;
    },
    heals: (reason, problem) => OURS.has(reason) || OUR_FAILURES.has(problem.code),
  });
}
