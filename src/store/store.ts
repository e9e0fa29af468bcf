import type { AgentSpec } from '../domain/agent.ts';
import type { ApprovalEnd, ApprovalSubject, OperationApproval } from '../domain/approval.ts';
import type { Case } from '../domain/case.ts';
import type { CaseLabels } from '../domain/case-labels.ts';
import type { Effect } from '../domain/effect.ts';
import type { EnvironmentFacts } from '../domain/environment-facts.ts';
import type { Sample } from '../domain/estimate.ts';
import type { FaultSchedule } from '../domain/fault.ts';
import type { ChatMessage } from '../domain/chat.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ModelCall, Money } from '../domain/model.ts';
import type { Message, TrialRecord } from '../domain/record.ts';
import type { BatchHold, TrialPhase, TrialSummary } from '../domain/trial.ts';
import type { Ending, Verdict } from '../domain/verdict.ts';
import type { AuditedAct, AuditEntry, AuditFilter } from './audit.ts';
import type { ConsoleKey, ListedToken } from './console-keys.ts';
import type { CassetteWorldRows } from './cassette-worlds.ts';
import type { LiveSpaceRows } from './live-spaces.ts';
import type { ConversationEntry, LiveEntry } from './conversation.ts';
import type { ContractCheckRows } from './contract-checks.ts';
import type { JudgingRows } from './judging.ts';
import type { KeyUse, Rotation } from './keys.ts';
import type { NightRows } from './nights.ts';
import type { BatchStanding } from './launching.ts';
import type { Outcomes } from './outcomes.ts';
import type { StoredRunning } from './progress.ts';
import type { TrialStanding } from './standing.ts';
import type { LockWait } from '../postgres/lock-waits.ts';
import type { RecordClass } from '../domain/retention.ts';
import type { PurgedClass } from './purge.ts';
import type { SubjectPurge } from './purge-subject.ts';
import type { Requeued } from './requeue.ts';
import type { DeletedSnapshot, SnapshotRow } from './snapshots.ts';
import type { TrialGroup } from '../domain/progress.ts';
import type { SeriesBatch, SeriesRequest } from './series.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { TrialCensus, TrialFilter, TrialPage } from './trial-pages.ts';

/** Content-addressed documents of a batch: what its trials are made of. */
export interface CaseDocument {
  /** sha256 of the canonical JSON of `kase`. */
  readonly hash: string;
  readonly kase: Case;
}

export interface AgentDocument {
  /** sha256 of the canonical spec and, for a module, of its files. */
  readonly hash: string;
  readonly spec: AgentSpec;
}

export interface ScheduleDocument {
  /** sha256 of the canonical JSON of `schedule`. */
  readonly hash: string;
  readonly schedule: FaultSchedule;
}

/** What the trials of a batch are made of, each document once. */
export interface BatchDocuments {
  readonly cases: readonly CaseDocument[];
  readonly agents: readonly AgentDocument[];
  readonly schedules: readonly ScheduleDocument[];
}

/** One trial of a manifest. */
export interface TrialPlan {
  /** `<batch>-<hash>`; the workflow id. */
  readonly id: string;
  readonly caseId: string;
  readonly caseHash: string;
  readonly agentName: string;
  readonly agentHash: string;
  /** Fault schedule by name; `none` without. */
  readonly schedule: string;
  /** Hash of the schedule's content; null for `none`. */
  readonly scheduleHash: string | null;
  readonly repetition: number;
}

/**
 * From where an attempt of a trial, and each after it, goes on: the world of another attempt as it was after so many calls, which are answered from the record.
 */
export interface Origin {
  readonly trial: string;
  readonly attempt: number;
  readonly source: { readonly trial: string; readonly attempt: number };
  /** Calls that are answered from the record; 0: the world as it was before the first. */
  readonly calls: number;
  /** Id of the snapshot from which the world is made. */
  readonly snapshot: string;
  /** What the agent was told of each of these calls, in order. */
  readonly notes: readonly JsonObject[];
}

