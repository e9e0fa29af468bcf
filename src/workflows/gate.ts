import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { ApprovalAsked, ApproverPlan, CallRef, TrialActivities, WorldAttempt } from '../activities/contract.ts';
import { type ApprovalEnd, type ApprovalNeed, APPROVER_PATIENCE_MS, dueMs, MAX_EXPIRY_MS } from '../domain/approval.ts';
import type { OperationProblem } from '../domain/operation.ts';
import { printable } from '../domain/text/bounded.ts';
import { type ApprovalDecision, Approvals } from './operations/approval.ts';

const MAX_NAME_LENGTH = 200;
const MAX_REASON_LENGTH = 500;

export interface GateOptions {
  readonly at: WorldAttempt;
  readonly approver: ApproverPlan;
  readonly activities: Pick<TrialActivities, 'requestApproval' | 'awaitApprover' | 'settleApproval'>;
  /** Whether whoever calls gives up waiting after a while, as clients outside do. */
  readonly impatient: () => boolean;
  readonly onChange: () => void;
}

/** How a call came through: with what the approval is bound to, or not at all. */
export interface Passage {
  readonly end: ApprovalEnd;
  /** Null: it is not sent. */
  readonly digest: string | null;
  /** Why it is not sent. */
  readonly problem: OperationProblem | null;
}

/** A call whose decision is still to come by the world's clock. */
interface Later {
  /** Milliseconds since 1970, of the world. */
  readonly at: number;
  isDue: boolean;
}

/** Where calls of one attempt wait for an approval. Who decides is in the plan: people, in real time, or the case's approver, by the world's clock. */
export class Gate {
  private readonly options: GateOptions;
  private readonly approvals = new Approvals();
  /** Who decided, and when. */
  private readonly given = new Map<string, Pick<ApprovalEnd, 'by' | 'via' | 'reason' | 'at'>>();
  private readonly waitingCalls = new Map<string, { readonly call: CallRef; digest: string | null }>();
  /** Calls of which the client has given up to wait for the reply. */
  private readonly givenUp = new Set<string>();
  private readonly later = new Map<string, Later>();
  private readonly deadline = Date.now() + MAX_EXPIRY_MS;
  private closed = false;

  constructor(options: GateOptions) {
    this.options = options;
  }

  /** Calls that wait, as `op-3 issue_refund`, with the digest that a decision has to name. */
  get waiting(): readonly { readonly id: string; readonly tool: string; readonly digest: string | null }[] {
    return [...this.waitingCalls.values()].map(({ call, digest }) => ({ id: call.id, tool: call.tool, digest }));
  }

  /** Asks, and waits for the answer. Never throws for a cancellation: then the call is not sent. */
  async pass(call: CallRef, need: ApprovalNeed): Promise<Passage> {
    const { at, activities, approver, onChange } = this.options;
    const { id: operation } = call;
    const people = approver.by === 'people';
    const waiting: { readonly call: CallRef; digest: string | null } = { call, digest: null };
    this.waitingCalls.set(operation, waiting);
    const expiresMs = people ? Math.max(1, Math.min(need.expiresMs, this.deadline - Date.now())) : need.expiresMs;
    const asked = await CancellationScope.nonCancellable(() => activities.requestApproval({ ...at, operation, need, expiresMs, people }));
    waiting.digest = asked.digest;
    onChange();
    const passage = people ? await this.byPeople(operation, asked, expiresMs) : await this.byCase(operation, asked, { ...need, expiresMs }, approver);
    await CancellationScope.nonCancellable(() => activities.settleApproval({ ...at, operation, end: passage.end, problem: passage.problem }));
    this.waitingCalls.delete(operation);
    onChange();
    return passage;
  }

  /** What was approved turned out to be something else when the call was to be sent. */
  async void(operation: string, end: ApprovalEnd, problem: OperationProblem): Promise<ApprovalEnd> {
    const voided: ApprovalEnd = { ...end, outcome: 'void' };
    const { at, activities } = this.options;
    await CancellationScope.nonCancellable(() => activities.settleApproval({ ...at, operation, end: voided, problem }));
    return voided;
  }

  /** Waits until the call is over, or its client has given up waiting although nobody has decided: then true. */
  async outlasts(operation: string, isOver: () => boolean): Promise<boolean> {
    const { approver, impatient } = this.options;
    const decided = () => isOver() || !this.waitingCalls.has(operation);
    try {
      if (approver.by === 'case') await condition(() => decided() || this.givenUp.has(operation));
      else if (impatient()) await condition(decided, APPROVER_PATIENCE_MS);
      else await condition(decided);
    } catch (error) {
      // Cancelled: the request is given up as well.
      if (isCancellation(error)) return false;
      throw error;
    }
    return !decided();
  }

