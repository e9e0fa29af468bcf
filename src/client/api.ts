import type { ContractReport, ContractRequest } from './cassettes/contract.ts';
import type { PlayRequest } from './cassettes/play.ts';
import type { RecordReport, RecordRequest } from './cassettes/record.ts';
import type { Decision, DecisionReceipt } from './approvals.ts';
import type { ConsolePages } from '../gateway/app.ts';
import type { CompareRequest } from './compare.ts';
import type { JudgedSeries } from '../report/judges/judged.ts';
import type { ContractCheck } from '../domain/contract-check.ts';
import type { JudgeSeries, Judgement } from '../domain/judging.ts';
import type { JudgeEstimate } from './judges/estimate.ts';
import type { JudgeReport } from './judges/judge.ts';
import type { JudgeRequest } from './judges/plan.ts';
import type { Comparison } from '../report/comparison/comparison.ts';
import type { Series } from '../report/figures/series.ts';
import type { CancelReceipt, ControlReceipt } from './control.ts';
import type { AuditEntry, AuditFilter } from '../store/audit.ts';
import type { ConsoleRole, ListedToken } from '../store/console-keys.ts';
import type { ConsoleTokenRequest, MadeConsoleToken } from './console-tokens.ts';
import type { LabelledCase } from '../domain/case-labels.ts';
import type { Severity, TrialFacts } from '../domain/trial-facts.ts';
import type { AskedApproval, BatchDocuments, BatchRow, BatchState, StoredVerdict, AttemptRow, LateRequest, TrialRow } from '../store/store.ts';
import type { RunEstimate } from './estimate.ts';
import type { BatchProgress, RunningTrial } from '../domain/progress.ts';
import type { Outcomes } from '../store/outcomes.ts';
import type { ReplayOptions, ReplayReport } from './replay.ts';
import type { ForkReceipt, ForkRequest } from './fork.ts';
import type { RequeueReceipt } from './requeue.ts';
import type { ResetReceipt } from './reset.ts';
import type { BatchWhy, TrialWhy } from '../domain/why.ts';
import type { BatchHold, BatchSummary, TrialPhase, TrialSummary } from '../domain/trial.ts';
import type { Outage } from '../domain/outage.ts';
import type { Message, TrialRecord } from '../domain/record.ts';
import type { Case } from '../domain/case.ts';
import type { FaultSchedule } from '../domain/fault.ts';
import type { Json } from '../domain/json.ts';
import type { ModelCall, Money } from '../domain/model.ts';
import type { ConversationEntry } from '../store/conversation.ts';
import type { Trace } from '../report/trace/trace.ts';
import type { AgreementReport } from '../report/agreement.ts';
import type { RecordedRuns } from './recorded-runs.ts';
import type { Keys } from './keys.ts';
import type { NightSchedules } from './nights/schedules.ts';
import type { Labels } from './labels/labels.ts';
import type { PurgedRecords, SubjectReport } from './retention/purge.ts';
import type { Snapshots } from './snapshots/snapshots.ts';
import type { SweptReport } from './sweep.ts';
import type { FileProblem } from '../suite/suite.ts';