export interface BatchPlan {
  readonly id: string;
  /** From where its only trial goes on. Absent: its trials begin anew. */
  readonly origin?: Origin;
  readonly suite: string;
  readonly suiteFile: string;
  /** Equal for equal content: what resuming compares. */
  readonly manifestHash: string;
  readonly environment: {
    readonly name: string;
    readonly version: string;
    readonly file: string;
    readonly options: JsonObject;
    readonly generation: string /** Absent in batches of before reports spoke of it. */;
    readonly facts?: EnvironmentFacts;
  };
  readonly seed: string;
  readonly options: BatchOptions;
  /** Commit and dirty state of suite and agents, where they lie in a git work tree. */
  readonly sources: { readonly [what: string]: { readonly commit: string | null; readonly dirty: boolean | null } };
  /** Tags, severity and quarantine of its cases, by case. Absent: as the cases' documents say. */
  readonly labels?: { readonly [caseId: string]: CaseLabels };
  readonly trials: readonly TrialPlan[];
}

export interface BatchOptions {
  readonly isolation: 'schema' | 'database' | 'container';
  readonly keep: 'never' | 'failed' | 'always';
  readonly concurrency: number;
  /** Attempts beside the first, for `infra_error`. At most 2. */
  readonly retries: number;
  /** From 1, served first where workers are shared, to 5. Absent: 3. */
  readonly priority?: number;
  /** People decide what needs an approval, and not the cases' approvers. Absent: they do not. */
  readonly human?: true;
  /** Whether plain signals decide, whose sender nobody has identified. Absent: they do. */
  readonly unverified?: 'count' | 'refuse';
  /** What records of conversations with models do with mail addresses. Absent: they are kept. */
  readonly addresses?: 'keep' | 'mask';
  /** What the batch has to reach, as written. Absent: every scored trial passes. */
  readonly gates?: readonly string[];
  /** Trials that ended as `cassette_miss` leave no gate unmet. Absent: they do. */
  readonly allowMisses?: true;
  /** Its one trial goes on from the state of another trial; it is no result of the suite. Absent: it does not. */
  readonly fork?: true;
  /** Its trials are run by the workers of this deployment; `content` names the files that they need. Absent: by workers of its own queue. */
  readonly deployment?: { readonly name: string; readonly content: string };
}

/** What a batch goes on with. Options that are absent stay as they were. */
export interface ReopenOptions {
  readonly options: Pick<BatchOptions, 'concurrency' | 'priority' | 'gates' | 'allowMisses'>;
  readonly maxCost: Money | null;
}

export type BatchState = 'running' | 'interrupted' | 'finished' | 'cancelled';

export interface BatchRow {
  readonly id: string;
  readonly suite: string;
  readonly suiteFile: string;
  readonly manifestHash: string;
  readonly state: BatchState;
  readonly hold: BatchHold | null;
  /** Nothing is launched once models have cost so much; null: no limit. */
  readonly maxCost: Money | null;
  readonly environment: BatchPlan['environment'];
  readonly seed: string;
  readonly options: BatchOptions;
  readonly sources: BatchPlan['sources'];
  readonly trials: number;
  readonly done: number;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

export interface TrialRow extends TrialPlan {
  readonly batch: string;
  readonly phase: TrialPhase;
  readonly attempt: number;
  readonly summary: TrialSummary | null;
}

/** A trial that a batch may launch. Its summary is not read. */
export type LaunchableTrial = Omit<TrialRow, 'summary'>;

/** A trial of which nothing more is to come. */
export interface SettledTrial {
  /** In the order in which trials settled, over all batches. */
  readonly place: number;
  readonly trial: TrialRow;
}

/** One attempt of a trial as it was recorded. Kept for ever; one attempt of a trial counts. */
export interface AttemptRow {
  readonly trial: string;
  readonly attempt: number;
  readonly ending: Ending | null;
  readonly counts: boolean;
  readonly problem: TrialRecord['problem'];
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly world: { readonly id: string; readonly host: string } | null;
}

export interface StoredVerdict extends Verdict {
  readonly trial: string;
  readonly attempt: number;
  readonly gradedAt: string;
  /** The newest of the attempt that counts. */
  readonly current: boolean;
}

/** One agent of one attempt. */
export interface AttemptAgent {
  readonly trial: string;
  readonly attempt: number;
  readonly agent: string;
}

/** A token of the gateway as it is stored: the secret itself has only its holder. */
export interface GatewayToken extends AttemptAgent {
  /** The part before the dot. */
  readonly name: string;
  /** sha256 of the secret, in hex. */
  readonly digest: string;
  /** Base URL of the gateway that has the session, for the gateways of other workers. */
  readonly place: string | null;
}

/** A call to which its client gave a name. */
export interface GatewayCall {
  readonly id: string;
  /** sha256 of tool and arguments, in hex. */
  readonly digest: string;
  readonly operation: string;
}

/** A turn that an agent's own server works on, and that it is asked for until it has the answer. */
export interface OpenTurn {
  /** How many messages the agent was sent, this one included. */
  readonly asked: number;
  /** Address at which the answer is asked for. */
  readonly status: string;
}

/** A request with the token of an attempt that had ended. */
export interface LateRequest {
  readonly detail: string;
  /** By the machine's clock, not the world's. */
  readonly at: string;
}

/** The control plane's tables and their queries. Everything in it is durable. */
/** Connections of one pool. */
export interface PoolUse {
  readonly name: string;
  readonly inUse: number;
  readonly idle: number;
  /** Those who wait for one. */
  readonly awaited: number;
}

export interface Store extends AsyncDisposable {
  /** Applies migrations, forward only, under a lock. Idempotent. */
  migrate(): Promise<{ readonly applied: readonly string[] }>;

