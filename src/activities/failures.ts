import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { ToolFailure } from '../environments/define.ts';
import { FencedError, WorldGoneError } from '../environments/world.ts';
import { FAILURE } from './contract.ts';

/** Failures that are known to have had no effect and that a tool need not declare: those of the service clients, and a rolled back transaction. */
export const SERVICE_FAILURES: readonly string[] = ['mail_refused', 'mail_unavailable', 'not_found', 'invalid', 'conflict', 'tool_error'];

/** SQLSTATE classes of a server that went away, is starting, or has no room: the same query may go through later. */
const PASSING_SQLSTATE = /^(08|57P0|53|40)/;
const PASSING_SYSTEM = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND']);

/** Turns whatever an activity throws into a failure that the workflow can tell apart: passing trouble of ours is retried, a defect is not. */
export function toFailure(error: unknown): Error {
  if (error instanceof TemporalFailure) return error;
  if (error instanceof Error && isServiceLoss(error)) return ApplicationFailure.nonRetryable(error.message, FAILURE.infrastructure);
  if (error instanceof ToolFailure) {
    const details = error.retryAfterSeconds === undefined ? [] : [{ retryAfterSeconds: error.retryAfterSeconds }];
    return ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: true, details });
  }
  if (error instanceof WorldGoneError) return ApplicationFailure.nonRetryable(error.message, FAILURE.worldGone);
  if (error instanceof FencedError) return ApplicationFailure.nonRetryable(error.message, FAILURE.fenced);
  const message = error instanceof Error ? error.message : String(error);
  if (isPassing(error)) return ApplicationFailure.create({ message, type: FAILURE.infrastructure, nonRetryable: false });
  const name = error instanceof Error ? error.name : 'Error';
  return ApplicationFailure.create({ message, type: name, nonRetryable: true, ...(error instanceof Error ? { cause: error } : {}) });
}

const LOST_REPLIES = new Set(['mail_outcome_unknown', 'ticket_outcome_unknown']);
/** More recipients than a message may have: the agent's own doing, and not our trouble. */
const TOO_MANY_RECIPIENTS = 452;

/** Whether the world's inbox or ticket service, which are ours, could not do a call or lost its reply. No fault asked for it, so what really happened has to be asked. */
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
  if (typeof code === 'string' && (PASSING_SQLSTATE.test(code) || PASSING_SYSTEM.has(code) || code === 'store_unavailable')) return true;
  if (/Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(error.message)) return true;
  return error.cause !== undefined && isPassing(error.cause);
}