/** What to run. Everything but `suite` has a default. */
export interface RunRequest {
  /** Workers of this deployment run the trials, and none is started. Default: `TRIALBED_DEPLOYMENT`, else a worker of the batch's own. */
  readonly deployment?: string;
  /** A built-in suite's name, or the path of a suite's folder or `suite.yaml`. */
  readonly suite: string;
  /** Names of agents of the suite, `reference`, `do-nothing`, or paths of agent files. Default: the suite's. */
  readonly agents?: readonly string[];
  /** Globs over case ids; any may match. */
  readonly cases?: readonly string[];
  readonly tags?: readonly string[];
  /** Only cases of one of these severities. Default: all. */
  readonly severities?: readonly Severity[];
  readonly shard?: { readonly index: number; readonly of: number };
  /**
   * Fault schedules of the suite by name or glob, `none` for trials without faults, or `all` for `none` and every schedule. Default: the suite's; with `lastFailed`: `all`.
   * A schedule is combined with the cases that it is for.
   */
  readonly faults?: readonly string[];
  /** Only trials (by case, schedule, agent and repetition) whose newest verdict in the store, of whatever batch of this suite, is no pass. */
  readonly lastFailed?: boolean;
  /** Repetitions of each case, schedule and agent. Default: the suite's. */
  readonly trials?: number;
  /** Default: derived from the batch. */
  readonly seed?: string;
  readonly keep?: 'never' | 'failed' | 'always';
  readonly isolation?: 'schema' | 'database' | 'container';
  /** Trials in flight. Default 8. */
  readonly concurrency?: number;
  /** From 1, served first where batches share workers, to 5; each goes on whatever the others' are. Default 3. */
  readonly priority?: number;
  /** No trial is launched once the batch's models have cost so much, all attempts included; those under way go on. No part of what makes a batch the same. Default: the suite's. */
  readonly maxCost?: Money;
  /** What the batch has to reach, as `parseGate` reads it; reports judge it by these unless others are named. No part of what makes a batch the same. Default: the suite's. */
  readonly gates?: readonly string[];
  /** Trials that ended as `cassette_miss` leave no gate unmet. No part of what makes a batch the same. Default: they do. */
  readonly allowMisses?: boolean;
  /** People decide what needs an approval (`approvals`, `decide`), and not the cases' approvers. Default false. */
  readonly human?: boolean;
  /** With `human`: whether plain signals to a trial's workflow decide, whose sender nobody has identified. Default: the suite's, else `count`. */
  readonly unverified?: 'count' | 'refuse';
  /** Tools are answered from cassettes, and no world is made: each case is played once for each cassette. No fault schedule acts then. Absent: tools act. */
  readonly cassettes?: PlayRequest;
  /** Options merged over the suite's `environment.with`. */
  readonly environmentOptions?: { readonly [name: string]: Json };
}

export type BatchEvent =
  | { readonly type: 'batch'; readonly batch: string; readonly suite: string; readonly trials: number; readonly done: number; readonly resumed: boolean }
  | { readonly type: 'phase'; readonly trial: string; readonly case: string; readonly schedule: string; readonly agent: string; readonly phase: TrialPhase }
  /** How the batch stands, whenever that has changed; the first comes after `batch`. */
  | BatchStands
  /** A call waits for the decision of people. */
  | { readonly type: 'approval'; readonly asked: AskedApproval }
  /** A service is away, and the batch waits for it; null: it is back. */
  | { readonly type: 'outage'; readonly outage: Outage | null }
  /** About once a second. */
  | BatchProgress
  | TrialSummary
  | BatchSummary;

/** A batch as it stands, judged by its own gates. */
export interface BatchResults {
  readonly batch: BatchRow;
  readonly summary: BatchSummary;
  /** Those that have ended. */
  readonly trials: readonly TrialSummary[];
  /** A light record of every trial, in the manifest's order: what the summary was judged by. */
  readonly facts: readonly TrialFacts[];
  /** When it was read, ISO 8601: the day by which quarantines hold. */
  readonly today: string;
}

export interface BatchStands {
  readonly type: 'stands';
  readonly batch: string;
  readonly state: BatchState;
  /** What somebody has asked of it: `paused` launches nothing until it is resumed, `cancelling` waits for what is in flight. */
  readonly hold: BatchHold | null;
  /** Trials that it may have in flight. */
  readonly concurrency: number;
}

/** A batch that is watched. Get one with `follow`. */
export interface FollowedBatch {
  readonly id: string;
  /**
   * Begins with `batch`, ends after the summary, once the batch is finished, cancelled or interrupted. Trials that had ended before are counted in `batch` and not told again.
   * May be read once.
   */
  events(): AsyncIterable<BatchEvent>;
  result(): Promise<BatchSummary>;
  /** Stops watching; the batch goes on. The events end, and `result()` is rejected with `ClosedError`. */
  leave(): void;
}

