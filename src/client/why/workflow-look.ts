import type { Client } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError, decodeUserMetadata } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { printable } from '../../domain/text/bounded.ts';
import type { ActivityEvidence, WorkflowTaskEvidence } from '../../domain/why.ts';
import { isoTime } from './times.ts';
import { type HistoryEvent, taskTrouble, typeOf } from './task-trouble.ts';

/** A workflow as Temporal has it now. */
export interface WorkflowLook {
  /** Such as `RUNNING` or `TERMINATED`. */
  readonly status: string;
  readonly run: string;
  readonly startedAt: string | null;
  readonly closedAt: string | null;
  readonly queue: string;
  /** The version of a deployment on which it goes on; null: it is bound to none. */
  readonly version: string | null;
  /** Those that were scheduled and have not ended. */
  readonly activities: readonly (Omit<ActivityEvidence, 'kind'> & { readonly queue: string })[];
  /** Null: it has nothing to do now. */
  readonly task: Omit<WorkflowTaskEvidence, 'kind'> | null;
  /** Why it ended as it did, such as the reason of a termination; null: it runs, or says nothing. */
  readonly end: string | null;
}

type Description = Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;
type PendingActivity = NonNullable<Description['pendingActivities']>[number];

const { WorkflowExecutionStatus, PendingActivityState, PendingWorkflowTaskState } = proto.temporal.api.enums.v1;

/** Events that are looked at, from the end of a history: what has not ended was mostly begun among them. */
const LAST_EVENTS = 60;
const MAX_MESSAGE = 400;
const GRPC_NOT_FOUND = 5;

/** What Temporal says of a workflow, without asking the workflow itself, which may never answer. Null: it knows none of this id. @throws what the connection throws */
export async function lookAtWorkflow(client: Client, workflowId: string, deadline: number): Promise<WorkflowLook | null> {
  const { namespace } = client.options;
  const execution = { workflowId };
  const asked = client.withDeadline(deadline, () =>
    Promise.all([
      client.workflowService.describeWorkflowExecution({ namespace, execution }),
      client.workflowService.getWorkflowExecutionHistoryReverse({ namespace, execution, maximumPageSize: LAST_EVENTS }),
    ]),
  );
  try {
    const [description, { history }] = await asked;
    return await lookOf(client, description, history?.events ?? []);
  } catch (error) {
    if ((error as { code?: unknown }).code === GRPC_NOT_FOUND) return null;
    throw error;
  }
}

/** `events`: the newest first. */
async function lookOf(client: Client, description: Description, events: readonly HistoryEvent[]): Promise<WorkflowLook> {
  const info = description.workflowExecutionInfo;
  const task = description.pendingWorkflowTask;
  const running = info?.status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
  const version = info?.versioningInfo?.deploymentVersion;
  const trouble = task && running ? await taskTrouble(client, events) : null;
  return {
    status: nameOf(WorkflowExecutionStatus, info?.status, 'WORKFLOW_EXECUTION_STATUS_'),
    run: info?.execution?.runId ?? '',
    startedAt: isoTime(info?.startTime),
    closedAt: isoTime(info?.closeTime),
    queue: info?.taskQueue || (description.executionConfig?.taskQueue?.name ?? ''),
    version: version?.buildId ? version.buildId : null,
    activities: await Promise.all((description.pendingActivities ?? []).map((activity) => activityOf(client, activity, events))),
    task:
      task && running
        ? {
            state: task.state === PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED ? 'started' : 'scheduled',
            attempt: Math.max(1, task.attempt ?? 1),
            since: isoTime(task.originalScheduledTime ?? task.scheduledTime),
            failure: trouble?.failure ?? null,
            after: trouble?.after ?? null,
          }
        : null,
    end: running ? null : endOf(events[0]),
  };
}

async function activityOf(client: Client, activity: PendingActivity, events: readonly HistoryEvent[]): Promise<WorkflowLook['activities'][number]> {
  const scheduled = events.find(({ activityTaskScheduledEventAttributes: attributes }) => attributes && attributes.activityId === activity.activityId);
  const { loadedDataConverter } = client.options;
  const failure = await decodeOptionalFailureToOptionalError(loadedDataConverter, activity.lastFailure).catch(
    () => new Error(activity.lastFailure?.message ?? ''),
  );
  const { staticSummary } = await decodeUserMetadata(loadedDataConverter, scheduled?.userMetadata).catch(() => ({ staticSummary: undefined }));
  const state = activity.state ?? PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED;
  return {
    activity: printable(activity.activityType?.name ?? '', MAX_MESSAGE),
    summary: staticSummary ? printable(staticSummary, MAX_MESSAGE) : null,
    state: STATES[state] ?? 'scheduled',
    attempt: Math.max(1, activity.attempt ?? 1),
    maxAttempts: activity.maximumAttempts || null,
    scheduledAt: isoTime(scheduled?.eventTime ?? activity.scheduledTime),
    startedAt: state === PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED ? null : isoTime(activity.lastStartedTime),
    // Of an attempt before, it says nothing.
    lastHeartbeatAt: laterOf(isoTime(activity.lastHeartbeatTime), isoTime(activity.lastStartedTime)),
    nextTryAt: isoTime(activity.nextAttemptScheduleTime),
    lastWorker: activity.lastWorkerIdentity ? printable(activity.lastWorkerIdentity, MAX_MESSAGE) : null,
    lastFailure: failure === undefined ? null : { type: typeOf(failure), message: printable(failure.message, MAX_MESSAGE) },
    queue: scheduled?.activityTaskScheduledEventAttributes?.taskQueue?.name ?? activity.activityOptions?.taskQueue?.name ?? '',
  };
}

const STATES: { readonly [state: number]: ActivityEvidence['state'] } = {
  [PendingActivityState.PENDING_ACTIVITY_STATE_STARTED]: 'started',
  [PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED]: 'cancelling',
  [PendingActivityState.PENDING_ACTIVITY_STATE_PAUSED]: 'paused',
  [PendingActivityState.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED]: 'paused',
};

function laterOf(beat: string | null, started: string | null): string | null {
  return beat !== null && started !== null && beat > started ? beat : null;
}

/** Why a workflow is closed, in the words of its last event. */
function endOf(last: HistoryEvent | undefined): string | null {
  const reason = last?.workflowExecutionTerminatedEventAttributes?.reason ?? last?.workflowExecutionFailedEventAttributes?.failure?.message ?? '';
  return reason === '' ? null : printable(reason, MAX_MESSAGE);
}

function nameOf(names: { readonly [name: string]: unknown }, value: number | null | undefined, prefix: string): string {
  const name = names[value ?? 0];
  return typeof name === 'string' ? name.replace(prefix, '') : String(value);
}
