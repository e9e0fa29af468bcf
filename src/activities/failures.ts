import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure, TemporalFailure } from '@temporalio/common';
import { printable } from '../domain/text/bounded.ts';
import { ToolFailure } from '../environments/define.ts';
import { FencedError, WorldGoneError, WorldServerAwayError } from '../environments/world.ts';
import { WORKER_SHUTDOWN } from '../workflows/operations/classify.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import { FAILURE } from './contract.ts';

/** Failures that are known to have had no effect and that a tool need not declare: those of the service clients, and a rolled back transaction. */
export const SERVICE_FAILURES: readonly string[] = ['mail_refused', 'mail_unavailable', 'not_found', 'not_permitted', 'invalid', 'conflict', 'tool_error'];

/** SQLSTATE classes of a server that went away, is starting, or has no room: the same query may go through later. */
const PASSING_SQLSTATE = /^(08|57P0|53|40)/;
const PASSING_SYSTEM = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Turns whatever an activity throws into a failure that the workflow can tell apart: passing trouble of ours is retried, a defect is not. */
export function toFailure(error: unknown): Error {
  if (error instanceof TemporalFailure) return error;
  if (error instanceof Error && isServiceLoss(error)) return ApplicationFailure.nonRetryable(messageOf(error), FAILURE.infrastructure);
  if (error instanceof ToolFailure) {
    const details = error.retryAfterSeconds === undefined ? [] : [{ retryAfterSeconds: error.retryAfterSeconds }];
    // What a tool refuses is an answer, and no trouble that a log has to show.
    const category = ApplicationFailureCategory.BENIGN;
    return ApplicationFailure.create({ message: messageOf(error), type: printable(error.code), nonRetryable: true, details, category });
  }
  if (error instanceof WorldGoneError) return ApplicationFailure.nonRetryable(error.message, FAILURE.worldGone);
  if (error instanceof WorldServerAwayError)
    return ApplicationFailure.create({ message: messageOf(error), type: FAILURE.infrastructure, nonRetryable: error.lasting });
  if (error instanceof FencedError) return ApplicationFailure.nonRetryable(error.message, FAILURE.fenced);
  const message = messageOf(error);
  if (isPassing(error)) return ApplicationFailure.create({ message, type: FAILURE.infrastructure, nonRetryable: false });
  const failure = ApplicationFailure.create({ message, type: error instanceof Error ? printable(error.name) : 'Error', nonRetryable: true });
  // Where it was thrown, without the error itself: what a library puts into one has no bounds.
  if (error instanceof Error) failure.stack = printable(error.stack ?? '', MAX_STACK_LENGTH);
  return failure;
}

/** What an activity ends with that was told to stop: cancelled with its trial, or lost with a worker that shuts down, which is no doing of the agent's. */
export function interruption(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof CancelledFailure && !isShutdown(signal)) return reason;
  return ApplicationFailure.nonRetryable('the worker shuts down', WORKER_SHUTDOWN);
}

/** The same failure of ours, after which another worker goes on; a cancellation stays one. */
export function passing(error: unknown): Error {
  const failure = toFailure(error);
  if (!(failure instanceof ApplicationFailure) || failure.type === FAILURE.worldGone) return failure;
  return ApplicationFailure.create({ message: failure.message, ...(failure.type && { type: failure.type }), nonRetryable: false, cause: failure });
}

/** Whether an activity is stopped because its worker is. */
export function isShutdown({ reason }: AbortSignal): boolean {
  return reason instanceof CancelledFailure && reason.message === 'WORKER_SHUTDOWN';
}

const MAX_STACK_LENGTH = 4_000;

function messageOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error), MAX_PROBLEM_LENGTH);
}

const LOST_REPLIES = new Set(['mail_outcome_unknown', 'ticket_outcome_unknown', 'tool_server_lost']);
/** More recipients than a message may have: the agent's own doing, and not our trouble. */
const TOO_MANY_RECIPIENTS = 452;

/** Whether the world's inbox, ticket service or tool server could not do a call or lost its reply. No fault asked for it, so what really happened has to be asked. */
export function isServiceLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && LOST_REPLIES.has(code)) return true;
  return code === 'mail_unavailable' && (error.cause as { responseCode?: unknown } | undefined)?.responseCode !== TOO_MANY_RECIPIENTS;
}

/** Whether the trouble is of our own systems and may pass by itself. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && (PASSING_SQLSTATE.test(code) || PASSING_SYSTEM.has(code) || code === 'store_unavailable' || code === 'live_away'))
    return true;
  if (/Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(error.message)) return true;
  return error.cause !== undefined && isPassing(error.cause);
}
