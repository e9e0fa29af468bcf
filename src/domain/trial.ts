import type { ReplayedRoute, VerdictDifference } from './cassette.ts';
import type { GateResult, QuarantinedCase } from './gates/result.ts';
import type { ModelTotals, Money } from './model.ts';
import type { Ending, Judgement } from './verdict.ts';

export type TrialPhase = 'waiting' | 'provision' | 'drive' | 'fence' | 'grade' | 'release' | 'done';

/** The batch of a trial, which its id begins with. */
export function batchOf(trial: string): string {
  return trial.slice(0, Math.max(0, trial.lastIndexOf('-')));
}

/** Most trials that a batch may have in flight. */
export const MAX_CONCURRENCY = 10_000;

/** Of a batch, where workers are shared: 1 is served first, 5 last. */
export const DEFAULT_PRIORITY = 3;

/** What somebody has asked of a batch that runs: to launch nothing for now, or to end. */
export type BatchHold = 'paused' | 'cancelling';

/** Name by which an attempt owns its world. */
export function ownerOf({ trial, attempt }: { readonly trial: string; readonly attempt: number }): string {
  return `${trial}.${attempt}`;
}

/** Whose a world is, as its owner's name says; nothing where it is no trial's. */
export function trialOfOwner(owner: string | null): { readonly trial?: string; readonly batch?: string; readonly attempt?: number } {
  const [, trial, attempt] = /^(.+-[^-.]+)\.(\d+)(?:\.|$)/.exec(owner ?? '') ?? [];
  return trial === undefined ? {} : { trial, batch: batchOf(trial), attempt: Number(attempt) };
}

/** One line of `run --json`, and a row of the store. */
export interface TrialSummary {
  readonly type: 'trial';
  readonly trial: string;
  readonly batch: string;
  readonly case: string;
  readonly schedule: string;
  readonly agent: string;
  readonly repetition: number;
  /** Attempts so far; the last one counts. */
  readonly attempt: number;
  readonly ending: Ending;
  readonly pass: Judgement | null;
  readonly outcome: Judgement | null;
  readonly constraints: Judgement | null;
  readonly effects: Judgement | null;
  /** How the trial ended, where not by an answer, then the first finding that is not a pass, in a sentence. See `whyOf`. */
  readonly why: string | null;
  readonly calls: number;
  readonly durationMs: number;
  readonly disturbed: boolean;
  /** Id of the kept snapshot. */
  readonly snapshot: string | null;
  /** How often the trial's fault schedule fired, and how many of its rules never did; absent without a schedule. */
  readonly faults?: TrialFaults;
  /** Absent in summaries of before this was measured. */
  readonly times?: AttemptTimes;
  /** What models used in the attempt that counts, for the agent and for the simulated user; null: not measured. Absent: neither was. */
  readonly models?: TrialModels;
  /** Who of a team acted in the attempt that counts; absent where the agent is no team. */
  readonly team?: TrialTeam;
  /** How it went along its cassette. Absent: it had a world. */
  readonly cassette?: TrialCassette;
}

/** A trial that was played on a cassette. */
export interface TrialCassette {
  readonly variant: string;
  /** `recorded`: the recorded calls in their order; only then the verdict stands for one of a world. */
  readonly route: ReplayedRoute['route'];
  /** Interactions that no call was answered by. */
  readonly unused: number;
  /** What is judged otherwise than when the route was recorded; absent where the case expects something else today. */
  readonly differs?: readonly VerdictDifference[];
}

/** What the members of a team did in one trial. */
export interface TrialTeam {
  /** Calls by member, refused ones included. */
  readonly calls: { readonly [member: string]: number };
  /** Hand-overs by the member that gave the conversation away. */
  readonly handOvers: { readonly [member: string]: number };
  /** Hand-overs from and to whom there had been one before. */
  readonly repeated: number;
}

/** What a team did in a batch, in the attempts that count. */
export interface TeamUse {
  readonly agent: string;
  /** Trials of which the members' calls are known. */
  readonly trials: number;
  readonly handOvers: number;
  /** Hand-overs from and to whom there had been one before in the same trial, and trials in which there was such a one. */
  readonly repeated: number;
  readonly repeatedIn: number;
  /** In the order in which they were first seen. */
  readonly members: readonly MemberUse[];
}

