import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { AskedApproval } from '../store/store.ts';
import type { Root } from '../worker/root.ts';
import { type ApprovalReceipt, DECISION_REFUSED, DECISION_TOO_EARLY, decideUpdate } from '../workflows/messages.ts';
import { NotFoundError } from './api.ts';

/** A worker that runs answers at once; and a call that was approved may take its time. */
const ANSWER_MS = 60_000;

const PAUSE_MS = 300;

/** What somebody decides of a request. */
export interface Decision {
  readonly approved: boolean;
  /** Who decides, as the record names them. */
  readonly by: string;
  readonly reason?: string;
}

/** A decision that counted, and what became of the call; `told` is null while that is under way. */
export type DecisionReceipt = ApprovalReceipt & { readonly asked: AskedApproval };

/** The decision does not count: it came too late, or after another. Nothing was changed by it. */
export class DecisionRefusedError extends Error {
  override readonly name = 'DecisionRefusedError';
  readonly code = 'decision_refused';
  readonly request: string;

  constructor(request: string, why: string) {
    super(`${request}: ${why}`);
    this.request = request;
  }
}

/** Nobody answered: no worker runs the trial now. Whether the decision counts is not known. */
export class DecisionUnansweredError extends Error {
  override readonly name = 'DecisionUnansweredError';
  readonly code = 'decision_unanswered';
  readonly request: string;

  constructor(request: string) {
    super(
      `${request}: no worker answered within ${ANSWER_MS / 1000} s, so it is not known whether the decision counts; run the batch's own command again, or "trialbed worker", then look at "trialbed approvals"`,
    );
    this.request = request;
  }
}

/** Decides a request by an update of its trial's workflow, for exactly what the store shows of it. */
export async function decide(root: Pick<Root, 'store' | 'temporal'>, id: string, { approved, by, reason }: Decision): Promise<DecisionReceipt> {
  const asked = await root.store.askedApproval(id);
  if (!asked) throw new NotFoundError(`there is no request ${id}; \`trialbed approvals\` lists what waits`);
  const { trial, attempt, operation, approval } = asked;
  if (approval.end)
    throw new DecisionRefusedError(
      asked.id,
      `${approval.end.outcome}${approval.end.by === null ? '' : ` by ${approval.end.by}`} at ${approval.end.at} already`,
    );
  const answer = { attempt, operation, approved, digest: approval.digest, by, reason: reason ?? null };
  const deadline = Date.now() + ANSWER_MS;
  const handle = root.temporal.workflow.getHandle(trial);
  for (;;) {
    try {
      const receipt = await root.temporal.withDeadline(deadline, () => handle.executeUpdate(decideUpdate, { args: [answer] }));
      return { ...receipt, asked };
    } catch (error) {
      const cause = failureOf(error);
      if (cause?.type !== DECISION_TOO_EARLY || Date.now() > deadline - PAUSE_MS) throw meaning(asked.id, error, cause);
      const now = await root.store.askedApproval(asked.id);
      // It does not wait any more, so it was not too early.
      if (now?.approval.end !== null) throw meaning(asked.id, error, cause);
      await pause(PAUSE_MS);
    }
  }
}

function failureOf(error: unknown): ApplicationFailure | null {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : null;
  return cause instanceof ApplicationFailure ? cause : null;
}

function meaning(id: string, error: unknown, cause: ApplicationFailure | null): unknown {
  if (cause?.type === DECISION_REFUSED || cause?.type === DECISION_TOO_EARLY) return new DecisionRefusedError(id, cause.message);
  if (error instanceof WorkflowNotFoundError) return new DecisionRefusedError(id, 'its trial does not run any more');
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return new DecisionUnansweredError(id);
  return error;
}
