import type { Interval } from '../../domain/statistics/interval.ts';
import type { Severity } from '../../domain/trial-facts.ts';
import type { Ending, Judgement } from '../../domain/verdict.ts';
import type { TimelineRow } from './timeline.ts';

/** Two agents on the same trials. `a` is the one that is there, `b` the candidate: every answer and every gain is about `b`. */
export interface Comparison {
  readonly a: ComparedSide;
  readonly b: ComparedSide;
  /** Whether `b` breaks fewer rules: trials with a forbidden effect or a violated constraint. */
  readonly safer: Answer;
  /** Whether `b` does more of what was asked: trials whose outcome, claims included, passes. */
  readonly useful: Answer;
  /** Trials with a forbidden effect. With none, `high` is how many there may be all the same. */
  readonly forbidden: { readonly a: Share; readonly b: Share };
  /** In the order in which they occur, `none` included. */
  readonly schedules: readonly ScheduleComparison[];
  /** Trials that are in no figure, by reason. */
  readonly unmatched: readonly Unmatched[];
  /** The environments differ, and it was asked for all the same: what is found may be due to that. */
  readonly generationsDiffer: boolean;
  /** Batches have other seeds: schedules with chance drew other faults. */
  readonly seedsDiffer: boolean;
  /** Repetitions of an agent against each other; null with one repetition. */
  readonly noise: { readonly a: Noise | null; readonly b: Noise | null };
  /** What a comparison of this size can show. */
  readonly sensitivity: { readonly safer: Sensitivity; readonly useful: Sensitivity };
  readonly amounts: readonly AmountComparison[];
  /** Trials that came out otherwise, those in which `b` is worse first; at most {@link MAX_CHANGED}. */
  readonly changed: readonly ChangedTrial[];
  /** How many there are. */
  readonly changes: number;
  /** Confidence of all intervals but those of single schedules. */
  readonly level: number;
}

export const MAX_CHANGED = 500;

export interface ComparedSide {
  readonly batch: string;
  readonly agent: string;
  /** By content; several where the batch's trials differ in it. */
  readonly agentHashes: readonly string[];
  readonly generations: readonly string[];
  /** Trials of this agent in the batch, and those of them that were compared. */
  readonly trials: number;
  readonly matched: number;
}

/** A share of trials with its interval, clustered by case. */
export interface Share {
  readonly count: number;
  readonly of: number;
  readonly interval: Interval;
}

export type Shown = 'yes' | 'no' | 'not_shown';

/** One question about `b`. A gain is from -1 to 1, above zero where `b` is better. */
export interface Answer {
  readonly answer: Shown;
  /** Of the trials in which it is known of both: bad ones for `safer`, good ones for `useful`. */
  readonly a: Share;
  readonly b: Share;
  /** Null: no trial is known of both. */
  readonly gain: number | null;
  readonly interval: Interval;
  /** The same with every trial that nobody knows counted against `b`, and for it: the lower end of the one interval, the upper end of the other. Equal to `interval` where all are known. */
  readonly whateverIsMissing: Interval;
  /** Matched trials in which it is not known of one of them. */
  readonly unknown: number;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  readonly cases: number;
  readonly standardError: number | null;
  /** Exact two-sided test that the two are equal, over the trials that are known of both. A difference is shown where it agrees with the interval. Null: there are none. */
  readonly p: number | null;
}

export interface ScheduleComparison {
  readonly schedule: string;
  readonly trials: number;
  /** Trials in which `b` came out better, and worse, by either question. */
  readonly better: number;
  readonly worse: number;
  /** By itself, with the level raised for so many schedules (Bonferroni). */
  readonly safer: Answer;
  readonly useful: Answer;
  /** It is no schedule `none`, and never fired in these trials of either agent. */
  readonly neverFired: boolean;
}

export const UNMATCHED_REASONS = ['only_a', 'only_b', 'case_changed', 'schedule_changed', 'generation', 'quarantined', 'not_ended'] as const;

export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number];

export interface Unmatched {
  readonly reason: UnmatchedReason;
  readonly trials: number;
  /** `case, schedule, repetition`, a few. */
  readonly examples: readonly string[];
}

/** Odd repetitions against even ones. */
export interface Noise {
  readonly pairs: number;
  /** Pairs of which the verdicts differ. */
  readonly differ: number;
  readonly difference: number;
  readonly interval: Interval;
}

export interface Sensitivity {
  /** Smallest true difference that is shown four times in five; null with fewer than two cases. */
  readonly detectable: number | null;
  /** What it takes to show a difference of this size four times in five. */
  readonly needs: readonly Need[];
}

export interface Need {
  readonly difference: number;
  /** In all, with as many trials of each as now; null: more than a million, or not known. */
  readonly cases: number | null;
  /** How many times the trials of each case as now, with these cases; null: no number of them is enough. */
  readonly times: number | null;
}

/** An amount, such as seconds or tokens: means, and the mean difference `b - a` over trials in which both are known. */
export interface AmountComparison {
  readonly name: string;
  readonly unit: string;
  readonly trials: number;
  readonly a: number;
  readonly b: number;
  readonly difference: number;
  /** Null with a single case. */
  readonly interval: Interval | null;
}

export interface ChangedTrial {
  readonly case: string;
  readonly title: string | null;
  readonly schedule: string;
  readonly repetition: number;
  readonly severity: Severity;
  /** For `b`: `mixed` where it is better by one question and worse by the other. */
  readonly change: 'better' | 'worse' | 'mixed';
  readonly a: ChangedSide;
  readonly b: ChangedSide;
  /** Both timelines side by side; null where they were not read. */
  readonly timeline: readonly TimelineRow[] | null;
}

export interface ChangedSide {
  readonly trial: string;
  readonly ending: Ending | null;
  readonly pass: Judgement | null;
  readonly useful: boolean | null;
  readonly harm: boolean | null;
  readonly why: string | null;
}
