import { condition } from '@temporalio/workflow';
import type {
  APPROVAL_VOID,
  CallOutcome,
  CallRef,
  ConversationEnd,
  NOT_AS_RECORDED,
  OperateResult,
  OperationNote,
  PlannedRule,
  Reconciled,
  ToolPlan,
} from '../activities/contract.ts';
import type { ApprovalEnd, ApprovalNeed } from '../domain/approval.ts';
import type { EndState, OperationProblem, ToldState } from '../domain/operation.ts';
import type { RuntimeWords } from '../domain/runtime.ts';
import type { Gate } from './gate.ts';
import { IdempotencyKeys } from './operations/idempotency.ts';
import type { OperationOutcome } from './operations/operation.ts';
import { Schedule } from './schedule.ts';
import { Notes } from './notes.ts';
import { type Refusal, refusalOf, unknownTool } from './refusal.ts';
import { awaitingProblem, inProductionWords } from './wording.ts';

/** A call that is let through, as it is dispatched. */
export interface Dispatch {
  readonly call: CallRef;
  readonly tool: ToolPlan;
  readonly position: number;
  /** Rules of the fault schedule that hit it. */
  readonly faults: readonly PlannedRule[];
  /** Of a look-up: the operation that it asks for, where that has ended; a replay by key stands for the call that it repeated. */
  readonly ended: string | null;
  /** What its approval is bound to; null: it needed none. */
  readonly approved: string | null;
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
  /** Where calls wait for an approval. Absent: none needs one. */
  readonly gate?: Gate;
  /** Calls that were made where the attempt goes on from, and how what was told of one is found. Absent: there are none. */
  readonly recall?: Recall;
  /** A call was accepted; what it comes to is promised. */
  readonly onCall?: (call: CallRef, outcome: Promise<CallOutcome>) => void;
  /** A call changed its state; for the operator's view. */
  readonly onChange?: () => void;
}

/**
 * The one way in which an agent acts. Orders calls, counts them against the budget, gives each its position, and remembers what the agent was told.
 * The workflow's history is the authority on this order.
 */
export class Door {
  readonly told = new Notes();
  /** Calls that the agent asked for beyond its budget. */
  beyondBudget = 0;
  /** The harness could not carry a call to any outcome: the attempt cannot be graded. */
  broken: unknown = null;
  /** A call was not the one that is recorded in its place: the agent's work is over. Null: all were. */
  missed: ConversationEnd | null = null;
  private readonly options: DoorOptions;
  private readonly schedule: Schedule;
  private readonly positions = new Map<string, number>();
  private readonly running = new Map<string, Promise<CallOutcome>>();
  private readonly answered = new Map<string, CallOutcome>();
  /** Calls that go on after the agent was told that they wait for an approval. */
  private readonly goingOn = new Map<string, Promise<CallOutcome>>();
  private readonly pending = new Map<string, { readonly call: CallRef; readonly seq: number; readonly position: number }>();
  private readonly keys = new IdempotencyKeys<OperateResult | null>();
  /** By operation: the key that it holds. */
  private readonly keyOf = new Map<string, string>();
  private accepted = 0;
  /** Recorded calls are taken one after the other, and others only after them. */
  private recalled: Promise<unknown> = Promise.resolve();
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

  get notes(): readonly OperationNote[] {
    return this.told.list;
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
    const outcome = this.run(call, seq).then(async (result) => {
      if (this.options.gate) await this.takeDecisions(this.options.gate, call.id);
      this.running.delete(call.id);
      this.answered.set(call.id, result);
      this.options.onChange?.();
      return result;
    });
    this.running.set(call.id, outcome);
    this.options.onCall?.(call, outcome);
    this.options.onChange?.();
    return outcome;
  }