/** A batch that was attached to. */
export interface WatchedBatch extends FollowedBatch {
  /**
   * Who works on it: workers of others; one of this client, which goes on with it; nobody, since its content is not here (`why` tells); it has ended.
   * `leave()` ends a worker of this client, and the batch is then interrupted.
   */
  readonly work: 'others' | 'ours' | 'nobody' | 'over';
  readonly why: string | null;
}

/** A trial that has begun and is not done. */
export interface RunningRow extends RunningTrial {
  readonly batch: string;
  /** What is away that it needs; null: nothing is known to be. */
  readonly outage: Outage | null;
}

/** A batch that runs. */
export interface BatchHandle {
  readonly id: string;
  /** It continues an interrupted batch of equal content. */
  readonly resumed: boolean;
  /** Ends after the summary. May be read once. */
  events(): AsyncIterable<BatchEvent>;
  result(): Promise<BatchSummary>;
  /**
   * Stops launching and leaves the batch so that the same request resumes it. Trials that are under way stop where they are, and go on when the batch is
   * resumed, or with a `trialbed worker`.
   */
  interrupt(): Promise<void>;
}

/** A trial with everything that is known of it. */
export interface TrialView {
  readonly trial: TrialRow;
  /** From where the attempt that counts goes on: another attempt's state after so many calls, which were answered from its record. Absent: it began anew. */
  readonly origin?: { readonly trial: string; readonly attempt: number; readonly calls: number };
  readonly kase: Case;
  /** Its fault schedule; null for `none`. */
  readonly schedule: FaultSchedule | null;
  readonly attempts: readonly AttemptRow[];
  /** Record of the attempt that counts; null before it was graded. */
  readonly record: TrialRecord | null;
  readonly messages: readonly Message[];
  /** Calls of models in the attempt that counts. */
  readonly modelCalls: readonly ModelCall[];
  /** What is kept of what was said between models and whoever asked them: redacted. */
  readonly conversation: readonly ConversationEntry[];
  readonly verdicts: readonly StoredVerdict[];
  /** What came to the gateway with the token of the attempt that counts, after its record was made. */
  readonly lateRequests: readonly LateRequest[];
  /** What judges said of the attempt that counts, each with its series. Absent: nobody judged it. */
  readonly judgements?: readonly { readonly series: JudgeSeries; readonly judgement: Judgement }[];
}

export interface RegradeReport {
  readonly batch: string;
  readonly regraded: number;
  readonly unchanged: number;
  readonly changed: readonly {
    readonly trial: string;
    readonly case: string;
    readonly agent: string;
    readonly from: string;
    readonly to: string;
    readonly why: string | null;
  }[];
  /** Trials without a record, which cannot be graded. */
  readonly skipped: number;
}

