import type { Client } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { printable } from '../../domain/text/bounded.ts';
import type { WorkflowTaskEvidence } from '../../domain/why.ts';
import { isoTime } from './times.ts';

type History = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history'];
export type HistoryEvent = NonNullable<NonNullable<NonNullable<History>['events']>[number]>;

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;
const MAX_MESSAGE = 1_000;
const MAX_STACK = 4_000;
const MAX_NAME = 200;

/**
 * Why the workflow task that is due fails again and again, from the newest events (the newest first): Temporal writes down the first failure of a row alone. Null: the task before
 * it was completed.
 */
export async function taskTrouble(client: Client, events: readonly HistoryEvent[]): Promise<Pick<WorkflowTaskEvidence, 'failure' | 'after'> | null> {
  const completed = events.findIndex(({ workflowTaskCompletedEventAttributes: done }) => done);
  const since = completed < 0 ? events : events.slice(0, completed);
  const failed = since.find(({ workflowTaskFailedEventAttributes: task, workflowTaskTimedOutEventAttributes: late }) => task || late);
  if (!failed) return null;
  const before = since.slice(since.indexOf(failed));
  return { failure: await failureOf(client, failed), after: messageIn(before) };
}

async function failureOf(client: Client, event: HistoryEvent): Promise<WorkflowTaskEvidence['failure']> {
  const worker = event.workflowTaskFailedEventAttributes?.identity ?? '';
  const place = { worker: worker === '' ? null : printable(worker, MAX_NAME), event: Number(String(event.eventId ?? 0)), at: isoTime(event.eventTime) };
  const { cause, failure } = event.workflowTaskFailedEventAttributes ?? {};
  if (!event.workflowTaskFailedEventAttributes)
    return { cause: 'TIMED_OUT', type: 'TIMED_OUT', message: 'the worker that had it did not answer in time', file: null, stack: '', ...place };
  const name = WorkflowTaskFailedCause[cause ?? 0] ?? String(cause);
  const error = await decodeOptionalFailureToOptionalError(client.options.loadedDataConverter, failure).catch(() => undefined);
  const stack = printable(error?.stack ?? failure?.stackTrace ?? '', MAX_STACK);
  return {
    cause: name.replace('WORKFLOW_TASK_FAILED_CAUSE_', ''),
    type: typeIn(stack) ?? (error ? typeOf(error) : name),
    message: printable(error?.message ?? failure?.message ?? '', MAX_MESSAGE),
    file: fileIn(stack),
    stack,
    ...place,
  };
}

/** The message that the task had to take: the last one before it failed. */
function messageIn(events: readonly HistoryEvent[]): WorkflowTaskEvidence['after'] {
  for (const { eventId, workflowExecutionSignaledEventAttributes: signal, workflowExecutionUpdateAdmittedEventAttributes: update } of events) {
    const event = Number(String(eventId ?? 0));
    if (signal) return { kind: 'signal', name: printable(signal.signalName ?? '', MAX_NAME), event };
    if (update) return { kind: 'update', name: printable(update.request?.input?.name ?? '', MAX_NAME), event };
  }
  return null;
}

/** What an error calls itself in its stack: a failed workflow task has no other place for it. */
function typeIn(stack: string): string | null {
  return /^(?:Uncaught )?([A-Za-z]\w{0,60}(?:Error|Exception|Failure)): /m.exec(stack)?.[1] ?? null;
}

/** The first place of a stack that is not of a library, else its first place. */
export function fileIn(stack: string): string | null {
  const places = [...stack.matchAll(/^\s*at .*?\(?([^\s()]+:\d+:\d+)\)?$/gm)].map(([, place = '']) => place.replace(/^file:\/\//, ''));
  return places.find((place) => !/node_modules|^node:|@temporalio/.test(place)) ?? places[0] ?? null;
}

/** What a failure calls itself; of a failure that only wraps another one, its kind. */
export function typeOf(failure: Error): string {
  const { type } = failure as { type?: unknown };
  return printable(typeof type === 'string' && type !== '' ? type : failure.name, MAX_NAME);
}