  /** Takes no more calls and waits, at most `drainMs`, for those in flight. */
  async close(drainMs: number): Promise<void> {
    this.closed = true;
    this.options.gate?.close();
    await condition(() => this.running.size === 0 && this.goingOn.size === 0, drainMs);
    for (const id of this.goingOn.keys()) this.told.annotate(id, { ended: { state: 'unknown', problem: CUT_OFF } });
    for (const { call, seq, position } of this.pending.values()) {
      this.told.add(call, seq, position, 'unknown', CUT_OFF, false);
    }
    this.pending.clear();
    this.cut();
    this.told.sort();
  }

  private async run(call: CallRef, seq: number): Promise<CallOutcome> {
    const { recall } = this.options;
    if (recall) {
      if (call.refusal?.problem.code === NOT_RECORDED) return this.miss(call, seq, call.refusal.problem);
      if (ordinalOf(call.id) <= recall.calls) return this.recallOne(call, seq, recall);
      await this.recalled;
    }
    const tool = this.options.tools[call.tool];
    const position = (this.positions.get(call.tool) ?? 0) + 1;
    const refusal = refusalOf(call, tool, position, {
      schedule: this.schedule,
      endedBy: this.endedBy,
      words: this.options.words,
      refuseQuestion: this.options.refuseQuestion,
    });
    if (refusal || !tool) return this.refuse(call, seq, refusal ?? unknownTool(call.tool), position);
    const replay = this.replay(call, seq);
    if (replay) return replay;
    this.positions.set(call.tool, position);
    const ended = this.told.ended(call.about);
    this.pending.set(call.id, { call, seq, position });
    if (call.approval) return this.runGated({ call, tool, seq, position, ended }, call.approval);
    return this.carry({ call, tool, seq, position, ended }, null);
  }

  /** Answers a call as it was answered where the attempt goes on from, and brings all that the door keeps to where it was then. */
  private recallOne(call: CallRef, seq: number, recall: Recall): Promise<CallOutcome> {
    const answered = this.recalled.then(async () => {
      const note = { ...(await recall.note(call)), seq };
      if (note.position !== null) this.positions.set(note.tool, note.position);
      if (this.options.tools[note.tool]?.asks && note.told === 'committed') await recall.ask(call);
      this.told.restore(note);
      const { told, problem, ended, replayOf } = note;
      const end = ended ?? { state: told, problem };
      if (call.idempotency && replayOf === null && note.position !== null)
        this.takeKey(call, call.idempotency, note.reconciled?.state ?? end.state, end.problem);
      if (this.options.tools[note.tool]?.ends && told === 'committed') this.endedBy ??= note.tool;
      if (note.reconciled) this.keyOf.delete(call.id);
      return { operation: replayOf ?? call.id, state: told, problem };
    });
    this.recalled = answered.catch((error: unknown) => {
      this.broken ??= error;
    });
    return answered.catch((): CallOutcome => refused(call.id, 'harness', 'The test bed could not recall the call.'));
  }

  /** The key of a recorded call stands for what it stood for then. */
  private takeKey(call: CallRef, { key, argsHash }: NonNullable<CallRef['idempotency']>, state: ToldState, problem: OperationProblem | null): void {
    if (this.keys.begin(key, call.id, `${call.tool} ${argsHash}`).kind !== 'new') return;
    this.keyOf.set(call.id, key);
    if (state === 'committed') this.keys.settle(key, call.id, { state, value: null, disturbed: false });
    else if (state === 'unknown') this.keys.settle(key, call.id, { state, reason: 'indefinite', problem: problem ?? CUT_OFF, disturbed: false });
    else if (state !== 'awaiting_approval') this.keys.settle(key, call.id, { state: 'rejected' });
  }

  private miss(call: CallRef, seq: number, problem: OperationProblem): CallOutcome {
    this.missed ??= { ending: 'cassette_miss', problem };
    return this.refuse(call, seq, { state: 'rejected', problem }, 0);
  }

