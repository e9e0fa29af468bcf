import type { WhyCause, WorkflowTaskEvidence } from '../../domain/why.ts';
import { taskEvidence } from './evidence.ts';
import { type Found, said } from './found.ts';
import type { WorkflowLook } from './workflow-look.ts';

/** A workflow task that keeps failing. Null: it does not. `what` is waited for, `replay` tries today's code on its history, `again` makes it begin anew. */
export function failingTask(
  now: Date,
  workflow: WorkflowLook,
  { what, replay, again }: { readonly what: string; readonly replay: string; readonly again: string },
): Found | null {
  const { task } = workflow;
  if (!task?.failure || (task.attempt < 2 && task.state === 'started')) return null;
  const cause = causeOf(task);
  const { failure, after, attempt } = task;
  const message = said(failure.message);
  const where = failure.file === null ? `at event ${failure.event}` : `at ${failure.file}`;
  const words = {
    workflow_changed: `${what} is wedged: its workflow task fails (attempt ${attempt}), since the workflow's code is not what it began with: ${message}, ${where}`,
    payload_too_large: `${what} is wedged: its workflow task fails (attempt ${attempt}), since what it hands over is larger than Temporal takes: ${message}, ${where}`,
    message: `${what} is wedged: its workflow task fails (attempt ${attempt}), since it cannot take the ${after?.kind ?? 'message'} ${after?.name ?? ''} of event ${after?.event ?? failure.event}: ${message}, ${where}`,
    workflow_error: `${what} is wedged: its workflow task fails (attempt ${attempt}) with ${failure.type}: ${message}, ${where}`,
  };
  const next = {
    workflow_changed: `${replay} shows where the code goes another way; start a worker with the code that it began with, or give the attempt up: ${again}`,
    payload_too_large: `Nothing mends this attempt; give it up: ${again}`,
    message: `Start a worker whose code can take the message; or give the attempt up: ${again}`,
    workflow_error: `${replay} shows whether the code here throws it too; correct it and start a worker with it, and it goes on from there; or give the attempt up: ${again}`,
  };
  return { cause, sentence: words[cause], evidence: [taskEvidence(now, task)], next: next[cause] };
}

type TaskCause = Extract<WhyCause, 'workflow_changed' | 'workflow_error' | 'payload_too_large' | 'message'>;

function causeOf({ failure, after }: Pick<WorkflowTaskEvidence, 'failure' | 'after'>): TaskCause {
  if (!failure) return 'workflow_error';
  const { cause, message, stack } = failure;
  if (cause === 'NON_DETERMINISTIC_ERROR' || /TMPRL1100|nondeterminism/i.test(message)) return 'workflow_changed';
  if (TOO_LARGE.has(cause) || /exceeds size limit|TMPRL1103|too large/i.test(message)) return 'payload_too_large';
  if (after !== null && cause !== 'TIMED_OUT' && TAKES_MESSAGE.test(stack)) return 'message';
  return 'workflow_error';
}

const TOO_LARGE = new Set(['PAYLOADS_TOO_LARGE', 'GRPC_MESSAGE_TOO_LARGE']);
/** Parts of the SDK, in which a workflow is handed its messages. */
const TAKES_MESSAGE = /signalWorkflow|doUpdate|fromPayloadsAtIndex|arrayFromPayloads|fromPayload|payload-converter/;
