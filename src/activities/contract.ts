import type { ApprovalEnd, ApprovalNeed } from '../domain/approval.ts';
import type { SimulatedUser } from '../domain/conversation/simulated-user.ts';
import type { CallRange, FaultKind } from '../domain/fault.ts';
import type { EndState, OperationProblem, ToldState, ToolEffect } from '../domain/operation.ts';
import type { RuntimeWords } from '../domain/runtime.ts';
import type { TrialCassette, TrialFaults, TrialPhase, TrialSummary, TrialTeam } from '../domain/trial.ts';
import type { Ending, Judgement } from '../domain/verdict.ts';
import type { ModelBudget, ModelSpending } from '../domain/model-budget.ts';
import type { WorldRef } from '../environments/world.ts';
import type { ModelActivities, ModelPlan } from './model-contract.ts';

/** Names one attempt of a trial; every activity of it gets this. */
export interface AttemptRef {
  readonly trial: string;
  readonly attempt: number;
}

/** An attempt that has its world. */
export interface WorldAttempt extends AttemptRef {
  readonly world: WorldRef;
}

/** What the workflow has to know of a trial; everything bulky stays in the store and in the world's ledger. */
export interface AttemptPlan {
  /** The trial already has its result: an earlier run of the workflow recorded it. */
  readonly done: TrialSummary | null;
  readonly agent: 'script' | 'module' | 'command' | 'http' | 'model' | 'team';
  /** Of a team: the member to whom the user speaks first. */
  readonly start?: string;
  /** Of a team: members that the workflow itself plays. Others have code of their own. */
  readonly members?: { readonly [member: string]: MemberPlan };
  readonly tools: { readonly [name: string]: ToolPlan };
  readonly budget: { readonly calls: number; readonly wallMs: number; readonly turns: number };
  readonly keep: 'never' | 'failed' | 'always';
  /** A world of this kind takes seconds to make, too long for a local activity. */
  readonly slowWorld: boolean;
  /** Rules of the fault schedule that calls of tools meet. Absent: none. */
  readonly rules?: readonly PlannedRule[];
  /** How production words its refusals and its silence. */
  readonly words?: RuntimeWords;
  /** Who answers the agent. Absent: the user says what the case holds and no more. */
  readonly user?: SimulatedUser['user'];
  /** Who decides what needs an approval. Absent: nothing does. */
  readonly approver?: ApproverPlan;
  /** Of an agent of kind `model`; of a team in which one is: with the limits that all members share. */
  readonly model?: ModelPlan;
  /** So many calls were made where this attempt goes on from: they are answered from the record. Absent: it begins anew. */
  readonly recorded?: number;
  /** The workflow tells of its parts as they end. Absent: nobody listens. */
  readonly traced?: true;
}

/** `entered`: its world, and the first move of a script; null: the world is still to be got, by a step with the patience of its kind. */
export interface BegunAttempt {
  readonly plan: AttemptPlan;
  readonly entered: { readonly world: WorldRef; readonly next?: ScriptMove } | null;
}

/** A member of a team that the workflow itself plays. */
export type MemberPlan =
  | { readonly kind: 'script' }
  /** `own`: its limits beside those of the trial, which all members share. */
  | { readonly kind: 'model'; readonly own: ModelBudget };

/** `case`: the case's approver, by the world's clock. `people`: whoever answers, in real time. */
export type ApproverPlan =
  | {
      readonly by: 'case';
      readonly decides: 'approve' | 'deny' | 'expire';
      readonly name: string;
      readonly afterMs: number;
      readonly changes: boolean;
      readonly reason?: string;
    }
  /** `unverified`: whether a plain signal counts, whose sender nobody has identified. */
  | { readonly by: 'people'; readonly unverified: boolean };

/** A rule of the fault schedule as the workflow needs it; its parameters are read by the activity that injects it. */
export interface PlannedRule {
  /** Place in the schedule, from 0. */
  readonly index: number;
  readonly tool: string;
  /** Absent: every call. */
  readonly calls?: CallRange | readonly number[];
  /** It hits only calls that the edge found to match ({@link CallRef.matches}). */
  readonly where?: true;
  readonly kind: FaultKind;
  /** Of time-outs: the activity's start-to-close, real milliseconds. */
  readonly afterMs?: number;
  /** Of a changed contract: what is told of it. */
  readonly contract?: string;
}

export interface ToolPlan {
  readonly effect: ToolEffect;
  readonly timeoutMs: number;
  /** A read short enough for a local activity. */
  readonly local: boolean;
  /** Failures with which the tool ends only when it had no effect. */
  readonly definite: readonly string[];
  /** Once a call is committed, no later one is taken. */
  readonly ends?: boolean;
  /** Times that a lost dispatch is sent again; absent: 3. */
  readonly redispatches?: number;
  /** It tells how another operation ended, which the door has to know of. */
  readonly looksUp?: boolean;
  /** It is a question to the simulated user. */
  readonly asks?: boolean;
}

