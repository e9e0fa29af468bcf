import { ApplicationFailure, patched, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { FAILURE, OperateCall, OperateResult, PlannedRule, ScriptCursor, TrialActivities, WorldAttempt } from '../activities/contract.ts';
import type { Dispatch } from './door.ts';
import { LOST_AFTER } from './messages.ts';
import { classifyFailure } from './operations/classify.ts';
import { type OperationOutcome, type Recovery, runOperation } from './operations/operation.ts';

/** Losses of the harness's own, which no fault schedule injected: what really happened is asked, so that load and crashes never decide a verdict. */
const OURS = new Set(['heartbeat', 'worker_shutdown', 'start_to_close', 'schedule_to_close', 'never_started']);

/** Failure types with which an activity says the same. Kept in step with `FAILURE` of the activities' contract, which workflow code may import as types only. */
const OUR_FAILURES: ReadonlySet<string> = new Set<(typeof FAILURE)[keyof typeof FAILURE]>(['Infrastructure', 'WorldGone', 'Fenced']);

const NOT_APPLICABLE: (typeof FAILURE)['faultNotApplicable'] = 'FaultNotApplicable';

/** An injected time-out is dispatched again so often where the dispatch was lost with its worker before it could commit. */
const REDISPATCHES = 3;

const patient = proxyLocalActivities<TrialActivities>({
  startToCloseTimeout: '60 seconds',
  scheduleToCloseTimeout: '4 minutes',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

type Outcome = OperationOutcome<OperateResult | null>;

/**
 * Carries a checked call to its outcome: ordinary activity without retries for whatever can have an effect, local activity for short reads. `playOn`: where the script
 * stands that made the call; its next move comes with the result, unless a fault hits the call.
 */
export async function dispatchCall(at: WorldAttempt, dispatch: Dispatch, playOn: ScriptCursor | null = null): Promise<Outcome> {
  const outcome = await carried(at, dispatch, playOn);
  // The schedule's own mistake is no outcome of the agent's call: it ends the attempt.
  if (outcome.state !== 'committed' && outcome.problem.code === NOT_APPLICABLE) throw ApplicationFailure.nonRetryable(outcome.problem.message, NOT_APPLICABLE);
  // Nothing was done, and no fault asked for that: an agent that were told so would be graded for our trouble.
  if (outcome.state === 'failed' && outcome.reason === 'absent' && patched('lost-call-ends-attempt')) {
    const why = outcome.lostBy ? `: ${outcome.lostBy.message}` : '';
    throw ApplicationFailure.nonRetryable(`${dispatch.call.id} (${dispatch.call.tool}) was lost again and again before it had its effect${why}`, 'CallLost');
  }
  return outcome;
}

function carried(at: WorldAttempt, dispatch: Dispatch, playOn: ScriptCursor | null): Promise<Outcome> {
  const { call, tool, position, faults, ended, approved } = dispatch;
  const request: Omit<OperateCall, 'dispatch'> = {
    ...at,
    operation: call.id,
    tool: call.tool,
    ...(faults.length > 0 && { faults: faults.map((rule) => rule.index), position }),
    ...(tool.looksUp && { ended }),
    ...(approved !== null && { approved }),
    ...(playOn !== null && faults.length === 0 && { playOn }),
  };
  const timeout = faults.find((rule) => rule.afterMs !== undefined);
  if (timeout) return timedOut(request, dispatch, timeout);
  const operate =
    tool.local && faults.length === 0
      ? proxyLocalActivities<TrialActivities>({ startToCloseTimeout: tool.timeoutMs, retry: { maximumAttempts: 1 }, summary: summaryOf(dispatch) }).operate
      : proxyActivities<TrialActivities>({
          startToCloseTimeout: tool.timeoutMs,
          heartbeatTimeout: LOST_AFTER,
          retry: { maximumAttempts: 1 },
          cancellationType: 'WAIT_CANCELLATION_COMPLETED',
          summary: summaryOf(dispatch),
        }).operate;
  return runOperation<OperateResult | null>({
    definite: tool.definite,
    ...(tool.redispatches !== undefined && { redispatches: tool.redispatches }),
    dispatch: (number) => operate({ ...request, dispatch: number }),
    recover: (number) => recover(at, dispatch, number),
    heals: (reason, problem) => OURS.has(reason) || OUR_FAILURES.has(problem.code),
  });
}

/**
 * A call that the schedule lets time out, for real: the activity's start-to-close is short, and the activity never reports. What the agent is told comes from the
 * server's time-out; before it is told, it is made sure that what was to commit has committed, so that load decides nothing.
 */
async function timedOut(request: Omit<OperateCall, 'dispatch'>, dispatch: Dispatch, rule: PlannedRule): Promise<Outcome> {
  const { operate } = proxyActivities<TrialActivities>({
    startToCloseTimeout: rule.afterMs ?? 0,
    retry: { maximumAttempts: 1 },
    cancellationType: 'TRY_CANCEL',
    summary: summaryOf(dispatch),
  });
  let disturbed = false;
  for (let number = 1; ; number++) {
    try {
      const value = await operate({ ...request, dispatch: number });
      return { state: 'committed', value, disturbed };
    } catch (error) {
      const { state, reason, problem } = classifyFailure(error, { definite: dispatch.tool.definite });
      if (state === 'failed') return { state, reason, problem, disturbed };
      if (reason === 'cancelled') return { state, reason, problem, disturbed };
      const injected = reason === 'start_to_close';
      // A service had its own answer ready before the time was up.
      if (!injected && !OURS.has(reason) && !OUR_FAILURES.has(problem.code)) return { state, reason, problem, disturbed };
      const { settled } = await patient.settleOperation({ ...request, dispatch: number });
      if (injected && rule.kind === 'timeout_before_commit') return { state, reason, problem, disturbed };
      if (injected && settled !== 'lost') return { state, reason, problem, disturbed };
      if (number > REDISPATCHES)
        throw ApplicationFailure.nonRetryable(`${request.operation} (${request.tool}) was lost with its worker again and again`, 'ReplyLost');
      disturbed = true;
      // It committed, and the worker was lost before it could leave the time-out to the server.
      if (settled !== 'lost') return { state: 'unknown', reason: 'start_to_close', problem: TIMED_OUT, disturbed };
    }
  }
}

const TIMED_OUT = { code: 'timeout', message: 'The call timed out; its outcome is unknown.' };

async function recover(at: WorldAttempt, { call, faults }: Dispatch, dispatch: number): Promise<Recovery<OperateResult | null>> {
  const found = await patient.recoverOperation({ ...at, operation: call.id, dispatch });
  if (found.found === 'undetermined') {
    // It happened, but its reply is lost, which no fault asked for: another attempt in a new world is the only fair answer.
    throw ApplicationFailure.nonRetryable(`the reply of ${call.id} (${call.tool}) was lost with its worker`, 'ReplyLost');
  }
  if (found.found !== 'committed') return found;
  // Dispatched again, it finds itself committed and acts no more, and the schedule still bends its reply.
  if (faults.length > 0) return { found: 'absent' };
  return { found: 'committed', value: found.told ? { at: '', found: found.told } : null };
}

function summaryOf({ call, faults }: Dispatch): string {
  return faults.length === 0 ? `${call.id} ${call.tool}` : `${call.id} ${call.tool} (${faults.map((rule) => rule.kind).join(', ')})`;
}