  /** Dispatches a call that was let through, and tells how it ended. */
  private async carry({ call, tool, seq, position, ended }: Admitted, approval: Granted | null): Promise<CallOutcome> {
    const faults = this.schedule.hits(call, position);
    const dispatched = this.options
      .dispatch({ call, tool, position, faults, ended, approved: approval?.digest ?? null })
      .catch((error: unknown): OperationOutcome<null> => {
        this.broken ??= error;
        return { state: 'unknown', reason: 'indefinite', problem: { code: 'harness', message: 'The test bed could not carry out the call.' }, disturbed: true };
      });
    const outcome = await Promise.race([dispatched, this.cutOff]);
    if (outcome && outcome.state !== 'committed' && approval && outcome.problem.code === VOID)
      return this.refuseApproved(call, seq, position, approval.end, outcome.problem);
    // The cassette that the trial is played on holds no such call: nothing was done, and the agent's work is over.
    if (outcome && outcome.state !== 'committed' && outcome.problem.code === NOT_RECORDED)
      this.missed ??= { ending: 'cassette_miss', problem: outcome.problem };
    // Cut off by `close`: it has been noted as unknown, and a reply that comes now is too late to be told.
    if (outcome === null || !this.isOpen(call.id)) return { operation: call.id, state: 'unknown', problem: null };
    const problem = outcome.state === 'committed' ? null : inProductionWords(outcome.problem, { tool: call.tool, state: outcome.state }, this.options.words);
    this.end(call, seq, position, { state: outcome.state, problem }, { disturbed: outcome.disturbed, ...(approval && { approval: approval.end }) });
    const found = outcome.state === 'committed' ? outcome.value?.found : undefined;
    if (found) this.reconcile(found.operation, found, call.id);
    if (tool.ends && outcome.state === 'committed') this.endedBy ??= call.tool;
    // Given again in the words in which it was told.
    if (call.idempotency)
      this.keys.settle(call.idempotency.key, call.id, outcome.state === 'committed' ? outcome : { ...outcome, problem: problem ?? outcome.problem });
    return { operation: call.id, state: outcome.state, problem };
  }

  /** Lets a call that needs an approval wait for it. Whoever called is told of the wait where it takes long; the call then goes on by itself. */
  private async runGated(admitted: Admitted, need: ApprovalNeed): Promise<CallOutcome> {
    const { call, seq, position } = admitted;
    let over = false;
    const end = this.passGate(admitted, need).finally(() => {
      over = true;
    });
    if (!(await this.options.gate?.outlasts(call.id, () => over))) return end;
    const told = { operation: call.id, state: 'awaiting_approval' as const, problem: awaitingProblem(call, this.options.tools) };
    this.pending.delete(call.id);
    this.told.add(call, seq, position, told.state, told.problem, false);
    this.goingOn.set(
      call.id,
      end.finally(() => {
        this.goingOn.delete(call.id);
        this.options.onChange?.();
      }),
    );
    return told;
  }

  private async passGate(admitted: Admitted, need: ApprovalNeed): Promise<CallOutcome> {
    const { call, seq, position } = admitted;
    const passage = await this.options.gate?.pass(call, need).catch((error: unknown) => {
      this.broken ??= error;
      return null;
    });
    if (!passage) return this.end(call, seq, position, { state: 'denied', problem: UNASKED }, { disturbed: true });
    const { end, digest, problem } = passage;
    if (digest !== null) return this.carry(admitted, { digest, end });
    return this.deny(call, seq, position, end, problem ?? UNASKED);
  }

  private deny(call: CallRef, seq: number, position: number, approval: ApprovalEnd, problem: OperationProblem): CallOutcome {
    const told = { state: 'denied' as const, problem: inProductionWords(problem, { tool: call.tool, state: 'denied' }, this.options.words) };
    if (call.idempotency) this.keys.settle(call.idempotency.key, call.id, told);
    return this.end(call, seq, position, told, { approval });
  }

  /** What was approved is not what stands there any more. */
  private async refuseApproved(call: CallRef, seq: number, position: number, end: ApprovalEnd, problem: OperationProblem): Promise<CallOutcome> {
    const voided = await this.options.gate?.void(call.id, end, problem).catch((error: unknown) => {
      this.broken ??= error;
      return null;
    });
    return this.deny(call, seq, position, voided ?? end, problem);
  }