  /**
   * Whether this process has the keys with which the store is encrypted; what is written from now on needs its current one. Call it once after `migrate()`.
   * @throws {KeyMissingError} @throws {KeyWrongError}
   */
  checkKeys(): Promise<void>;
  /** What is encrypted with which key, the current one first. */
  keys(): Promise<readonly KeyUse[]>;
  /** Encrypts everything with the current key that is not yet, at most `batch` (default 200) rows in a transaction. May be broken off, and repeated. */
  rotateKeys(options?: { readonly batch?: number; readonly onProgress?: (changed: number) => void; readonly signal?: AbortSignal }): Promise<Rotation>;

  /** Whether it takes what is written: writes a page and takes it back. @throws {StoreUnavailableError} where there is no room, or nobody answers */
  requireRoom(): Promise<void>;
  /** Trials under way, of all batches, by phase. */
  underWay(): Promise<readonly { readonly phase: TrialPhase; readonly trials: number }[]>;
  /** Who waits for a lock on the store's tables, whichever process it is of. */
  lockWaits(): Promise<readonly LockWait[]>;
  /** Version of the server that it lies on. */
  serverVersion(): Promise<string>;
  /** Its connections in this process now. */
  connections(): PoolUse;

  putDocuments(documents: {
    readonly cases: readonly CaseDocument[];
    readonly agents: readonly AgentDocument[];
    readonly schedules?: readonly ScheduleDocument[];
  }): Promise<void>;
  caseDocument(hash: string): Promise<CaseDocument | null>;
  agentDocument(hash: string): Promise<AgentDocument | null>;
  scheduleDocument(hash: string): Promise<ScheduleDocument | null>;

  documentsOf(batch: string): Promise<BatchDocuments>;

  /** One transaction; an existing id with an equal manifest is left as it is. @throws {StoreConflictError} when the id exists with another manifest. */
  createBatch(plan: BatchPlan): Promise<void>;
  batch(id: string): Promise<BatchRow | null>;
  /** Newest first. */
  batches(filter?: { readonly state?: BatchState; readonly suite?: string; readonly limit?: number }): Promise<readonly BatchRow[]>;
  /** The newest batch that is not finished and has this manifest. */
  unfinishedBatch(manifestHash: string): Promise<BatchRow | null>;
  setBatchState(id: string, state: BatchState): Promise<void>;
  /** The batch runs, and what a trouble of the harness or a cancellation ended is to be run again. @throws {StoreConflictError} when it has ended. */
  reopenBatch(id: string, options: ReopenOptions): Promise<void>;
  /** What decides whether a batch may launch; cheaper than {@link batch}. */
  standing(id: string): Promise<BatchStanding | null>;
  setControl(id: string, change: { readonly hold?: BatchHold | null; readonly concurrency?: number; readonly priority?: number }): Promise<void>;
  /** Ends a batch of which every trial is settled. `false`: one is not. */
  finishBatch(id: string): Promise<boolean>;
  /** Gives up who has launched what, for a workflow that begins without knowing it. */
  releaseClaims(id: string): Promise<void>;
  /** The next trials of the manifest that nobody has launched, now launched by `claimant`; those that it claimed and does not know of come again. `begun`: only those with an attempt. */
  claimTrials(
    id: string,
    request: { readonly claimant: string; readonly known: readonly string[]; readonly limit: number; readonly begun: boolean },
  ): Promise<readonly LaunchableTrial[]>;
  /** Those of the trials of which nothing more is to come. */
  settledAmong(trials: readonly string[]): Promise<readonly string[]>;
  /** Nothing more is to come of them. */
  settle(trials: readonly string[]): Promise<void>;
  /** Ends a trial that has not begun, so that it is never launched; one that has begun is left alone. */
  cancelWaiting(trial: string, summary: TrialSummary): Promise<void>;
  /** Places of a batch's trials in the order of settling. */
  settledPlaces(id: string): Promise<readonly number[]>;
  /** In order of settling. A place may be taken before a lower one is seen, so a reader asks again from some way back, without those that it knows. */
  settledAfter(id: string, after: number, known: readonly number[]): Promise<readonly SettledTrial[]>;
  /** Marks the batch as driven by this process until it is disposed, or the process ends in whatever way. */
  drive(id: string): Promise<AsyncDisposable>;
  /** Those of the batches that some process drives now. */
  driven(ids: readonly string[]): Promise<ReadonlySet<string>>;

