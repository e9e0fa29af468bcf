import type { FailureCategory } from './failure-category.ts';
import type { TrialFaults } from './trial.ts';
import type { Diagnostics, Ending, Finding, Judgement } from './verdict.ts';

/** How bad it is when a case fails. Default `medium`. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** A case that runs and is shown, and gates nothing until a date. */
export interface Quarantine {
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it holds, as `2027-01-31`. */
  readonly until: string;
}

/** What a report, a comparison and a gate read of one trial: light enough to read ten thousand of them. */
export interface TrialFacts {
  readonly trial: string;
  readonly batch: string;
  /** Place in the manifest, from 1. */
  readonly ordinal: number;
  readonly case: string;
  readonly title?: string;
  readonly caseHash: string;
  readonly schedule: string;
  /** Null for `none`. */
  readonly scheduleHash: string | null;
  readonly repetition: number;
  readonly agent: string;
  readonly agentHash: string;
  readonly generation: string;
  /** Attempts so far; the last one counts. */
  readonly attempts: number;
  /** Of the attempt that counts; null: it has not ended. */
  readonly ending: Ending | null;
  readonly pass: Judgement | null;
  readonly outcome: Judgement | null;
  readonly constraints: Judgement | null;
  readonly effects: Judgement | null;
  readonly why: string | null;
  /** Those that are not a pass; at most {@link MAX_FINDINGS}, failures first. */
  readonly findings: readonly FactFinding[];
  /** Effects that the case neither expects nor allows, by {@link FORBIDDEN_CODES}. */
  readonly forbidden: number;
  /** Null: it did not fail. */
  readonly category: FailureCategory | null;
  /** Operations of unknown outcome of which the agent never learned how they had ended, and those of which nobody knows. */
  readonly unknowns: number;
  readonly calls: number;
  /** Of all attempts, failed ones included; null: not measured. */
  readonly tokens: { readonly input: number; readonly output: number } | null;
  /** Of all attempts, failed ones included, by currency; null: not measured. */
  readonly money: { readonly [currency: string]: number } | null;
  /** Of the attempt that counts; null: it has not ended. */
  readonly times: TrialTimes | null;
  /** Absent without a schedule. */
  readonly faults?: TrialFaults;
  readonly tags: readonly string[];
  readonly severity: Severity;
  readonly quarantine: Quarantine | null;
  readonly disturbed: boolean;
  /** Id of the kept snapshot. */
  readonly snapshot: string | null;
  /** By which the current verdict was made; null: nothing was graded. */
  readonly graded: { readonly grader: string; readonly caseHash: string } | null;
  /** Of the current verdict; null: nothing was graded. */
  readonly diagnostics: FactDiagnostics | null;
}

/** A finding without its evidence. */
export interface FactFinding extends Pick<Finding, 'code' | 'judgement' | 'rule' | 'message' | 'operations'> {
  /** The view that it is of. */
  readonly view: 'outcome' | 'constraints' | 'effects';
}

/** Milliseconds of one attempt. What was not measured is null, never 0. */
export interface TrialTimes {
  /** From its begin to its end. */
  readonly wallMs: number;
  /** The agent's own: what its models took, or its code while it had nothing to wait for from us. */
  readonly agentMs: number | null;
  /** Its calls, from dispatch to outcome. */
  readonly toolMs: number | null;
  /** The rest, which is ours: making and grading the world, queues, waiting for a rate limit. */
  readonly waitMs: number | null;
}

export type FactDiagnostics = Omit<Diagnostics, 'callsByTool' | 'callsByActor' | 'handOversByActor' | 'disturbed' | 'calls'>;

/** Findings of one trial that are read. */
export const MAX_FINDINGS = 10;

/** Operations that a finding names. */
export const MAX_FINDING_OPERATIONS = 10;

/** Codes of findings that say that something was done which nobody allowed. */
export const FORBIDDEN_CODES = ['forbidden_effect', 'duplicate_effect', 'reverted_effect', 'unexplained_change', 'unapproved_effect'] as const;