/** A call that the edge has checked and written to the world's ledger. */
export interface CallRef {
  readonly id: string;
  readonly tool: string;
  readonly refusal: { readonly state: 'rejected' | 'denied'; readonly problem: OperationProblem } | null;
  /** Null: nothing is deduplicated. With a key, calls are told apart by tool and arguments. */
  readonly idempotency: { readonly key: string; readonly argsHash: string } | null;
  /** Rules of the fault schedule whose `where` these arguments match. */
  readonly matches?: readonly number[];
  /** Of a look-up: the operation that it asks for. */
  readonly about?: string;
  /** Contracts of the tool under which the arguments are valid, where a fault may change it: -1 the tool's own, else a rule's. Absent: the tool's own. */
  readonly contracts?: readonly number[];
  /** Absent: it needs no approval. */
  readonly approval?: ApprovalNeed;
  /** Of a hand-over: to whom. */
  readonly handsTo?: string;
}

/** What the edge hands to the agent; a committed result is read from the ledger. */
export interface CallOutcome {
  /** Whose ledger row holds the result: the call's own, or that of the earlier call with the same idempotency key. */
  readonly operation: string;
  readonly state: ToldState;
  readonly problem: OperationProblem | null;
  /** The conversation has ended, which the agent is not told: its work is over. */
  readonly over?: ConversationEnd;
}

/** Asks for the simulated user's next message: the one with this number, which is due when the agent has said or asked something. */
export interface UserRequest extends WorldAttempt {
  readonly turn: number;
  /** The call by which the agent asks; null: it has given a message that ends its turn. */
  readonly operation: string | null;
  /** No message is left in the budget: the user may leave, and say no more. */
  readonly last: boolean;
}

/** What the user did. The text lies in the store. */
export type UserMove =
  /** `leaves`: they listen no longer. */
  | { readonly kind: 'said'; readonly leaves: boolean }
  | { readonly kind: 'left' }
  /** They would have gone on, beyond the budget. */
  | { readonly kind: 'over_budget' }
  | { readonly kind: 'failed'; readonly problem: OperationProblem };

/** What an agent's host is told when its agent has ended a turn: number of the user's message that lies in the store. */
export type UserTurn = { readonly kind: 'said'; readonly turn: number } | { readonly kind: 'left' } | { readonly kind: 'over'; readonly end: ConversationEnd };

/** The workflow's part of an operation's record: order, position, what was told. */
export interface OperationNote {
  readonly id: string;
  readonly seq: number;
  readonly tool: string;
  readonly position: number | null;
  readonly told: ToldState;
  readonly problem: OperationProblem | null;
  readonly replayOf: string | null;
  readonly disturbed: boolean;
  /** The rule of the schedule by which the door itself refused it, and the position that it would have had. */
  readonly refusedBy?: { readonly rule: number; readonly position: number };
  /** What a later look-up told the agent. */
  readonly reconciled?: Reconciled & { readonly by: string };
  /** How its request for approval ended; absent where there was none. */
  readonly approval?: ApprovalEnd;
  /** What became of it after `awaiting_approval` was told. */
  readonly ended?: { readonly state: EndState; readonly problem: OperationProblem | null };
}

/** What a look-up found out about an operation. */
export interface Reconciled {
  readonly state: 'committed' | 'failed' | 'denied';
}

export interface OperateResult {
  readonly at: string;
  /** The call was a look-up, and this is what it told. */
  readonly found?: Reconciled & { readonly operation: string };
  /** The script's next move, where it was asked for and could be made. */
  readonly next?: ScriptMove;
}

export interface OperateCall extends WorldAttempt {
  readonly operation: string;
  readonly tool: string;
  readonly dispatch: number;
  /** Rules of the schedule that hit this call, in the schedule's order. */
  readonly faults?: readonly number[];
  readonly position?: number;
  /** For a look-up: the operation whose end is asked for; null while that one has not ended, or was never accepted. */
  readonly ended?: string | null;
  /** What the approval of this call is bound to; absent where it needed none. */
  readonly approved?: string;
  /** Where the script that made the call stands after it: its next step is played in the same activity. Absent: it is not. */
  readonly playOn?: ScriptCursor;
}

/** Where a script stands. Which operation a named step is, is told by the script: carrying all names through every step would let histories grow by their square. */
export interface ScriptCursor {
  readonly step: number;
  readonly turn: number;
  /** Operation ids given out so far: call number n of the script is `op-n`. */
  readonly calls: number;
  /** Operations that were answered by an earlier one with the same idempotency key. */
  readonly replays: { readonly [operation: string]: string };
}

