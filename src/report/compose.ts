import type { ContractCheck } from '../domain/contract-check.ts';
import type { LabelAgreement } from '../judges/rater-agreement.ts';
import type { TableFacts } from '../domain/record.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
import { quarantinedOf } from '../domain/quarantine.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { BatchSummary } from '../domain/trial.ts';
import type { AskedApproval, BatchDocuments, BatchRow } from '../store/store.ts';
import type { OperationAsked, ReportComparison, ReportData, ReportTrial } from './data.ts';
import type { Series } from './figures/series.ts';
import { scheduleReports } from './fault-counts.ts';
import { coverageOf } from './figures/coverage.ts';
import { failuresOf } from './figures/failures.ts';
import { isolationOf } from './figures/isolation.ts';
import { mixedOf } from './figures/mixed.ts';
import { COMPARED_WITH_NOTHING, comparisonOpening, openingOf } from './figures/opening.ts';
import { proofsOf } from './figures/proofs.ts';
import { provenanceOf } from './figures/provenance.ts';
import { ratesOf } from './figures/rates.ts';
import { spendingOf } from './figures/spending.ts';
import { judgeFigures } from './judges/figures.ts';
import type { JudgedSeries } from './judges/judged.ts';

/** What was read of a batch. */
export interface ReportParts {
  readonly batch: BatchRow;
  readonly summary: BatchSummary;
  readonly facts: readonly TrialFacts[];
  readonly documents: BatchDocuments;
  readonly trials: readonly ReportTrial[];
  readonly approvals: readonly AskedApproval[];
  /** Absent: nobody judged. */
  readonly judged?: readonly JudgedSeries[];
  /** Checks of the contract of its environment, the newest first. Absent: there was none. */
  readonly contracts?: readonly ContractCheck[];
  /** Absent: nobody labelled. */
  readonly raters?: readonly LabelAgreement[];
  /** Calls of the trials with evidence, by {@link callKey}. */
  readonly calls: ReadonlyMap<string, Pick<OperationAsked, 'seq' | 'actor'>>;
  /** Of any trial's record; null: none has one. */
  readonly tables: { readonly [table: string]: TableFacts } | null;
  readonly runtime: ProductionRuntime | null;
  readonly comparisons?: readonly ReportComparison[];
  readonly series?: Series;
  /** The day of the report, ISO 8601: whether a quarantine is over. */
  readonly today: string;
}

/** Works out everything that a report says from what was read. A pure function. */
export function composeReport({
  batch,
  summary,
  facts,
  documents,
  trials,
  approvals,
  judged = [],
  contracts = [],
  raters = [],
  calls,
  tables,
  runtime,
  comparisons = [],
  series,
  today,
}: ReportParts): ReportData {
  const { agents: rates, schedules: conditional } = ratesOf(facts);
  const neverFired = neverFiredIn(facts);
  const provenance = provenanceOf(facts, documents);
  const services = batch.environment.facts?.services ?? null;
  return {
    batch,
    summary,
    today,
    opening: [
      ...comparisonOpening(comparisons),
      ...openingOf(batch, summary, rates, facts, neverFired),
      ...(comparisons.length === 0 ? [COMPARED_WITH_NOTHING] : []),
    ],
    comparisons,
    ...(series && { series }),
    facts,
    trials,
    rates,
    conditional,
    spending: spendingOf(facts),
    failures: failuresOf(facts),
    judges: judgeFigures(facts, judged),
    raters,
    mixed: mixedOf(facts, new Map(documents.agents.map(({ hash, spec }) => [hash, spec]))),
    quarantined: quarantinedOf(facts, today),
    coverage: documents.cases.map(({ hash, kase }) => coverageOf(kase, hash, { tables, services })).sort((a, b) => (a.case < b.case ? -1 : 1)),
    proofs: proofsOf({
      facts,
      environment: batch.environment,
      neverFired,
      contracts,
      ...(summary.cassettes && { cassettes: summary.cassettes }),
      ownAccess: provenance.agents.filter(({ access }) => access.length > 0).map(({ name, access }) => ({ agent: name, services: access })),
    }),
    provenance,
    isolation: isolationOf(facts, summary.worlds, new Set(provenance.agents.filter(({ access }) => access.length > 0).map(({ hash }) => hash))),
    approvals: approvals.map(({ trial, case: kase, agent, operation, approval }) => ({
      trial,
      case: kase,
      agent,
      operation,
      ...calls.get(callKey(trial, operation)),
      tool: approval.tool,
      rule: approval.rule,
      end: approval.end,
    })),
    schedules: scheduleReports(facts, documents.schedules),
    runtime,
  };
}

export function callKey(trial: string, operation: string): string {
  return `${trial} ${operation}`;
}

/** Schedules whose trials are recorded and in which no fault was ever injected. */
function neverFiredIn(facts: readonly TrialFacts[]): readonly string[] {
  const recorded = facts.filter(({ schedule, faults }) => schedule !== 'none' && faults !== undefined);
  return [...Map.groupBy(recorded, ({ schedule }) => schedule)].flatMap(([schedule, trials]) =>
    trials.every(({ faults }) => (faults?.injected ?? 0) === 0) ? [schedule] : [],
  );
}
