import type { ServiceAccess } from '../domain/agent.ts';
import type { QuarantinedCase } from '../domain/gates/result.ts';
import type { ApprovalEnd } from '../domain/approval.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import type { AttemptRow, BatchRow, StoredVerdict, TrialRow } from '../store/store.ts';
import type { LabelAgreement } from '../judges/rater-agreement.ts';
import type { Comparison } from './comparison/comparison.ts';
import type { ScheduleReport } from './fault-counts.ts';
import type { CaseCoverage } from './figures/coverage.ts';
import type { Failures } from './figures/failures.ts';
import type { Isolation } from './figures/isolation.ts';
import type { MixedCase } from './figures/mixed.ts';
import type { Proofs } from './figures/proofs.ts';
import type { Provenance } from './figures/provenance.ts';
import type { AgentRates } from './figures/rates.ts';
import type { Series } from './figures/series.ts';
import type { AgentSpending } from './figures/spending.ts';
import type { JudgeFigures } from './judges/figures.ts';

/** Everything that a report is made of; all writers read this and nothing else. */
export interface ReportData {
  readonly batch: BatchRow;
  readonly summary: BatchSummary;
  /** When it was made, ISO 8601: the day by which quarantines hold. */
  readonly today: string;
  /** What the batch shows, or how it compares, in a few sentences, each with its figure. Not yet made safe for any page. */
  readonly opening: readonly string[];
  /** How its agents compare with what is there. Empty: it is compared with nothing. */
  readonly comparisons: readonly ReportComparison[];
  /** How the suite's batches came to this one; absent where nobody asked. */
  readonly series?: Series;
  /** Every trial, in the order of the manifest. */
  readonly facts: readonly TrialFacts[];
  /** Trials that are shown with their evidence: some of each way to end, in the order of the manifest. */
  readonly trials: readonly ReportTrial[];
  /** By agent; over all schedules. */
  readonly rates: readonly AgentRates[];
  /** By schedule and agent: conditional results. Empty where there is one schedule. */
  readonly conditional: readonly AgentRates[];
  readonly spending: readonly AgentSpending[];
  readonly failures: Failures;
  /** What judges said, each series by itself. Empty: nobody judged. */
  readonly judges: readonly JudgeFigures[];
  /** How judges and people agree, by each text of a rubric. Empty: nobody labelled. */
  readonly raters: readonly LabelAgreement[];
  /** Cases with mixed results, and what explains them. */
  readonly mixed: readonly MixedCase[];
  /** Cases that run and gate nothing, and those whose quarantine is over. */
  readonly quarantined: readonly QuarantinedCase[];
  /** What the grading of each case looks at. */
  readonly coverage: readonly CaseCoverage[];
  readonly proofs: Proofs;
  readonly isolation: Isolation;
  readonly provenance: Provenance;
  readonly approvals: readonly OperationAsked[];
  /** Fault schedules other than `none`, with how often each rule fired. */
  readonly schedules: readonly ScheduleReport[];
  /** How tools behave in production, as the trials had it; null where nothing recorded it. */
  readonly runtime: ProductionRuntime | null;
}

/** How an agent of the batch compares with what is there. */
export interface ReportComparison {
  readonly agent: string;
  /** What is there: a batch, and an agent of it. */
  readonly against: string;
  /** A few sentences, each with its figure; or why the two cannot be compared. */
  readonly lines: readonly string[];
  /** Null: they cannot be compared. */
  readonly comparison: Comparison | null;
}

/** One trial of a report with its evidence. */
export interface ReportTrial {
  readonly summary: TrialSummary;
  readonly title: string;
  readonly row: TrialRow;
  /** The verdict that counts; null where nothing was graded. */
  readonly verdict: StoredVerdict | null;
  /** Why the attempt that counts ended other than by an answer. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Operations of which more is known than the agent was told, in order: why a tool failed. A few. */
  readonly details: readonly OperationDetail[];
  readonly attempts: readonly AttemptRow[];
  /** Services for which its agent had clients of its own: what they did is in no ledger. */
  readonly ownAccess: readonly ServiceAccess[];
}

/** A call that needed an approval, and what came of that. */
export interface OperationAsked {
  readonly trial: string;
  readonly case: string;
  readonly agent: string;
  readonly operation: string;
  /** As the ledger has it; absent where the trial is not among those with evidence. */
  readonly seq?: number;
  /** Who of a team called; absent as above, and where the agent is no team. */
  readonly actor?: string;
  readonly tool: string;
  readonly rule: string;
  /** Null: it still waited. */
  readonly end: ApprovalEnd | null;
}

/** Why an operation failed, for operators. */
export interface OperationDetail {
  readonly operation: string;
  readonly seq: number;
  readonly tool: string;
  /** Who of a team called; absent where the agent is no team. */
  readonly actor?: string;
  /** What the agent was told. */
  readonly told: string;
  readonly code: string | null;
  readonly detail: string;
}