  trials(batch: string, filter?: { readonly underWay?: boolean }): Promise<readonly TrialRow[]>;
  /** Some trials of a batch in the manifest's order, and how many the filter fits. */
  trialPage(batch: string, filter: TrialFilter, page: { readonly offset: number; readonly limit: number }): Promise<TrialPage>;
  /** What reports read of each trial of a batch, in the manifest's order, in pages. */
  facts(batch: string): AsyncIterable<readonly TrialFacts[]>;
  /** A batch and those of its suite before it, counted, the oldest first; empty: there is no such batch. */
  series(request: SeriesRequest): Promise<readonly SeriesBatch[]>;
  /** What was asked of approvers in a batch, in the attempts that count, in order; at most 10,000. */
  approvalsOf(batch: string): Promise<readonly AskedApproval[]>;
  /** How many trials of a batch stand how, ended how, and why. */
  census(batch: string): Promise<TrialCensus>;
  /** Of each case, schedule, agent and repetition of a suite the trial that ended last, in whatever batch; cancelled ones do not count. */
  newestTrials(suite: string): Promise<readonly TrialRow[]>;
  /** What trials of these agents took in a suite's newest batches, some of each kind, the newest first. */
  samples(suite: string, agents: readonly string[]): Promise<readonly Sample[]>;
  /** By id, or by a prefix that only one trial has. @throws {StoreConflictError} when several have it. */
  trial(idOrPrefix: string): Promise<TrialRow | null>;
  /** What the store knows of a trial beside its row; null: there is no such trial. */
  trialStanding(trial: string): Promise<TrialStanding | null>;
  setPhase(trial: string, attempt: number, phase: TrialPhase): Promise<void>;
  /** How many trials of a batch are where, counted by the server. */
  progress(batch: string): Promise<readonly TrialGroup[]>;
  /** Trials that have begun and are not done, of one batch or of all, those that have run for longest first. */
  running(filter: { readonly batch?: string; readonly limit: number }): Promise<readonly StoredRunning[]>;
  /** Trials of a batch that were launched and have not begun, in the manifest's order. */
  launched(filter: { readonly batch: string; readonly limit: number }): Promise<readonly string[]>;
  /** How the trials of these batches ended that have, by batch. */
  outcomes(batches: readonly string[]): Promise<ReadonlyMap<string, Outcomes>>;
  /** Opens a trial that has ended, so that its batch launches it once more; its attempts stay. @throws {StoreConflictError} for one of a cancelled batch. */
  /** `origin`: the next attempt goes on from there; its number is set here. */
  requeue(trial: string, origin?: Omit<Origin, 'trial' | 'attempt'>): Promise<Requeued>;
  /** From where an attempt goes on; null: it began anew. */
  origin(trial: string, attempt: number): Promise<Origin | null>;
  /** From now on an attempt waits so long for the rate limit of a model. */
  setModelWait(trial: string, attempt: number, waitMs: number): Promise<void>;