  /** The world's clock may have moved: decisions that have come by it are taken. Gives the calls that go on. */
  async clockMoved(): Promise<readonly string[]> {
    const [any] = this.later.keys();
    if (any === undefined || this.closed) return [];
    const { at, activities } = this.options;
    const { now } = await activities.awaitApprover({ ...at, operation: any, until: null, acts: false });
    const due = [...this.later].filter(([, entry]) => entry.at <= Date.parse(now)).sort(([, a], [, b]) => a.at - b.at);
    for (const [operation, entry] of due) {
      entry.isDue = true;
      this.later.delete(operation);
    }
    return due.map(([operation]) => operation);
  }

  /** Why a decision would not count; null: it would. */
  refusal(decision: ApprovalDecision): string | null {
    if (this.options.approver.by === 'case') return 'The approver of this trial belongs to its case; run the suite with --human to decide yourself.';
    return this.closed ? 'The agent has ended its work; nothing waits for a decision any more.' : this.approvals.refusal(decision);
  }

  /** Takes a decision. False: it does not count. */
  decide(decision: ApprovalDecision, via: 'update' | 'signal', reason: string | null): boolean {
    const { approver } = this.options;
    if (approver.by === 'case' || (via === 'signal' && !approver.unverified)) return false;
    const by = printable(decision.by, MAX_NAME_LENGTH);
    const taken = this.approvals.decide({ ...decision, by });
    if (taken)
      this.given.set(decision.operation, { by, via, reason: reason === null ? null : printable(reason, MAX_REASON_LENGTH), at: new Date().toISOString() });
    return taken;
  }

  /** The agent's work is over: what waits is not sent. */
  close(): void {
    this.closed = true;
    this.approvals.withdraw();
  }

  private async byPeople(operation: string, { digest }: ApprovalAsked, expiresIn: number): Promise<Passage> {
    if (this.closed) return cancelled(new Date().toISOString());
    const outcome = await this.approvals.request({ operation, digest, expiresIn });
    const end = this.given.get(operation) ?? { by: null, via: null, reason: null, at: new Date().toISOString() };
    if (outcome.approved) return { end: { ...end, outcome: 'approved' }, digest, problem: null };
    const named = OUTCOME_OF[outcome.problem.code] ?? 'cancelled';
    const problem = named === 'refused' ? refusedBecause(end.reason) : outcome.problem;
    return { end: { ...end, outcome: named }, digest: null, problem };
  }

  private async byCase(operation: string, asked: ApprovalAsked, need: ApprovalNeed, approver: Extract<ApproverPlan, { by: 'case' }>): Promise<Passage> {
    const { at, activities, onChange } = this.options;
    const wait = dueMs(approver, need);
    const from = Date.parse(asked.now);
    const due = from + wait;
    const move = (until: number, acts: boolean) =>
      CancellationScope.nonCancellable(() => activities.awaitApprover({ ...at, operation, until: new Date(until).toISOString(), acts }));
    const soon = wait <= APPROVER_PATIENCE_MS;
    let { now } = await move(from + Math.min(wait, APPROVER_PATIENCE_MS), soon && approver.changes);
    if (!soon) {
      const entry: Later = { at: due, isDue: Date.parse(now) >= due };
      if (!entry.isDue) this.later.set(operation, entry);
      this.givenUp.add(operation);
      onChange();
      try {
        await condition(() => entry.isDue || this.closed);
      } catch (error) {
        if (!isCancellation(error)) throw error;
      }
      this.later.delete(operation);
      if (!entry.isDue) return cancelled(now);
      ({ now } = await move(due, approver.changes));
    }
    const end = { by: approver.name, via: 'case' as const, reason: approver.reason ?? null, at: now };
    if (approver.decides === 'expire' || approver.afterMs >= need.expiresMs) {
      return { end: { ...end, by: null, via: null, reason: null, outcome: 'expired' }, digest: null, problem: EXPIRED };
    }
    if (approver.decides === 'deny') return { end: { ...end, outcome: 'refused' }, digest: null, problem: refusedBecause(end.reason) };
    return { end: { ...end, outcome: 'approved' }, digest: asked.digest, problem: null };
  }
}

const OUTCOME_OF: { readonly [code: string]: ApprovalEnd['outcome'] } = {
  approval_refused: 'refused',
  approval_expired: 'expired',
  approval_void: 'void',
  approval_cancelled: 'cancelled',
};

const EXPIRED: OperationProblem = { code: 'approval_expired', message: 'Nobody approved the call in time; it was not sent.' };

function refusedBecause(reason: string | null): OperationProblem {
  return {
    code: 'approval_refused',
    message: reason === null ? 'The call was not approved; it was not sent.' : `The call was not approved; it was not sent. ${reason}`,
  };
}

function cancelled(at: string): Passage {
  const problem = { code: 'approval_cancelled', message: 'The call was cancelled while it waited for approval; it was not sent.' };
  return { end: { outcome: 'cancelled', by: null, via: null, reason: null, at }, digest: null, problem };
}