/** Before the first step. */
export const SCRIPT_START: ScriptCursor = { step: 0, turn: 1, calls: 0, replays: {} };

export type ScriptMove =
  | { readonly kind: 'call'; readonly call: CallRef; readonly cursor: ScriptCursor }
  | { readonly kind: 'say'; readonly cursor: ScriptCursor }
  | { readonly kind: 'end'; readonly problem: OperationProblem | null };

export interface ConversationEnd {
  readonly ending: Extract<Ending, 'completed' | 'agent_error' | 'agent_timeout' | 'budget_exhausted' | 'user_error' | 'cassette_miss'>;
  readonly problem: OperationProblem | null;
  /** Calls that were asked for beyond the budget before the end; none was sent. Absent: none. */
  readonly beyondBudget?: number;
  /** What the agent, or the member of a team, has used of its own time, real milliseconds. Absent: not known. */
  readonly usedMs?: number;
  /** What the models of all members have used so far. Absent where it is not known here, or the agent is no team. */
  readonly spent?: ModelSpending;
  /** A member has given the conversation to another: the trial goes on with that one. */
  readonly handOver?: HandedOver & { readonly heard: number };
}

/** A call by which a member of a team has handed over. The text lies in the ledger. */
export interface HandedOver {
  readonly operation: string;
  readonly to: string;
  /** Number of the user's message that was being dealt with. */
  readonly turn: number;
}

/** One member's part of a conversation: from the message that it gets until it has handed over, or the conversation has ended. */
export interface MemberPart {
  readonly member: string;
  /** The call by which it was handed the conversation; null: the user speaks to it first. */
  readonly by: string | null;
  /** Messages of the user that were heard before. */
  readonly heard: number;
  /** Calls that were made before, and the agents' own time that was used, real milliseconds. */
  readonly calls: number;
  readonly usedMs: number;
}

export interface GradeRequest extends WorldAttempt {
  /** Absent where the agent is no team. */
  readonly handOvers?: readonly HandedOver[];
  readonly beyondBudget?: number;
  readonly ending: Ending;
  readonly problem: OperationProblem | null;
  readonly operations: readonly OperationNote[];
}

export interface GradeResult {
  readonly pass: Judgement;
  readonly outcome: Judgement;
  readonly constraints: Judgement;
  readonly effects: Judgement;
  readonly why: string | null;
  /** Faults that were injected, and rules of the schedule that hit nothing. Absent without a schedule. */
  readonly faults?: TrialFaults;
  /** Absent where the agent is no team. */
  readonly team?: TrialTeam;
  /** Absent: it had a world. */
  readonly cassette?: TrialCassette;
  /** What the calls took, from dispatch to outcome, real milliseconds. Absent in histories of before this was measured. */
  readonly toolMs?: number;
}

export interface FinishRequest extends AttemptRef {
  readonly ending: Ending;
  readonly grade: GradeResult | null;
  readonly problem: OperationProblem | null;
  readonly calls: number;
  readonly durationMs: number;
  /** What the agent used of its own time, real milliseconds. Absent: not known. */
  readonly agentMs?: number;
  readonly disturbed: boolean;
  readonly snapshot: string | null;
  /** Workflow that hears of the trial's end; absent: none. */
  readonly reportTo?: string;
  /** Another attempt follows one that ends `infra_error`. Absent: none does. */
  readonly another?: boolean;
}

/** An attempt whose agent has come to an end: what is left to do follows without a decision between. */
export interface SettleRequest extends GradeRequest, Pick<FinishRequest, 'calls' | 'durationMs' | 'agentMs' | 'disturbed' | 'reportTo'> {
  readonly keep: AttemptPlan['keep'];
}