  /** `phase`: default `waiting`. */
  beginAttempt(trial: string, attempt: number, startedAt: string, phase?: TrialPhase): Promise<void>;
  /** With a phase, the attempt enters it. */
  setAttemptWorld(trial: string, attempt: number, world: { readonly id: string; readonly host: string }, phase?: TrialPhase): Promise<void>;
  addMessage(trial: string, attempt: number, message: Message): Promise<void>;
  messages(trial: string, attempt: number): Promise<readonly Message[]>;
  /** A call of a model, whoever made it. The same id of an attempt is kept once: the first stands. `entries` of its conversation are added with it, or neither. */
  addModelCall(trial: string, attempt: number, call: ModelCall, entries?: readonly (ConversationEntry | LiveEntry)[]): Promise<void>;
  /** In the order in which they were added. */
  modelCalls(trial: string, attempt: number): Promise<readonly ModelCall[]>;
  /** Of all trials and attempts of a batch, with the agent of the trial. */
  modelCallsOf(batch: string): Promise<readonly { readonly agentName: string; readonly call: ModelCall }[]>;
  /** What all model calls of a batch cost so far, in one currency. */
  spent(batch: string, currency: string): Promise<number>;
  /** What was said between a model and whoever asked it, redacted and bounded by the caller. Each place (who, agent, seq) is kept once: the first entry stands. */
  addConversation(trial: string, attempt: number, entries: readonly (ConversationEntry | LiveEntry)[]): Promise<void>;
  /** Side by side, each in order. */
  conversation(trial: string, attempt: number): Promise<readonly ConversationEntry[]>;
  /** Messages of one side as they were, in order; none once the attempt has ended. */
  liveConversation(trial: string, attempt: number, side: Pick<ConversationEntry, 'who' | 'agent'>): Promise<readonly ChatMessage[]>;
  /** Trials that have such messages, each with its newest attempt that has. */
  liveConversations(): Promise<readonly { readonly trial: string; readonly attempt: number }[]>;
  /** Forgets messages as they were, of this attempt and of those before it. */
  forgetLive(trial: string, attempt: number): Promise<void>;
  /** Record of an attempt, once. A second call with the same attempt changes nothing. */
  putRecord(trial: string, attempt: number, record: TrialRecord): Promise<void>;
  record(trial: string, attempt: number): Promise<TrialRecord | null>;
  attempts(trial: string): Promise<readonly AttemptRow[]>;
  /** Adds a verdict and makes it the current one; older ones stay. Equal (attempt, grader version, case hash) replaces nothing and adds nothing. */
  addVerdict(trial: string, attempt: number, verdict: Verdict): Promise<void>;
  verdicts(trial: string): Promise<readonly StoredVerdict[]>;
  /** Ends an attempt: ending, summary, snapshot. The attempt with the highest number counts. `settles` (default true): no other attempt follows. */
  finishAttempt(trial: string, attempt: number, summary: TrialSummary, endedAt: string, options?: { readonly settles?: boolean }): Promise<void>;

  /** A new token of the same agent replaces the one before. */
  putGatewayToken(token: GatewayToken): Promise<void>;
  /** `ended`: nothing is to be opened with it any more. */
  gatewayToken(name: string): Promise<(GatewayToken & { readonly ended: boolean }) | null>;
  /** The agent's token, unless it has ended. */
  gatewayTokenOf(agent: AttemptAgent): Promise<GatewayToken | null>;
  /** Another gateway has its session. */
  moveGatewayToken(name: string, place: string | null): Promise<void>;
  endGatewayToken(name: string): Promise<void>;
  /** The first operation of a name stands. */
  putGatewayCall(trial: string, attempt: number, call: GatewayCall): Promise<void>;
  gatewayCalls(trial: string, attempt: number): Promise<readonly GatewayCall[]>;
  /** Null: none is open any more. */
  setOpenTurn(trial: string, attempt: number, turn: OpenTurn | null): Promise<void>;
  openTurn(trial: string, attempt: number): Promise<OpenTurn | null>;
  /** At most 100 of an attempt are kept, the first ones. */
  addLateRequest(trial: string, attempt: number, detail: string): Promise<void>;
  lateRequests(trial: string, attempt: number): Promise<readonly LateRequest[]>;

