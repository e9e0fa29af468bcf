import type { WaitReason } from './progress.ts';
import type { BatchHold, TrialPhase } from './trial.ts';
import type { Ending, Judgement } from './verdict.ts';

/**
 * What a trial or a batch waits for. The reasons of `ps` and `watch` keep their names; these are beside them.
 *
 * - `done`: nothing, it has ended
 * - `activity`: an activity that runs and gives signs of life, such as an agent that acts
 * - `silent_activity`: one that was begun and gives none: either it has none to give, or its worker is lost
 * - `failing_activity`: one that failed and is to be tried again
 * - `step`: a worker carries out the trial's next short steps
 * - `workflow_changed`: its workflow task fails since the workflow's code is not what the trial began with
 * - `workflow_error`: its workflow task fails by an exception, or is lost again and again
 * - `payload_too_large`: its workflow task fails, or its activity failed, since what it hands over is larger than Temporal takes
 * - `message`: its workflow task fails since a message came that cannot be taken
 * - `lock`: a lock that another session of the database holds
 * - `gateway`: the gateway by which its agent calls tools does not answer
 * - `budget`: the batch's models have cost what they may
 * - `infrastructure`: a service that is away or full, or its attempts ended by trouble of the harness
 * - `lost`: nothing, and nothing will come: its workflow is gone without a result
 * - `working`: of a batch: nothing is in its way
 */
export type WhyCause =
  | WaitReason
  | 'done'
  | 'activity'
  | 'silent_activity'
  | 'failing_activity'
  | 'step'
  | 'workflow_changed'
  | 'workflow_error'
  | 'payload_too_large'
  | 'message'
  | 'lock'
  | 'gateway'
  | 'budget'
  | 'infrastructure'
  | 'lost'
  | 'working';

/** What a cause was read from. `text` says all of it in one line; foreign text in it is bounded, and not escaped for anything. Times are ISO 8601. */
export type WhyEvidence = { readonly text: string } & (
  | ActivityEvidence
  | WorkflowTaskEvidence
  | QueueEvidence
  | ApprovalEvidence
  | LockEvidence
  | GatewayEvidence
  | AttemptEvidence
  | { readonly kind: 'model'; readonly until: string }
  | { readonly kind: 'budget'; readonly limit: string; readonly spent: string }
  | { readonly kind: 'outage'; readonly service: 'PostgreSQL' | 'Temporal'; readonly reason: string }
  | { readonly kind: 'workflow'; readonly status: string; readonly since: string | null; readonly run: string | null }
  | { readonly kind: 'batch'; readonly state: string; readonly hold: BatchHold | null }
);

export interface ActivityEvidence {
  readonly kind: 'activity';
  readonly activity: string;
  /** In the words of whoever scheduled it, such as `op-3 issue_refund`; null: none are known. */
  readonly summary: string | null;
  /** `scheduled`: it waits for a worker, or for its next try. */
  readonly state: 'scheduled' | 'started' | 'cancelling' | 'paused';
  readonly attempt: number;
  /** Null: no limit. */
  readonly maxAttempts: number | null;
  readonly scheduledAt: string | null;
  readonly startedAt: string | null;
  readonly lastHeartbeatAt: string | null;
  /** When it is tried again; null: it is not in back-off. */
  readonly nextTryAt: string | null;
  readonly lastWorker: string | null;
  readonly lastFailure: { readonly type: string; readonly message: string } | null;
}

export interface WorkflowTaskEvidence {
  readonly kind: 'workflow_task';
  readonly state: 'scheduled' | 'started';
  /** How often it was tried, this time included. */
  readonly attempt: number;
  readonly since: string | null;
  /** Of the first of these tries: Temporal keeps no other. Null: it failed never. */
  readonly failure: {
    /** As Temporal names it, such as `NON_DETERMINISTIC_ERROR`. */
    readonly cause: string;
    readonly type: string;
    readonly message: string;
    /** Where it was thrown, as `file:line:column`; null: no file is in its stack. */
    readonly file: string | null;
    readonly stack: string;
    /** Who had it; null: nobody is named. */
    readonly worker: string | null;
    /** Number of the event of the history that has it. */
    readonly event: number;
    readonly at: string | null;
  } | null;
  /** The message that came before it failed, where one did. */
  readonly after: { readonly kind: 'signal' | 'update'; readonly name: string; readonly event: number } | null;
}

export interface QueueEvidence {
  readonly kind: 'queue';
  readonly queue: string;
  readonly serves: 'trials' | 'conversations' | 'models';
  /** Workers that ask it for work. Temporal remembers one for minutes. */
  readonly workers: readonly { readonly identity: string; readonly lastSeen: string | null; readonly alive: boolean }[];
  /** Tasks that wait there, as Temporal guesses; null: it does not say. */
  readonly backlog: number | null;
}

export interface ApprovalEvidence {
  readonly kind: 'approval';
  readonly request: string;
  readonly operation: string;
  readonly tool: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

export interface LockEvidence {
  readonly kind: 'lock';
  /** Which server: the store's, or a server of worlds by its name. */
  readonly server: string;
  /** The table or row that is waited for, where it is known. */
  readonly on: string | null;
  readonly waits: LockSession;
  readonly holders: readonly LockSession[];
}

/** A session of a database. */
export interface LockSession {
  readonly pid: number;
  readonly application: string;
  readonly user: string;
  /** When its statement began, where it waits; its transaction, where it is waited for. */
  readonly since: string | null;
  readonly state: string;
}

export interface GatewayEvidence {
  readonly kind: 'gateway';
  readonly url: string;
  /** Null: it answers. */
  readonly problem: string | null;
}

export interface AttemptEvidence {
  readonly kind: 'attempt';
  readonly attempt: number;
  /** Null: it has not ended. */
  readonly ending: Ending | null;
  readonly pass: Judgement | null;
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** Why a trial stands where it does. */
export interface TrialWhy {
  readonly type: 'why';
  readonly what: 'trial';
  readonly trial: string;
  readonly batch: string;
  readonly case: string;
  readonly agent: string;
  readonly schedule: string;
  readonly phase: TrialPhase;
  readonly attempt: number;
  readonly cause: WhyCause;
  /** One sentence. Foreign text in it is bounded, and not escaped for anything. */
  readonly sentence: string;
  /** What the sentence rests on, the most telling first. */
  readonly evidence: readonly WhyEvidence[];
  /** What to do, with commands as `trialbed ...` in backticks; null: nothing has to be done. */
  readonly next: string | null;
  /** Why Temporal could not be asked, so that this is what the store knows alone; null: it answered. */
  readonly temporalProblem: string | null;
}

/** Trials of a batch that wait for the same. */
export interface WhyGroup {
  readonly cause: WhyCause;
  readonly trials: number;
  /** Some of them, those that have run for longest first. */
  readonly examples: readonly { readonly trial: string; readonly case: string; readonly agent: string; readonly sentence: string }[];
}

/** Why a batch stands where it does, and what its trials wait for. */
export interface BatchWhy {
  readonly type: 'why';
  readonly what: 'batch';
  readonly batch: string;
  readonly suite: string;
  readonly state: string;
  readonly trials: number;
  readonly done: number;
  readonly cause: WhyCause;
  readonly sentence: string;
  readonly evidence: readonly WhyEvidence[];
  readonly next: string | null;
  /** What those wait for that are not done, the most first. */
  readonly groups: readonly WhyGroup[];
  /** Trials under way that were looked at one by one; of the others, the groups say what the store knows. */
  readonly looked: number;
  readonly temporalProblem: string | null;
}
