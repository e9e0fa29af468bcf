import { condition } from '@temporalio/workflow';
import type { CallOutcome, CallRef, OperationNote, ToolPlan } from '../activities/contract.ts';
import type { OperationProblem, ToldState } from '../domain/operation.ts';
import type { OperationOutcome } from './operations/operation.ts';

export interface DoorOptions {
  readonly tools: { readonly [name: string]: ToolPlan };
  /** Calls that the agent may make, refused ones included. */
  readonly budget: number;
  readonly dispatch: (call: CallRef, tool: ToolPlan, position: number) => Promise<OperationOutcome<unknown>>;
  /** A call changed its state; for the operator's view. */
  readonly onChange?: () => void;
}

/**
 * The one way in which an agent acts. Orders calls, counts them against the budget, gives each its position, and remembers what the agent was told.
 * The workflow's history is the authority on this order.
 */
export class Door {
  readonly notes: OperationNote[] = [];
  /** The agent asked for a call beyond its budget. */
  exhausted = false;
  /** The harness could not carry a call to any outcome: the attempt cannot be graded. */
  broken: unknown = null;
  private readonly options: DoorOptions;
  private readonly positions = new Map<string, number>();
  private readonly running = new Map<string, Promise<CallOutcome>>();
  private readonly answered = new Map<string, CallOutcome>();
  private readonly pending = new Map<string, { readonly call: CallRef; readonly seq: number; readonly position: number }>();
  private readonly keys = new Map<
    string,
    { readonly operation: string; readonly tool: string; readonly argsHash: string; readonly told: CallOutcome | null }
  >();
  private accepted = 0;
  private closed = false;
  /** The tool whose call ended the agent's work. */
  private endedBy: string | null = null;

  /** Resolves for calls that are still in flight after the door was closed. */
  private readonly cutOff: Promise<null>;
  private cut: () => void = () => {};

  constructor(options: DoorOptions) {
    this.options = options;
    this.cutOff = new Promise((resolve) => {
      this.cut = () => resolve(null);
    });
  }

  /** Calls accepted so far, refused ones included. */
  get calls(): number {
    return this.accepted;
  }

  get budget(): number {
    return this.options.budget;
  }

  /** Calls that are under way, as `op-3 issue_refund`. */
  get inFlight(): readonly string[] {
    return [...this.pending.values()].map(({ call }) => `${call.id} ${call.tool}`);
  }

  get disturbed(): boolean {
    return this.notes.some((note) => note.disturbed);
  }

  /** Carries one call to its outcome. A second request with the same id joins the first. Never throws for what a tool did. */
  call(call: CallRef): Promise<CallOutcome> {
    const before = this.running.get(call.id) ?? this.answered.get(call.id);
    if (before) return Promise.resolve(before);
    if (this.closed) return Promise.resolve(refused(call.id, 'door_closed', 'The trial has ended; no call is taken any more.'));
    if (this.calls >= this.options.budget) {
      this.exhausted = true;
      return Promise.resolve(refused(call.id, 'budget_exhausted', `The budget of ${this.options.budget} calls is used up.`));
    }
    const seq = ++this.accepted;
    const outcome = this.run(call, seq).then((result) => {
      this.running.delete(call.id);
      this.answered.set(call.id, result);
      this.options.onChange?.();
      return result;
    });
    this.running.set(call.id, outcome);
    this.options.onChange?.();
    return outcome;
  }

  /** Takes no more calls and waits, at most `drainMs`, for those in flight. */
  async close(drainMs: number): Promise<void> {
    this.closed = true;
    await condition(() => this.running.size === 0, drainMs);
    for (const { call, seq, position } of this.pending.values()) {
      this.note(call, seq, position, 'unknown', { code: 'cut_off', message: 'The trial ended while the call was in flight.' }, false);
    }
    this.pending.clear();
    this.cut();
    this.notes.sort((a, b) => a.seq - b.seq);
  }