  /** Keeps what an approver is asked, once: gives what stands then. */
  requestApproval(
    trial: string,
    attempt: number,
    operation: string,
    subject: ApprovalSubject & { readonly worldTime: string },
  ): Promise<ApprovalSubject & { readonly worldTime: string }>;
  /** The first end stands; only `void` may follow. */
  endApproval(trial: string, attempt: number, operation: string, end: ApprovalEnd): Promise<void>;
  approval(trial: string, attempt: number, operation: string): Promise<OperationApproval | null>;
  /** What was asked of these operations of one attempt stands for another that goes on from it. */
  copyApprovals(from: Origin['source'], to: Origin['source'], operations: readonly string[]): Promise<void>;
  /** Of one attempt, by operation. */
  approvals(trial: string, attempt: number): Promise<ReadonlyMap<string, OperationApproval>>;
  /** What people are asked now, the oldest first, at most 1,000. */
  waitingApprovals(filter?: { readonly batch?: string }): Promise<readonly AskedApproval[]>;
  /** By id, or by a prefix that only one request has. @throws {StoreConflictError} when several have it. */
  askedApproval(idOrPrefix: string): Promise<AskedApproval | null>;

  /** Notes in the audit log what somebody asks for, before it is done, or what became of it where that is known. Gives the number of the line. */
  audit(act: AuditedAct, end?: Pick<AuditEntry, 'outcome' | 'problem'>): Promise<number>;
  /** What became of it. The first end stands. */
  endAudited(id: number, end: Pick<AuditEntry, 'outcome' | 'problem'>): Promise<void>;
  /** The newest first, at most 100 unless told otherwise. */
  audited(filter?: AuditFilter): Promise<readonly AuditEntry[]>;

  putConsoleKey(key: ConsoleKey): Promise<void>;
  /** A key that is valid now. */
  consoleKey(name: string): Promise<ConsoleKey | null>;
  /** Whether it was valid until now: of several who end it at once, one hears so. */
  endConsoleKey(name: string): Promise<boolean>;
  /** The newest first, ended ones included. */
  consoleTokens(): Promise<readonly ListedToken[]>;

  putSnapshot(id: string, trial: string, attempt: number, snapshot: JsonObject): Promise<void>;
  /**
   * Removes what of a class ended before `cutoff`: of attempts, or of batches where it is `verdicts`. Nothing of a trial that may still run is touched, nor of an attempt from which such
   * a trial goes on. `dryRun`: it is only counted.
   */
  purge(which: RecordClass, cutoff: Date, options: { readonly dryRun: boolean }): Promise<PurgedClass>;
  /** Removes what there is of the person with a mail address. Trials that may still run, and attempts from which they go on, are left alone; the former are named. */
  purgeSubject(address: string, options: { readonly dryRun: boolean }): Promise<SubjectPurge>;

  /** The newest first, at most 1,000. */
  snapshots(filter?: { readonly batch?: string; readonly trial?: string; readonly limit?: number }): Promise<readonly SnapshotRow[]>;
  /** One from which a trial goes on that has not ended stays. */
  deleteSnapshot(id: string): Promise<DeletedSnapshot>;
  snapshot(id: string): Promise<{ readonly trial: string; readonly attempt: number; readonly snapshot: JsonObject } | null>;

  /** What stands for worlds of attempts that are played on cassettes. */
  readonly cassetteWorlds: CassetteWorldRows;
  /** Times at which schedules were due, and what they have shown. */
  readonly nights: NightRows;
  /** What worlds have at real services. */
  readonly liveSpaces: LiveSpaceRows;

  /** Times at which tools were held against recordings or another environment. */
  readonly contractChecks: ContractCheckRows;

  /** Rubrics, judgements of models, labels of people. */
  readonly judging: JudgingRows;

  /** End state of a case's reference solution, by generation and case. */
  referenceEffects(generation: string, caseHash: string): Promise<readonly Effect[] | null>;
  putReferenceEffects(generation: string, caseHash: string, effects: readonly Effect[]): Promise<void>;
}

/** A request for an approval, as people find it. */
export interface AskedApproval {
  /** `<trial>.<attempt>.<operation>`. */
  readonly id: string;
  readonly trial: string;
  readonly attempt: number;
  readonly operation: string;
  readonly batch: string;
  readonly case: string;
  readonly agent: string;
  readonly approval: OperationApproval;
}

/** What was asked contradicts what the store holds. */
export class StoreConflictError extends Error {
  override readonly name = 'StoreConflictError';
  readonly code = 'store_conflict';
}
