import { ApplicationFailure, condition, log, setHandler } from '@temporalio/workflow';
import type { ApprovalEnd } from '../domain/approval.ts';
import type { Door } from './door.ts';
import type { Gate } from './gate.ts';
import { type ApprovalAnswer, type ApprovalReceipt, approveSignal, decideUpdate, DECISION_REFUSED, DECISION_TOO_EARLY, denySignal } from './messages.ts';

/** How long whoever decided is kept waiting for what became of the call. */
const RECEIPT_MS = 30_000;
const UNKNOWN_SENDER = 'a Temporal signal';

/** How decisions of people reach the gate of the attempt that runs. */
export class Decisions {
  private readonly attempt: () => number;
  private readonly onUpdate: () => void;
  private gate: Gate | null = null;
  private door: Door | null = null;

  /** `onUpdate`: told of each update that was accepted; signals are none. */
  constructor(attempt: () => number, onUpdate: () => void) {
    this.attempt = attempt;
    this.onUpdate = onUpdate;
  }

  /** Calls that wait for a decision. */
  get waiting(): Gate['waiting'] {
    return this.gate?.waiting ?? [];
  }

  /** From now on decisions are for this attempt's gate; null: there is none. */
  open(gate: Gate | null, door: Door | null): void {
    this.gate = gate;
    this.door = door;
  }

  /** Takes the update, and the plain signals `approve` and `deny`. */
  listen(): void {
    setHandler(decideUpdate, (answer) => this.decide(answer), { validator: (answer) => this.validate(answer) });
    setHandler(approveSignal, (raw) => this.signalled(true, raw));
    setHandler(denySignal, (raw) => this.signalled(false, raw));
  }

  private validate(answer: ApprovalAnswer): void {
    const ended = this.door?.told.approvalOf(answer.operation) ?? null;
    // A worker that took over repeats what the lost one had not yet reported.
    const early = answer.attempt >= this.attempt() && ended === null && !this.waiting.some(({ id, digest }) => id === answer.operation && digest !== null);
    const why = this.refusal(answer, ended);
    if (why !== null) throw ApplicationFailure.nonRetryable(why, early ? DECISION_TOO_EARLY : DECISION_REFUSED);
  }

  private refusal({ attempt, operation, approved, digest, by }: ApprovalAnswer, ended: ApprovalEnd | null): string | null {
    if (attempt !== this.attempt()) return `Attempt ${attempt} of the trial has ended; attempt ${this.attempt()} runs now.`;
    if (ended) return `${operation} has been decided already: ${ended.outcome}${ended.by === null ? '' : ` by ${ended.by}`} at ${ended.at}.`;
    return this.gate ? this.gate.refusal({ operation, approved, digest, by }) : 'The trial asks nobody for approvals now.';
  }

  private async decide({ operation, approved, digest, by, reason }: ApprovalAnswer): Promise<ApprovalReceipt> {
    this.onUpdate();
    const { gate, door } = this;
    // Decided between the check and now.
    if (!gate || !door || !gate.decide({ operation, approved, digest, by }, 'update', reason))
      throw ApplicationFailure.nonRetryable(`${operation} has been decided by somebody else meanwhile.`, DECISION_REFUSED);
    await condition(() => door.told.approvalOf(operation) !== null, RECEIPT_MS);
    const end = door.told.approvalOf(operation) ?? { outcome: approved ? 'approved' : 'refused', by, via: 'update', reason, at: new Date().toISOString() };
    return { operation, end, told: door.told.endOf(operation) };
  }

  /** Nobody is told whether it counted, so what does not is only logged. */
  private signalled(approved: boolean, raw: unknown): void {
    const {
      operation,
      digest,
      by,
      reason,
      attempt = this.attempt(),
    } = (typeof raw === 'object' && raw !== null ? raw : {}) as { readonly [field: string]: unknown };
    const counted =
      typeof operation === 'string' &&
      attempt === this.attempt() &&
      this.gate?.decide(
        { operation, approved, by: typeof by === 'string' && by !== '' ? by : UNKNOWN_SENDER, ...(typeof digest === 'string' && { digest }) },
        'signal',
        typeof reason === 'string' ? reason : null,
      );
    if (!counted)
      log.warn('a signal that approves or denies did not count', {
        attempt: this.attempt(),
        approved,
        operation: typeof operation === 'string' ? operation.slice(0, 100) : null,
      });
  }
}