  private async run(call: CallRef, seq: number): Promise<CallOutcome> {
    if (call.refusal) {
      this.note(call, seq, null, call.refusal.state, call.refusal.problem, false);
      return { operation: call.id, state: call.refusal.state, problem: call.refusal.problem };
    }
    const tool = this.options.tools[call.tool];
    if (!tool) {
      const problem = { code: 'unknown_tool', message: `There is no tool "${call.tool}".` };
      this.note(call, seq, null, 'rejected', problem, false);
      return { operation: call.id, state: 'rejected', problem };
    }
    if (this.endedBy !== null) {
      const problem = { code: 'conversation_ended', message: `A call of ${this.endedBy} has ended the conversation; no call is taken any more.` };
      this.note(call, seq, null, 'rejected', problem, false);
      return { operation: call.id, state: 'rejected', problem };
    }
    const replay = this.replay(call, seq);
    if (replay) return replay;
    const position = (this.positions.get(call.tool) ?? 0) + 1;
    this.positions.set(call.tool, position);
    this.pending.set(call.id, { call, seq, position });
    const dispatched = this.options.dispatch(call, tool, position).catch((error: unknown): OperationOutcome<unknown> => {
      this.broken ??= error;
      return { state: 'unknown', reason: 'indefinite', problem: { code: 'harness', message: 'The test bed could not carry out the call.' }, disturbed: true };
    });
    const outcome = await Promise.race([dispatched, this.cutOff]);
    // Cut off by `close`: it has been noted as unknown, and a reply that comes now is too late to be told.
    if (outcome === null || !this.pending.delete(call.id)) return { operation: call.id, state: 'unknown', problem: null };
    const problem = outcome.state === 'committed' ? null : outcome.problem;
    this.note(call, seq, position, outcome.state, problem, outcome.disturbed);
    if (tool.ends && outcome.state === 'committed') this.endedBy ??= call.tool;
    const told = { operation: call.id, state: outcome.state, problem };
    this.keep(call, told);
    return told;
  }

  /**
   * Answers a call whose idempotency key was used before in this trial; null where it is to be dispatched. The rules follow the IETF draft for the
   * Idempotency-Key header: another content under the same key is refused, a call in flight is a conflict, an outcome is given again.
   */
  private replay(call: CallRef, seq: number): CallOutcome | null {
    if (!call.idempotency) return null;
    const { key, argsHash } = call.idempotency;
    const earlier = this.keys.get(key);
    if (!earlier) {
      this.keys.set(key, { operation: call.id, tool: call.tool, argsHash, told: null });
      return null;
    }
    if (earlier.tool !== call.tool || earlier.argsHash !== argsHash) {
      const problem = { code: 'idempotency_key_reused', message: 'This idempotency key was used for a call with another tool or other arguments.' };
      this.note(call, seq, null, 'rejected', problem, false);
      return { operation: call.id, state: 'rejected', problem };
    }
    if (!earlier.told) {
      const problem = { code: 'idempotency_conflict', message: 'A call with this idempotency key is still in flight; ask again later.' };
      this.note(call, seq, null, 'rejected', problem, false);
      return { operation: call.id, state: 'rejected', problem };
    }
    this.note(call, seq, null, earlier.told.state, earlier.told.problem, false, earlier.operation);
    return earlier.told;
  }

  /** An outcome is kept under its key; one that had no effect releases the key. */
  private keep(call: CallRef, told: CallOutcome): void {
    if (!call.idempotency) return;
    const { key, argsHash } = call.idempotency;
    if (told.state === 'failed') this.keys.delete(key);
    else this.keys.set(key, { operation: call.id, tool: call.tool, argsHash, told });
  }

  private note(
    call: CallRef,
    seq: number,
    position: number | null,
    told: ToldState,
    problem: OperationProblem | null,
    disturbed: boolean,
    replayOf: string | null = null,
  ): void {
    this.notes.push({ id: call.id, seq, tool: call.tool, position, told, problem, replayOf, disturbed });
  }
}

function refused(operation: string, code: string, message: string): CallOutcome {
  return { operation, state: 'rejected', problem: { code, message } };
}