/** Which recorded runs to make again. */
export interface RegradeRunsRequest {
  /** How the file is written: `workbench-runs`, `workbench-mutations`, `tau-bench-runs`, `tau-bench-mutations`. */
  readonly from: string;
  /** File of the runs; a relative path is taken from the working folder. */
  readonly file: string;
  /** Folder with the data of the originals, of which the worlds are made. */
  readonly data: string;
  /** Who ran, where the file does not say it. Default: as the file is called. */
  readonly model?: string;
  /** Only the first lines (or entries) of the file. Default: all. */
  readonly limit?: number;
  /** Runs in flight, each in a world of its own. Default 4. */
  readonly concurrency?: number;
  /** The file as it was read already. Default: it is read now. */
  readonly read?: RecordedRuns;
  /** When raised, calls in flight end, worlds are given back, and the promise is rejected with its reason. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, of: number) => void;
}

/** One thing that `validate` tried on a case. */
export interface ValidationResult {
  readonly case: string;
  readonly file: string;
  /** `reference`, `do-nothing`, or the mutant's id such as `drop:2`. */
  readonly variant: string;
  readonly description: string;
  readonly verdict: 'pass' | 'fail' | 'undetermined' | 'infra_error';
  /** Whether this is what a good case does. */
  readonly ok: boolean;
  /** The author's explanation of a surviving mutant. */
  readonly explained: string | null;
  /** Line of the case file to fix. */
  readonly line: number | null;
  readonly why: string | null;
  /** It ended as the case accepts, with nothing beside: whatever failed it then is in how it got there. */
  readonly sameEnd: boolean;
  /** Codes of the findings that are no pass, in the order found. */
  readonly findings: readonly string[];
}

/** What became of the mutants of one kind. `made` is the sum of the three others. */
export interface ValidationKind {
  /** `drop`, `repeat`, `add`, `alter`, `polite`, `answer`. */
  readonly kind: string;
  readonly made: number;
  readonly killed: number;
  readonly explained: number;
  readonly survived: number;
  /** Those that ended as the case accepts, killed or not, and by code how many of them have such a finding: an end state alone shows none of these. */
  readonly sameEnd: { readonly made: number; readonly findings: { readonly [code: string]: number } };
}

export interface ValidationReport {
  readonly suite: string;
  readonly cases: number;
  /** Its rubrics, which were read and are right. Absent: it has none. */
  readonly rubrics?: readonly { readonly name: string; readonly version: string; readonly categories: readonly string[] }[];
  readonly results: readonly ValidationResult[];
  readonly mutants: number;
  readonly killed: number;
  readonly explained: number;
  readonly survived: number;
  readonly killRate: number;
  readonly kinds: readonly ValidationKind[];
  /** Severity, tags and quarantine of each case. */
  readonly labels: readonly LabelledCase[];
  /** What is no fault: rules of fault schedules that no reference solution ever meets, and so test nothing; quarantines that are over or soon will be. */
  readonly warnings: readonly FileProblem[];
  readonly ok: boolean;
}

/** Everything that a command does. Get one with `connect()`. */
export interface Trialbed extends AsyncDisposable {
  run(request: RunRequest): Promise<BatchHandle>;
  /** Watches a batch, whoever runs it: everything is read from the store. @throws {NotFoundError} */
  follow(batch: string): Promise<FollowedBatch>;
  /** What a run would take, estimated from earlier batches. Starts no trial and makes no batch. */
  estimate(request: RunRequest): Promise<RunEstimate>;
  /**
   * Watches a batch, the newest where none is named, and goes on with it where nobody works on it and its content is here: whoever ran it may be dead.
   * @throws {NotFoundError}
   */
  watch(batch?: string): Promise<WatchedBatch>;
  /** Puts a trial that has ended, or hangs, into its batch's queue again. @throws {NotFoundError} @throws {TrialRunsError} where it runs, without `force`. */
  requeue(trial: string, options?: { readonly force?: boolean }): Promise<RequeueReceipt>;
  /**
   * Makes a new trial in a fresh world at the state of another after one of its operations; the original is only read. It is stored, alone in a batch of its own, and runs
   * when that is watched. @throws {NotFoundError} @throws {PointRefusedError} where nothing can go on from there
   */
  fork(trial: string, request: ForkRequest): Promise<ForkReceipt>;
  /**
   * Lets a trial without a verdict go on from an operation (`op-3`, `start`), the number of an event of its workflow's history, or a phase: another attempt in a fresh world at
   * that state. An attempt that runs is ended. @throws {NotFoundError} @throws {PointRefusedError} where it cannot; nothing was changed then
   */
  reset(trial: string, options: { readonly to: string }): Promise<ResetReceipt>;
  /** Trials that have begun and are not done, of one batch or of all, those that have run for longest first. Default limit 100. */
  running(filter?: { readonly batch?: string; readonly limit?: number }): Promise<readonly RunningRow[]>;
  /** How the trials of these batches ended that have, by batch. */
  outcomes(batches: readonly string[]): Promise<ReadonlyMap<string, Outcomes>>;
  /** Attaches to a batch's stored results. */
  results(batch: string): Promise<BatchResults>;
  batches(filter?: { readonly running?: boolean; readonly suite?: string; readonly limit?: number }): Promise<readonly BatchRow[]>;
  trials(batch: string): Promise<readonly TrialRow[]>;
  /** By id or unique prefix. @throws {NotFoundError} */
  show(trial: string): Promise<TrialView>;
  /** What reports and comparisons read of each trial of a batch, in the manifest's order, a page at a time: of ten thousand trials in seconds. @throws {NotFoundError} at the first page */
  facts(batch: string): AsyncIterable<readonly TrialFacts[]>;
  /** How the batches of its suite came to a batch, by agent; `limit`: batches at most, default 60. @throws {NotFoundError} */
  series(batch: string, options?: { readonly limit?: number }): Promise<Series>;
  /** When the tools of a batch's environment, of this generation, were held against recordings or another environment; the newest first. @throws {NotFoundError} */
  contracts(batch: string): Promise<readonly ContractCheck[]>;
  /** What the trials of a batch are made of, and what approvers were asked in them. @throws {NotFoundError} */
  documents(batch: string): Promise<BatchDocuments & { readonly approvals: readonly AskedApproval[] }>;
  /** An attempt of a trial, step by step; default: the one that counts. `writeTrace` makes a page of it. @throws {NotFoundError} */
  trace(trial: string, options?: { readonly attempt?: number }): Promise<Trace>;
  /**
   * What a trial or a batch waits for, with what that was read from: running, finished or wedged, by its id or a trial's unique prefix. Answers within two seconds, and asks nothing of what
   * may be stuck. Of a Temporal that is away it says so, and tells what the store knows. @throws {NotFoundError}
   */
  why(id: string): Promise<TrialWhy | BatchWhy>;
  /** Compares two agents on the trials that both had. @throws {NotFoundError} @throws {ComparisonRefusedError} where nothing can be compared */
  compare(request: CompareRequest): Promise<Comparison>;
  /** Replays the history of a trial or a batch against the workflow code of today, without side effects. @throws {NotFoundError} */
  replay(id: string, options?: ReplayOptions): Promise<ReplayReport>;
  /** Grades stored records again by the case files as they are now, without running an agent. */
  regrade(batch: string): Promise<RegradeReport>;
  /**
   * Makes the calls of runs that others recorded again in fresh worlds, grades what results by the reference's rules and by our own, and compares with what
   * is published. @throws {RecordedRunsError} for a file that is not there or is not what `from` says, with line numbers.
   */
  regradeRuns(request: RegradeRunsRequest): Promise<AgreementReport>;
  /**
   * Has a model judge the trials of a batch by a rubric of its suite; only those that it has not judged. Each judgement is stored as its reply comes.
   * @throws {NotFoundError} @throws {SuiteFileError} @throws {JudgeRefusedError} @throws {JudgeSetupError} @throws {JudgeStoppedError} @throws {StoreConflictError} where the rubric has changed under its version
   */
  judge(request: JudgeRequest): Promise<JudgeReport>;
  /** What that would take. Asks no model. @throws as `judge` */
  estimateJudging(request: JudgeRequest): Promise<JudgeEstimate>;
  /** What judges said of a batch, each series by itself. @throws {NotFoundError} */
  judging(batch: string): Promise<readonly JudgedSeries[]>;
  validate(
    suite: string,
    options?: {
      readonly cases?: readonly string[];
      readonly concurrency?: number;
      readonly mutants?: boolean;
      readonly onProgress?: (done: number, of: number) => void;
    },
  ): Promise<ValidationReport>;
  /** Writes what the tool server of a suite's environment says of its tools to the file that the environment names. @throws {ToolServerError} */
  pin(suite: string): Promise<PinReport>;
  /** Runs cases as real trials and writes what their tools answered into the suite's cassettes. @throws {CassetteError} @throws {NothingToRunError} @throws {SuiteFileError} */
  record(request: RecordRequest): Promise<RecordReport>;
  /** Makes the calls of cassettes again, and compares the shapes of what tools take and answer. @throws {CassetteError} @throws {NothingToRunError} @throws {SuiteFileError} */
  contract(request: ContractRequest): Promise<ContractReport>;
  /** Calls that wait for the decision of people, the oldest first, at most 1,000. */
  approvals(filter?: { readonly batch?: string }): Promise<readonly AskedApproval[]>;
  /**
   * Decides a request, by its id or a prefix that only one has, for exactly what the store shows of it. @throws {NotFoundError}, {DecisionRefusedError} where it does not
   * count, {DecisionUnansweredError} where no worker runs the trial
   */
  decide(request: string, decision: Decision): Promise<DecisionReceipt>;
  /** Launches nothing more until it is resumed; what is in flight goes on. @throws {NotFoundError}, {ControlRefusedError} where it changes nothing, {ControlUnansweredError} */
  pause(batch: string): Promise<ControlReceipt>;
  /** Goes on with a batch that was paused or interrupted. Of one that nobody serves (`served`), a worker or its own command goes on with it. Errors as of `pause`. */
  resume(batch: string, options?: { readonly priority?: number }): Promise<ControlReceipt>;
  /** Trials in flight from now on; those beyond it are not stopped. Errors as of `pause`. */
  setConcurrency(batch: string, concurrency: number): Promise<ControlReceipt>;
  /** Cancels a batch, or a trial by its id or a unique prefix: nothing more is launched, what is in flight ends `cancelled`. Resolves when it has. Errors as of `pause`. */
  cancel(id: string): Promise<CancelReceipt>;
  sweep(options?: { readonly dryRun?: boolean }): Promise<SweptReport>;
  /** Removes what is older than the project's settings file (default `trialbed.yaml` in the working folder) keeps it; without one nothing. @throws {SuiteFileError} for a wrong file */
  purge(options?: { readonly dryRun?: boolean; readonly settingsFile?: string }): Promise<readonly PurgedRecords[]>;
  /** Removes what there is of the person with a mail address, and tells what stays. `histories`: those of the trials concerned are deleted in Temporal too. */
  purgeSubject(address: string, options?: { readonly dryRun?: boolean; readonly histories?: boolean }): Promise<SubjectReport>;
  /** By which what is kept is encrypted. */
  readonly keys: Keys;
  /** What people say of trials by rubrics, and how they agree with judges and with each other. */
  readonly labels: Labels;
  /** What is kept of worlds. */
  readonly snapshots: Snapshots;
  /** Suites that run every night. */
  readonly schedules: NightSchedules;
  /** What was asked of batches, trials and stored data, done or refused, the newest first. */
  audit(filter?: AuditFilter): Promise<readonly AuditEntry[]>;
  /**
   * The operators' console of this home: where one is served on this machine, that one; else it is served by this process until it is disposed.
   * @throws {ConsoleAddressError} for an address that cannot be, or at which it would be open to others without TLS
   */
  console(options?: ConsoleOptions): Promise<ServedConsole>;
  /** Tokens of the console, the newest first, ended ones included. */
  consoleTokens(): Promise<readonly ListedToken[]>;
  addConsoleToken(request: ConsoleTokenRequest): Promise<MadeConsoleToken>;
  /** Ends a token by its name, and every session that came from it. @throws {NotFoundError} */
  revokeConsoleToken(name: string): Promise<void>;
  /** The worlds that trials of a batch hold now. */
  worldsOf(batch: string): Promise<HeldWorlds>;
}

/** Where the console is served. Everything has a default. */
export interface ConsoleOptions {
  /** Address. Default `127.0.0.1`: this machine alone. */
  readonly listen?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Address as browsers have it, where a proxy with TLS is before it, such as `https://trialbed.example.com`. */
  readonly url?: string;
  /** Base address of Temporal's own web interface. Default: that of the server that was started for this home, else none. */
  readonly temporalUi?: string;
  /** Serves the pages below `/console` on a server of somebody else, in place of one of its own; `listen` is then where that one listens. Whether a console runs already is not asked. */
  readonly on?: (pages: ConsolePages) => Promise<ServedPages>;
}

/** A server that serves pages until it is disposed. */
export interface ServedPages extends AsyncDisposable {
  /** Base URL at which it listens, without a slash at the end. */
  readonly url: string;
}

/** A console that answers. */
export interface ServedConsole extends AsyncDisposable {
  readonly url: string;
  /** It is served by this process, until it is disposed. */
  readonly ours: boolean;
  /** An address that signs its first user in as the user of this process, within ten minutes. */
  link(roles: readonly ConsoleRole[]): Promise<string>;
}

/** What `pin` has written. */
export interface PinReport {
  readonly type: 'pin';
  readonly file: string;
  readonly tools: readonly string[];
  /** How it differs from what was pinned before, a line for each. */
  readonly changes: readonly string[];
  /** What the environment has still to declare, or declares in vain. */
  readonly problems: readonly string[];
}

export type { Decision, DecisionReceipt } from './approvals.ts';
export type { ExpectedComparison, SnapshotComparison } from './snapshots/compare.ts';
export type { OpenSnapshot, RestoredSnapshot } from './snapshots/restore.ts';
export type { Snapshots, SnapshotView } from './snapshots/snapshots.ts';
export type { SnapshotRow } from '../store/snapshots.ts';
export type { RunEstimate } from './estimate.ts';
export type { JudgeEstimate } from './judges/estimate.ts';
export type { JudgeReport } from './judges/judge.ts';
export type { JudgeRequest } from './judges/plan.ts';
export type { JudgedSeries } from '../report/judges/judged.ts';
export type { CancelReceipt, ControlReceipt } from './control.ts';
export type { ReplayedRun, ReplayOptions, ReplayReport } from './replay.ts';
export type { Divergence } from '../worker/replay/divergence.ts';
export type { StandingAfter, TimelineEvent } from '../worker/replay/timeline.ts';
export type { PurgedRecords, SubjectReport } from './retention/purge.ts';
export type { ForkReceipt, ForkRequest } from './fork.ts';
export type { RequeueReceipt } from './requeue.ts';
export type { ResetReceipt } from './reset.ts';
export type { Trace } from '../report/trace/trace.ts';
export type { Outcomes } from '../store/outcomes.ts';
export type { ConsoleRole, ListedToken } from '../store/console-keys.ts';
export type { ConsoleTokenRequest, MadeConsoleToken } from './console-tokens.ts';
export type { AuditEntry, AuditFilter } from '../store/audit.ts';
export type { AskedApproval } from '../store/store.ts';

/** Worlds that trials hold; their trials go on in them when the batch is resumed. */
export interface HeldWorlds {
  readonly held: number;
  /** Those among them with a container of their own, which runs on when everything else has stopped. */
  readonly containers: number;
  /** Whether they outlive the services: not those that are registered in a throwaway server of ours. */
  readonly outlive: boolean;
}

/** Nothing has this name or id. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
  readonly code = 'not_found';
}

/** The client was disposed: batches that ran are interrupted, and it takes no more requests. Get another with `connect()`. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
  readonly code = 'closed';
}
export type { Labels } from './labels/labels.ts';
export type { LabelItem, Labelling } from './labels/labelling.ts';
export type { Material, MaterialEffect, MaterialMail, MaterialMessage, MaterialOperation } from '../judges/material.ts';