/** The side effects of a trial. Implemented in `src/activities`, called by `src/workflows`. */
export interface TrialActivities extends ModelActivities {
  /** Idempotent: records that the attempt began, in a phase (default `waiting`). Of a trial that has its result, reports that. */
  beginAttempt(request: AttemptRef & { readonly phase?: TrialPhase; readonly reportTo?: string }): Promise<AttemptPlan>;
  /** Begins, and where nothing about the world is slow enters it at once, in one. Idempotent by attempt. */
  startAttempt(request: AttemptRef & { readonly reportTo?: string }): Promise<BegunAttempt>;
  setPhase(request: AttemptRef & { readonly phase: TrialPhase }): Promise<void>;
  /** Idempotent by attempt. */
  provision(request: AttemptRef & { readonly leaseMs: number }): Promise<WorldRef>;
  /** Provisions, enters the phase `drive`, and makes the first move of a script, in one. Idempotent by attempt. */
  enterWorld(request: AttemptRef & { readonly leaseMs: number; readonly script: boolean }): Promise<{ readonly world: WorldRef; readonly next?: ScriptMove }>;
  /** Plays one step of a script, up to the proposal of a call. Idempotent by cursor. */
  advanceScript(request: WorldAttempt & { readonly cursor: ScriptCursor; readonly part?: MemberPart }): Promise<ScriptMove>;
  /** Lets a scripted user hear and answer; a model is asked by `ModelActivities`. Idempotent by turn. */
  answerUser(request: UserRequest): Promise<UserMove>;
  /** Runs an agent's own code in a child process; its calls come back as Updates of the trial. Never retried. */
  converse(request: WorldAttempt & { readonly part?: MemberPart }): Promise<ConversationEnd>;
  /** What an agent was told of a call that was made where this attempt goes on from. */
  recallCall(request: AttemptRef & { readonly operation: string }): Promise<OperationNote>;
  /** Runs a proposed call. Never retried by Temporal. */
  operate(request: OperateCall): Promise<OperateResult>;
  /**
   * After an injected time-out: waits, bounded, until the dispatch that it cut off has committed or was refused by its tool; what did neither was lost with its
   * worker, and is fenced.
   */
  settleOperation(
    request: Pick<OperateCall, 'trial' | 'attempt' | 'world' | 'operation' | 'dispatch' | 'faults' | 'position'>,
  ): Promise<{ readonly settled: 'committed' | 'failed' | 'lost' }>;
  /** Fences a lost dispatch of an operation, then tells what the system of record holds. */
  recoverOperation(
    request: WorldAttempt & { readonly operation: string; readonly dispatch: number },
  ): Promise<
    | { readonly found: 'committed'; readonly told?: NonNullable<OperateResult['found']> | null }
    | { readonly found: 'absent' }
    | { readonly found: 'failed'; readonly problem: OperationProblem }
    | { readonly found: 'undetermined' }
  >;
  /** Writes down what an approver is shown of a proposed call, and binds the request to it. Idempotent by operation. */
  requestApproval(request: ApprovalCall & { readonly need: ApprovalNeed; readonly expiresMs: number; readonly people: boolean }): Promise<ApprovalAsked>;
  /** The case's approver: moves the world's clock to a time (never back; null: leaves it) and, `acts`, lets others change rows. Idempotent by operation. */
  awaitApprover(request: ApprovalCall & { readonly until: string | null; readonly acts: boolean }): Promise<{ readonly now: string }>;
  /** Writes down what was decided, in the world's ledger, which lets only approved calls through, and in the store. Idempotent. */
  settleApproval(request: ApprovalCall & { readonly end: ApprovalEnd; readonly problem: OperationProblem | null }): Promise<void>;
  /** Closes the door. Idempotent. */
  fence(request: WorldAttempt): Promise<void>;
  /** Observes the world, stores the record, grades it, stores the verdict. Idempotent. */
  gradeTrial(request: GradeRequest): Promise<GradeResult>;
  /** Stores a snapshot; returns its id. Idempotent. */
  keepWorld(request: WorldAttempt): Promise<string>;
  /** Resets or drops the world. Idempotent. */
  releaseWorld(request: WorldAttempt): Promise<void>;
  /** Ends the attempt in the store; the result counts. Idempotent. */
  finishAttempt(request: FinishRequest): Promise<TrialSummary>;
  /** All that follows on `drive`, in one: fences, grades, keeps, releases, ends the attempt. Idempotent; what fails in it is to be repeated step by step. */
  settleAttempt(request: SettleRequest): Promise<TrialSummary>;
}

/** Names one request for an approval. */
export interface ApprovalCall extends WorldAttempt {
  readonly operation: string;
}

/** What the workflow has to know of a request. */
export interface ApprovalAsked {
  readonly digest: string;
  /** World time of the request, ISO 8601. */
  readonly now: string;
}

/** Code of the problem of a call whose approval is for something else than what stands there now. */
export const APPROVAL_VOID = 'approval_void' as const;

/** Code of the problem with which a call is refused that is not the one that was made in its place where the attempt goes on from. */
export const NOT_AS_RECORDED = 'not_as_recorded' as const;

/** Failure types that the workflow acts on. */
export const FAILURE = {
  /** Our own Postgres or service was out of reach; whether the write committed has to be asked. */
  infrastructure: 'Infrastructure',
  /** The world no longer exists; the attempt ends and another begins in a new one. */
  worldGone: 'WorldGone',
  /** The world was fenced before the write: it was refused. */
  fenced: 'Fenced',
  /** A rule of the fault schedule supposes what the world is not: no attempt can be graded. */
  faultNotApplicable: 'FaultNotApplicable',
} as const;