export interface MemberUse {
  readonly member: string;
  /** Calls, refused ones included. */
  readonly calls: number;
  /** Times that it gave the conversation to another. */
  readonly handOvers: number;
  /** What its models used, all attempts included; null: not measured. */
  readonly models: ModelTotals | null;
}

export interface TrialModels {
  readonly agent: ModelTotals | null;
  readonly user: ModelTotals | null;
}

/** What models used for one agent of a batch, all attempts included. */
export interface AgentModelUse {
  readonly agent: string;
  readonly who: 'agent' | 'user';
  /** Null: not measured. */
  readonly totals: ModelTotals | null;
}

/** A batch that launches no more since its money is spent. */
export interface StoppedBatch {
  readonly limit: Money;
  readonly spent: Money;
  /** Trials that were not started. */
  readonly left: number;
}

export interface TrialFaults {
  /** Faults that were injected. */
  readonly injected: number;
  /** Rules of the schedule that never fired. */
  readonly unfired: number;
  /** How often each rule fired, in the schedule's order. Absent in summaries of before this was counted. */
  readonly fired?: readonly number[];
}

/** What of an attempt's time was spent where, milliseconds. */
export interface AttemptTimes {
  /** The agent's own: its models, or its code while it had nothing to wait for from us. Null: not measured. */
  readonly agentMs: number | null;
  /** Its calls, from dispatch to outcome. Null: there is no record of them. */
  readonly toolMs: number | null;
}

/** Last line of `run --json`. */
export interface BatchSummary {
  readonly type: 'summary';
  readonly batch: string;
  readonly suite: string;
  readonly trials: number;
  readonly passed: number;
  readonly failed: number;
  readonly undetermined: number;
  readonly infraErrors: number;
  readonly cancelled: number;
  /** Trials whose simulated user failed: neither passed nor failed, and not among the undetermined ones. Absent: none. */
  readonly userErrors?: number;
  /** Trials that ended as `cassette_miss`: neither passed nor failed, and not among the undetermined ones. Absent: none. */
  readonly cassetteMisses?: number;
  /** How trials went along their cassettes. Absent: none had one. */
  readonly cassettes?: BatchCassettes;
  /** Whether the gate was met: every scored trial passed unless `--gate` says otherwise, and no trial is missing by an infrastructure error or a fault of the simulated user. */
  readonly gate: 'met' | 'not_met' | 'infrastructure';
  /** How each gate went for each agent; absent in summaries of before batches were judged by their trials one by one. */
  readonly gates?: readonly GateResult[];
  /** Cases that gate nothing today, or whose quarantine is over; their trials are among the counts. Absent: none. */
  readonly quarantined?: readonly QuarantinedCase[];
  readonly seconds: number;
  /** `leaked`: leased still. `unlike`: other than their journal says at the end of a lease, and dropped; absent: of before this was counted. */
  readonly worlds: { readonly made: number; readonly released: number; readonly swept: number; readonly leaked: number; readonly unlike?: number };
  /** What became of the trials of each fault schedule, `none` included; absent where the batch had no other. */
  readonly schedules?: readonly ScheduleSummary[];
  /** What models used, by agent, all attempts included; absent where no call was measured. */
  readonly models?: readonly AgentModelUse[];
  /** What each team did; absent where no agent was one. */
  readonly teams?: readonly TeamUse[];
  /** It stopped launching, and can be resumed. Absent: it did not. */
  readonly stopped?: StoppedBatch;
}

/** Trials of a batch that were played on cassettes. */
export interface BatchCassettes {
  readonly trials: number;
  /** Those that made the recorded calls in their order; of the others nothing is claimed. */
  readonly recordedRoutes: number;
  /** Trials that are judged otherwise than their recorded route was, as `case agent: view pass -> fail`; at most 200. */
  readonly differences: readonly string[];
  /** Interactions that no call of a trial was answered by, all trials together. */
  readonly unused: number;
}

export interface ScheduleSummary {
  readonly schedule: string;
  readonly trials: number;
  readonly passed: number;
  readonly failed: number;
  /** Faults injected in all its trials. */
  readonly injected: number;
  /** It never fired in any trial, so its results say nothing about faults. Always false for `none`. */
  readonly neverFired: boolean;
}
