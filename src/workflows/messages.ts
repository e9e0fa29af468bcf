import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CallOutcome, CallRef, OperationNote, UserTurn } from '../activities/contract.ts';
import type { ApprovalEnd } from '../domain/approval.ts';
import type { OperationProblem, ToldState } from '../domain/operation.ts';
import type { TrialPhase } from '../domain/trial.ts';

/**
 * How long a worker may have a trial's workflow task without a sign of life. A killed worker's trials that were in one stand still for so long, and a script is nearly
 * always in one; the server's default is ten seconds. The sign of life comes after four fifths of it: what is left must do for a machine that has no time left, since a
 * task that is lost twice waits longer and longer.
 */
export const WORKFLOW_TASK_TIMEOUT = '6 seconds';

/**
 * Without a heartbeat for so long, which is sent every two seconds, an activity's worker counts as lost. Longer than the grading of a trial may hold a worker up; short, since what
 * it held stands still meanwhile.
 */
export const LOST_AFTER = '6 seconds';

/**
 * A call of an agent that lives outside the workflow, with the attempt that the agent belongs to. The Update's id is that of {@link callId}, so that a
 * repeated request is one call.
 */
export const operateUpdate = defineUpdate<CallOutcome, [call: CallRef, attempt: number]>('operate');

/** The agent of an attempt has ended a turn, and the simulated user is to go on. The Update's id is that of {@link turnId}, so that a repeated request is one turn. */
export const hearUpdate = defineUpdate<UserTurn, [attempt: number]>('hear');

/** `turn`: how many the agent has ended, this one included. */
export function turnId(attempt: number, turn: number): string {
  return `${attempt}.turn-${turn}`;
}

/**
 * A decision on a call that waits for an approval. Its validator refuses, with the reason, what would not count: the one who decides learns whether it did. The answer
 * tells what became of the call.
 */
export const decideUpdate = defineUpdate<ApprovalReceipt, [answer: ApprovalAnswer]>('decide_approval');

export interface ApprovalAnswer {
  readonly attempt: number;
  /** Id of the operation, such as `op-3`. */
  readonly operation: string;
  readonly approved: boolean;
  /** Of what was shown to the one who decides. */
  readonly digest: string;
  /** Who decides. */
  readonly by: string;
  readonly reason: string | null;
}

export interface ApprovalReceipt {
  readonly operation: string;
  readonly end: ApprovalEnd;
  /** What became of the call; null: it is still under way. */
  readonly told: { readonly state: ToldState; readonly problem: OperationProblem | null } | null;
}

/** Type of the failure with which a decision is refused that would not count. */
export const DECISION_REFUSED = 'DecisionRefused';

/** The same where the workflow has not come so far: it was begun again on another worker, and will ask as before. */
export const DECISION_TOO_EARLY = 'DecisionTooEarly';

/** The same by plain signals, as Temporal's own command line and pages send them. Whoever sent one is not known, and nobody is told whether it counted. */
export const approveSignal = defineSignal<[ApprovalSignal]>('approve');
export const denySignal = defineSignal<[ApprovalSignal]>('deny');

/** What such a signal carries. Anything may come instead. */
export interface ApprovalSignal {
  readonly operation: string;
  readonly digest: string;
  /** Who says that they decide. */
  readonly by?: string;
  readonly reason?: string;
  /** Default: the attempt that runs. */
  readonly attempt?: number;
}

/** Id of a call's Update: one workflow carries all attempts of a trial, and each of them counts its operations from 1. */
export function callId(attempt: number, operation: string): string {
  return `${attempt}.${operation}`;
}

/**
 * Task queue of one batch, so that only workers that were started for its content take its trials: a command that follows in the same home with a pack or
 * an agent that was edited meanwhile has a batch of its own.
 */
export function batchQueue(taskQueue: string, batch: string): string {
  return `${taskQueue}-${batch}`;
}

/** Task queue of a batch: its own, or that of the workers of a deployment for its content. */
export function queueOf(
  taskQueue: string,
  batch: { readonly id: string; readonly options: { readonly deployment?: { readonly name: string; readonly content: string } } },
): string {
  const { deployment } = batch.options;
  return deployment ? `${taskQueue}-${deployment.name}-${deployment.content}` : batchQueue(taskQueue, batch.id);
}

/**
 * Task queue of conversations with agents that have code of their own. Beside that of everything else: a conversation holds its slot while it waits for its own calls, so those
 * must not have to wait for a slot of the same kind.
 */
export function conversationQueue(taskQueue: string): string {
  return `${taskQueue}-agents`;
}

/** Task queue of calls of models: they wait for others for seconds and minutes, and nothing of a trial must wait behind them. */
export function modelQueue(taskQueue: string): string {
  return `${taskQueue}-models`;
}

/** Where the trial stands, for operators and the client. */
export const statusQuery = defineQuery<TrialStatus>('status');

export interface TrialStatus {
  readonly phase: TrialPhase;
  readonly attempt: number;
  readonly calls: number;
  /** Calls under way, as `op-3 issue_refund`. */
  readonly inFlight: readonly string[];
  /** Calls that wait for an approval, as `op-3 issue_refund`. */
  readonly waiting?: readonly string[];
}

/** What the agent of the attempt that runs, or ran last, was told of its calls. */
export const notesQuery = defineQuery<{ readonly attempt: number; readonly notes: readonly OperationNote[] }>('notes');

/** Search attributes of a trial; all keywords. Registered by `trialbed up` on a server that permits it. */
export const SEARCH_ATTRIBUTES = {
  batch: defineSearchAttributeKey('TrialbedBatch', 'KEYWORD'),
  case: defineSearchAttributeKey('TrialbedCase', 'KEYWORD'),
  agent: defineSearchAttributeKey('TrialbedAgent', 'KEYWORD'),
  ending: defineSearchAttributeKey('TrialbedEnding', 'KEYWORD'),
} as const;

/** Input of a trial's workflow. Small on purpose: what the trial is made of lies in the store. */
export interface TrialInput {
  readonly trial: string;
  readonly batch: string;
  readonly case: string;
  readonly agent: string;
  /** Number of the first attempt of this run: 1, or more when an earlier run was terminated. */
  readonly firstAttempt: number;
  /** Attempts that may follow one that ended `infra_error`. */
  readonly retries: number;
  /** Workflow that hears of the trial's end. Absent: nobody waits for it, as for trials of earlier versions. */
  readonly reportTo?: string;
  /**
   * Steps that always follow each other are one activity: a fifth of what a trial costs is the way from one step to the next. Absent in histories that were made
   * before, which go on step by step.
   */
  readonly together?: true;
  /** Beginning and getting a world are one of them. Absent in older histories. */
  readonly togetherFromStart?: true;
}
