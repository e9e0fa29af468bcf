import { condition, isCancellation } from '@temporalio/workflow';
import type { Duration } from '@temporalio/common';
import type { OperationProblem } from '../../domain/operation.ts';

/** What a person or a system decided about one operation. */
export interface ApprovalDecision {
  /** The operation's id, as the request named it. */
  readonly operation: string;
  readonly approved: boolean;
  /** Who decided; for the record. */
  readonly by: string;
  /** Of what was shown to the one who decided. Where the request has a digest, an approval of another content, or of none, is void. */
  readonly digest?: string;
}

export interface ApprovalRequest {
  readonly operation: string;
  /** Real time after which the request has expired. */
  readonly expiresIn: Duration;
  /** Of the exact content that would be carried out ({@link contentDigest}), so that an approval holds for nothing else. */
  readonly digest?: string;
}

export type ApprovalOutcome = { readonly approved: true; readonly by: string } | { readonly approved: false; readonly problem: OperationProblem };

/**
 * Requests of one workflow that wait for a decision. The workflow defines its own signal or update and hands each decision to {@link decide};
 * a query may show {@link pending}.
 */
export class Approvals {
  private readonly waiting = new Map<string, Entry>();

  /** What waits for a decision. */
  get pending(): readonly ApprovalRequest[] {
    return [...this.waiting.values()].filter(({ decision }) => decision === null).map(({ request }) => request);
  }

  /** Why a decision would not count, in a sentence for whoever gives it; null: it would. For the validator of an update. */
  refusal({ operation, approved, digest }: ApprovalDecision): string | null {
    const entry = this.waiting.get(operation);
    if (!entry) return `Nothing of the id ${operation} waits for a decision: it was never asked for, has been decided, or has expired.`;
    if (entry.decision) return `${operation} has been decided already, by ${entry.decision.by}.`;
    if (!approved || entry.request.digest === undefined || digest === entry.request.digest) return null;
    return digest === undefined
      ? `An approval of ${operation} must name the digest of what was shown, since it holds for nothing else.`
      : `${operation} has another content than what this approval is for.`;
  }

  /** Nobody waits for decisions any more: what waits ends as cancelled. */
  withdraw(): void {
    for (const entry of this.waiting.values()) entry.withdrawn = true;
  }

  /** Takes the first decision. False where nothing of this id waits: never asked for, already decided, or expired. */
  decide(decision: ApprovalDecision): boolean {
    const entry = this.waiting.get(decision.operation);
    if (!entry || entry.decision || entry.withdrawn) return false;
    entry.decision = decision;
    return true;
  }

  /**
   * Waits for the decision. Never throws for its absence: expired, void and cancelled are denials, since nothing has been dispatched.
   * @throws {DuplicateRequestError} when a request of this id is waiting already
   */
  async request(request: ApprovalRequest): Promise<ApprovalOutcome> {
    if (this.waiting.has(request.operation)) throw new DuplicateRequestError(request.operation);
    const entry: Entry = { request, decision: null, withdrawn: false };
    this.waiting.set(request.operation, entry);
    try {
      await condition(() => entry.decision !== null || entry.withdrawn, request.expiresIn);
      return entry.withdrawn && !entry.decision ? CANCELLED : outcomeOf(request, entry.decision);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return CANCELLED;
    } finally {
      this.waiting.delete(request.operation);
    }
  }
}

interface Entry {
  readonly request: ApprovalRequest;
  decision: ApprovalDecision | null;
  withdrawn: boolean;
}

/** Two requests of one id at a time: a defect of the workflow, since a decision could not be told apart. */
export class DuplicateRequestError extends Error {
  override readonly name = 'DuplicateRequestError';
  readonly code = 'duplicate_request';
  readonly operation: string;

  constructor(operation: string) {
    super(`a request for approval of ${operation} is waiting already; give each operation an id of its own`);
    this.operation = operation;
  }
}

function outcomeOf(request: ApprovalRequest, decision: ApprovalDecision | null): ApprovalOutcome {
  if (!decision) return denied('approval_expired', 'Nobody approved the call in time; it was not sent.');
  if (!decision.approved) return denied('approval_refused', 'The call was not approved; it was not sent.');
  if (request.digest !== undefined && decision.digest !== request.digest) {
    return denied('approval_void', 'The approval was given for another content; the call was not sent.');
  }
  return { approved: true, by: decision.by };
}

const CANCELLED = denied('approval_cancelled', 'The call was cancelled while it waited for approval; it was not sent.');

function denied(code: string, message: string): ApprovalOutcome {
  return { approved: false, problem: { code, message } };
}
