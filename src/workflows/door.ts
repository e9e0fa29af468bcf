import { condition } from '@temporalio/workflow';
import type { CallOutcome, CallRef, OperateResult, OperationNote, PlannedRule, Reconciled, ToolPlan } from '../activities/contract.ts';
import { OWN_CONTRACT } from '../domain/fault.ts';
import type { OperationProblem, ToldState } from '../domain/operation.ts';
import type { RuntimeWords } from '../domain/runtime.ts';
import { IdempotencyKeys } from './operations/idempotency.ts';
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
  /** Of a look-up: the operation that it asks for, where that has ended; a replay by key stands for the call that it repeated. */
  readonly ended: string | null;
}

export interface DoorOptions {
  readonly tools: { readonly [name: string]: ToolPlan };
  /** Calls that the agent may make, refused ones included. */
  readonly budget: number;
  readonly dispatch: (dispatch: Dispatch) => Promise<OperationOutcome<OperateResult | null>>;
  readonly rules?: readonly PlannedRule[];
  readonly words?: RuntimeWords;
  /** Why a question to the user is beyond the budget; null: it is not. Absent: there is nobody to ask. */
  readonly refuseQuestion?: () => OperationProblem | null;
  /** A call changed its state; for the operator's view. */
  readonly onChange?: () => void;
}

/**
 * The one way in which an agent acts. Orders calls, counts them against the budget, gives each its position, and remembers what the agent was told.
 * The workflow's history is the authority on this order.
 */
export class Door {
  readonly notes: OperationNote[] = [];
  /** Calls that the agent asked for beyond its budget. */
  beyondBudget = 0;
  /** The harness could not carry a call to any outcome: the attempt cannot be graded. */
  broken: unknown = null;
  private readonly options: DoorOptions;
  private readonly schedule: Schedule;
  private readonly positions = new Map<string, number>();
  private readonly running = new Map<string, Promise<CallOutcome>>();
  private readonly answered = new Map<string, CallOutcome>();
  private readonly pending = new Map<string, { readonly call: CallRef; readonly seq: number; readonly position: number }>();
  private readonly keys = new IdempotencyKeys<OperateResult | null>();
  /** By operation: the key that it holds. */
  private readonly keyOf = new Map<string, string>();
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

  get exhausted(): boolean {
    return this.beyondBudget > 0;
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
      this.beyondBudget++;
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
    if (refusal || !tool) return this.refuse(call, seq, refusal ?? { state: 'rejected', problem: unknownTool(call.tool) }, position);
    const replay = this.replay(call, seq);
    if (replay) return replay;
    this.positions.set(call.tool, position);
    const ended = this.endedOperation(call.about);
    this.pending.set(call.id, { call, seq, position });
    const faults = this.schedule.hits(call, position);
    const dispatched = this.options.dispatch({ call, tool, position, faults, ended }).catch((error: unknown): OperationOutcome<null> => {
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
    // Given again in the words in which it was told.
    if (call.idempotency)
      this.keys.settle(call.idempotency.key, call.id, outcome.state === 'committed' ? outcome : { ...outcome, problem: problem ?? outcome.problem });
    return { operation: call.id, state: outcome.state, problem };
  }

  /** Why a call is not let through; null: it is. */
  private refusal(call: CallRef, tool: ToolPlan | undefined, position: number): Refusal | null {
    const rejected = (code: string, message: string, rule?: PlannedRule): Refusal => ({ state: 'rejected', problem: { code, message }, ...(rule && { rule }) });
    if (call.refusal?.state === 'denied') return this.denied(call.refusal.problem, call.tool);
    const contract = call.refusal === null && !tool ? null : this.schedule.contract(call, position);
    if (call.refusal) {
      // The edge knows the tool's own contract only.
      if (contract?.contract && call.refusal.problem.code === 'invalid_args') return rejected('invalid_args', contract.contract, contract);
      return call.refusal;
    }
    if (!tool) return { state: 'rejected', problem: unknownTool(call.tool) };
    if (this.endedBy !== null) return rejected('conversation_ended', `A call of ${this.endedBy} has ended the conversation; no call is taken any more.`);
    if (call.contracts && !call.contracts.includes(contract?.index ?? OWN_CONTRACT)) {
      return rejected('invalid_args', contract?.contract ?? `The arguments are not those of ${call.tool}.`, contract ?? undefined);
    }
    const revoked = this.schedule.revoked(call, position);
    if (revoked === null) return this.overTurns(tool);
    return { ...this.denied({ code: 'permission_revoked', message: `The permission to call ${call.tool} has been revoked.` }, call.tool), rule: revoked };
  }

  private overTurns(tool: ToolPlan): Refusal | null {
    const problem = tool.asks ? (this.options.refuseQuestion?.() ?? null) : null;
    return problem && { state: 'rejected', problem };
  }

  private denied(problem: OperationProblem, tool: string): Refusal {
    return { state: 'denied', problem: inProductionWords(problem, { tool, state: 'denied' }, this.options.words) };
  }

  private refuse(call: CallRef, seq: number, { state, problem, rule }: Refusal, position: number): CallOutcome {
    const refusedBy = rule && { rule: rule.index, position };
    this.notes.push({
      id: call.id,
      seq,
      tool: call.tool,
      position: null,
      told: state,
      problem,
      replayOf: null,
      disturbed: false,
      ...(refusedBy && { refusedBy }),
    });
    return { operation: call.id, state, problem };
  }

  private endedOperation(id: string | undefined): string | null {
    const note = this.notes.find((known) => known.id === id);
    return note ? (note.replayOf ?? note.id) : null;
  }

  /** A look-up has told the agent how an operation of unknown outcome ended: from now on its key gives that, or is free again. */
  private reconcile(operation: string, found: Reconciled, by: string): void {
    const at = this.notes.findIndex((note) => note.id === operation && note.told === 'unknown');
    const note = this.notes[at];
    if (!note) return;
    this.notes[at] = { ...note, reconciled: { state: found.state, by } };
    const outcome = { state: found.state, reason: 'definite', problem: RECONCILED, value: null, disturbed: false } as const;
    this.keys.settle(this.keyOf.get(operation) ?? '', operation, outcome);
  }

  /** Answers a call whose idempotency key was used before in this trial; null where it is to be dispatched. */
  private replay(call: CallRef, seq: number): CallOutcome | null {
    if (!call.idempotency) return null;
    const { key, argsHash } = call.idempotency;
    const answer = this.keys.begin(key, call.id, `${call.tool} ${argsHash}`);
    if (answer.kind === 'refused') return this.refuse(call, seq, { state: 'rejected', problem: answer.problem }, 0);
    if (answer.kind === 'new') {
      this.keyOf.set(call.id, key);
      return null;
    }
    const { operation, outcome } = answer;
    const told = { operation, state: outcome.state, problem: outcome.state === 'committed' ? null : outcome.problem };
    this.note(call, seq, null, told.state, told.problem, false, operation);
    return told;
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

/** Why the door lets a call not through, and the rule of the schedule that says so. */
interface Refusal extends NonNullable<CallRef['refusal']> {
  readonly rule?: PlannedRule;
}

/** An outcome that a look-up has settled is told by its own result, never by this. */
const RECONCILED: OperationProblem = { code: 'reconciled', message: 'It had no effect.' };

function unknownTool(name: string): OperationProblem {
  return { code: 'unknown_tool', message: `There is no tool "${name}".` };
}

function refused(operation: string, code: string, message: string): CallOutcome {
  return { operation, state: 'rejected', problem: { code, message } };
}