  /** Decisions that have come by the world's clock are carried out before anybody is told of what moved it. */
  private async takeDecisions(gate: Gate, by: string): Promise<void> {
    if (this.closed) return;
    const due = await gate.clockMoved().catch((error: unknown) => {
      this.broken ??= error;
      return [];
    });
    await Promise.all(due.filter((id) => id !== by).map((id) => this.goingOn.get(id)));
  }

  /** Whether nobody has been told of the call's end, nor has it been cut off. */
  private isOpen(id: string): boolean {
    return this.pending.has(id) || this.goingOn.has(id);
  }

  /** Notes how a call ended: for one that was told to wait, what became of it. */
  private end(
    call: CallRef,
    seq: number,
    position: number,
    { state, problem }: { readonly state: EndState; readonly problem: OperationProblem | null },
    more: { readonly disturbed?: boolean; readonly approval?: ApprovalEnd } = {},
  ): CallOutcome {
    const { disturbed = false, approval } = more;
    if (this.pending.delete(call.id)) this.told.add(call, seq, position, state, problem, disturbed);
    else this.told.annotate(call.id, { ended: { state, problem }, ...(disturbed && { disturbed }) });
    if (approval) this.told.annotate(call.id, { approval });
    return { operation: call.id, state, problem };
  }

  private refuse(call: CallRef, seq: number, { state, problem, rule }: Refusal, position: number): CallOutcome {
    const refusedBy = rule && { rule: rule.index, position };
    this.told.refuse(call, seq, state, problem, refusedBy);
    return { operation: call.id, state, problem };
  }

  /** A look-up has told the agent how an operation of unknown outcome ended: from now on its key gives that, or is free again. */
  private reconcile(operation: string, found: Reconciled, by: string): void {
    const note = this.notes.find(({ id, told }) => id === operation && (told === 'unknown' || told === 'awaiting_approval'));
    if (!note) return;
    this.told.annotate(operation, { reconciled: { state: found.state, by } });
    // Of a call that waited, the key says by itself what became of it.
    if (found.state === 'denied' || (note.told === 'awaiting_approval' && note.ended?.state !== 'unknown')) return;
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
    this.told.add(call, seq, null, told.state, told.problem, false, operation);
    return told;
  }
}

/** Calls that were made where an attempt goes on from. */
export interface Recall {
  /** The first so many of the attempt. */
  readonly calls: number;
  readonly note: (call: CallRef) => Promise<OperationNote>;
  /** Has the user asked once more, so that the conversation stands where it stood. */
  readonly ask: (call: CallRef) => Promise<unknown>;
}

/** A call that passed the door's checks. */
interface Admitted {
  readonly call: CallRef;
  readonly tool: ToolPlan;
  readonly seq: number;
  readonly position: number;
  readonly ended: string | null;
}

/** An approval, and what it is bound to. */
interface Granted {
  readonly digest: string;
  readonly end: ApprovalEnd;
}

const VOID: typeof APPROVAL_VOID = 'approval_void';
/** As `NOT_AS_RECORDED` of the activities, which workflow code may import as types only. */
const NOT_RECORDED: typeof NOT_AS_RECORDED = 'not_as_recorded';
const CUT_OFF: OperationProblem = { code: 'cut_off', message: 'The trial ended while the call was in flight.' };
const UNASKED: OperationProblem = { code: 'harness', message: 'The test bed could not ask for an approval.' };

/** An outcome that a look-up has settled is told by its own result, never by this. */
const RECONCILED: OperationProblem = { code: 'reconciled', message: 'It had no effect.' };

function refused(operation: string, code: string, message: string): CallOutcome {
  return { operation, state: 'rejected', problem: { code, message } };
}

/** Which of an attempt's calls it is, from 1. */
function ordinalOf(id: string): number {
  return Number(id.replace(/^op-/, ''));
}
