import { condition } from '@temporalio/workflow';
import type { CallOutcome, CallRef, OperateResult, OperationNote, PlannedRule, Reconciled, ToolPlan } from '../activities/contract.ts';
import type { OperationProblem, ToldState } from '../domain/operation.ts';
import type { RuntimeWords } from '../domain/runtime.ts';
import type { OperationOutcome } from './operations/operation.ts';
import { Schedule } from './schedule.ts';
import { inProductionWords } from './wording.ts';

/** A call that is let through, as it is dispatched. */
export interface Dispatch {
  readonly call: CallRef;
  readonly tool: ToolPlan;
  readonly position: number;
  /** Rules of the fault schedule that hit it. */
  readonly faults: readonly PlannedRule[];
  /** Other operations that are under way. */
  readonly underWay: readonly string[];
}

export interface DoorOptions {
  readonly tools: { readonly [name: string]: ToolPlan };
  /** Calls that the agent may make, refused ones included. */
  readonly budget: number;
  readonly dispatch: (dispatch: Dispatch) => Promise<OperationOutcome<OperateResult | null>>;
  readonly rules?: readonly PlannedRule[];
  readonly words?: RuntimeWords;
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
  private readonly schedule: Schedule;
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
    this.schedule = new Schedule(options.rules);
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
    const tool = this.options.tools[call.tool];
    const position = (this.positions.get(call.tool) ?? 0) + 1;
    const refusal = this.refusal(call, tool, position);
    if (refusal || !tool) return this.refuse(call, seq, refusal?.state ?? 'rejected', refusal?.problem ?? unknownTool(call.tool));
    const replay = this.replay(call, seq);
    if (replay) return replay;
    this.positions.set(call.tool, position);
    const underWay = [...this.pending.keys()];
    this.pending.set(call.id, { call, seq, position });
    const faults = this.schedule.hits(call, position);
    const dispatched = this.options.dispatch({ call, tool, position, faults, underWay }).catch((error: unknown): OperationOutcome<null> => {
      this.broken ??= error;
      return { state: 'unknown', reason: 'indefinite', problem: { code: 'harness', message: 'The test bed could not carry out the call.' }, disturbed: true };
    });
    const outcome = await Promise.race([dispatched, this.cutOff]);
    // Cut off by `close`: it has been noted as unknown, and a reply that comes now is too late to be told.
    if (outcome === null || !this.pending.delete(call.id)) return { operation: call.id, state: 'unknown', problem: null };
    const problem = outcome.state === 'committed' ? null : inProductionWords(outcome.problem, { tool: call.tool, state: outcome.state }, this.options.words);
    this.note(call, seq, position, outcome.state, problem, outcome.disturbed);
    const found = outcome.state === 'committed' ? outcome.value?.found : undefined;
    if (found) this.reconcile(found.operation, found, call.id);
    if (tool.ends && outcome.state === 'committed') this.endedBy ??= call.tool;
    const told = { operation: call.id, state: outcome.state, problem };
    this.keep(call, told);
    return told;
  }

  /** Why a call is not let through; null: it is. */
  private refusal(call: CallRef, tool: ToolPlan | undefined, position: number): NonNullable<CallRef['refusal']> | null {
    const rejected = (code: string, message: string) => ({ state: 'rejected', problem: { code, message } }) as const;
    if (call.refusal?.state === 'denied') return this.denied(call.refusal.problem, call.tool);
    const contract = call.refusal === null && !tool ? null : this.schedule.contract(call, position);
    if (call.refusal) {
      // The edge knows the tool's own contract only.
      if (contract?.contract && call.refusal.problem.code === 'invalid_args') return rejected('invalid_args', contract.contract);
      return call.refusal;
    }
    if (!tool) return { state: 'rejected', problem: unknownTool(call.tool) };
    if (this.endedBy !== null) return rejected('conversation_ended', `A call of ${this.endedBy} has ended the conversation; no call is taken any more.`);
    if (call.contracts && !call.contracts.includes(contract?.index ?? OWN_CONTRACT)) {
      return rejected('invalid_args', contract?.contract ?? `The arguments are not those of ${call.tool}.`);
    }
    if (this.schedule.revoked(call, position)) {
      return this.denied({ code: 'permission_revoked', message: `The permission to call ${call.tool} has been revoked.` }, call.tool);
    }
    return null;
  }

  private denied(problem: OperationProblem, tool: string): NonNullable<CallRef['refusal']> {
    return { state: 'denied', problem: inProductionWords(problem, { tool, state: 'denied' }, this.options.words) };
  }

  private refuse(call: CallRef, seq: number, state: 'rejected' | 'denied', problem: OperationProblem): CallOutcome {
    this.note(call, seq, null, state, problem, false);
    return { operation: call.id, state, problem };
  }

  /** A look-up has told the agent how an operation of unknown outcome ended: from now on its key gives that, or is free again. */
  private reconcile(operation: string, found: Reconciled, by: string): void {
    const at = this.notes.findIndex((note) => note.id === operation && note.told === 'unknown');
    const note = this.notes[at];
    if (!note) return;
    this.notes[at] = { ...note, reconciled: { state: found.state, by } };
    for (const [key, held] of this.keys) {
      if (held.operation !== operation) continue;
      if (found.state === 'failed') this.keys.delete(key);
      else this.keys.set(key, { ...held, told: { operation, state: 'committed', problem: null } });
    }
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
      const message = 'This idempotency key was used for a call with another tool or other arguments.';
      return this.refuse(call, seq, 'rejected', { code: 'idempotency_key_reused', message });
    }
    if (!earlier.told) {
      const message = 'A call with this idempotency key is still in flight; ask again later.';
      return this.refuse(call, seq, 'rejected', { code: 'idempotency_conflict', message });
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

/** The contract that the tool itself declares, beside those of rules. */
const OWN_CONTRACT = -1;

function unknownTool(name: string): OperationProblem {
  return { code: 'unknown_tool', message: `There is no tool "${name}".` };
}

function refused(operation: string, code: string, message: string): CallOutcome {
  return { operation, state: 'rejected', problem: { code, message } };
}
