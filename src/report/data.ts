import type { ServiceAccess } from '../domain/agent.ts';
import type { ApprovalEnd } from '../domain/approval.ts';
import type { FaultSchedule } from '../domain/fault.ts';
import type { Operation } from '../domain/operation.ts';
import type { TrialRecord } from '../domain/record.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import type { AttemptRow, BatchRow, StoredVerdict, TrialRow } from '../store/store.ts';
import { runtimeIn, type ScheduleReport, scheduleReports, type TrialWithFaults } from './fault-counts.ts';

/** Everything that a report is made of. */
export interface ReportData {
  readonly batch: BatchRow;
  readonly summary: BatchSummary;
  /** In the order of the manifest. */
  readonly trials: readonly ReportTrial[];
  /** Fault schedules other than `none`, with how often each rule fired. */
  readonly schedules: readonly ScheduleReport[];
  /** How tools behave in production, as the trials had it; null where nothing recorded it. */
  readonly runtime: ProductionRuntime | null;
}

/** One trial of a report. */
export interface ReportTrial {
  readonly summary: TrialSummary;
  readonly title: string;
  readonly row: TrialRow;
  /** The verdict that counts; null where nothing was graded. */
  readonly verdict: StoredVerdict | null;
  /** Why the attempt that counts ended other than by an answer. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Operations of which more is known than the agent was told, in order: why a tool failed. At most {@link MAX_DETAILS}. */
  readonly details: readonly OperationDetail[];
  /** Calls that needed an approval, in order; absent where none did. */
  readonly approvals?: readonly OperationAsked[];
  readonly attempts: readonly AttemptRow[];
  /** Services for which its agent had clients of its own: what they did is in no ledger. */
  readonly ownAccess: readonly ServiceAccess[];
}

/** A call that needed an approval, and what came of that. */
export interface OperationAsked {
  readonly operation: string;
  readonly seq: number;
  readonly tool: string;
  /** Who of a team called; absent where the agent is no team. */
  readonly actor?: string;
  readonly rule: string;
  /** Null: it still waited. */
  readonly end: ApprovalEnd | null;
}

/** Why an operation failed, for operators. */
export interface OperationDetail {
  readonly operation: string;
  readonly seq: number;
  readonly tool: string;
  /** As of a call that needed an approval. */
  readonly actor?: string;
  /** What the agent was told. */
  readonly told: string;
  readonly code: string | null;
  readonly detail: string;
}

/** Where a report's data comes from; the client is one. */
export interface ReportSource {
  results(batch: string): Promise<{ readonly batch: BatchRow; readonly trials: readonly TrialSummary[]; readonly summary: BatchSummary }>;
  show(trial: string): Promise<ReportView>;
}

/** What a report needs of a trial's view. */
interface ReportView {
  readonly trial: TrialRow;
  readonly kase: { readonly title: string };
  readonly schedule: FaultSchedule | null;
  readonly attempts: readonly AttemptRow[];
  readonly record: Pick<TrialRecord, 'problem' | 'operations' | 'faults' | 'ownAccess'> | null;
  readonly verdicts: readonly StoredVerdict[];
}

/** Reads what a report of a batch needs: its results, and the verdict and attempts of each trial. */
export async function collectReport(source: ReportSource, batchId: string): Promise<ReportData> {
  const { batch, trials, summary } = await source.results(batchId);
  const collected: ReportTrial[] = new Array<ReportTrial>(trials.length);
  const faults: TrialWithFaults[] = new Array<TrialWithFaults>(trials.length);
  let next = 0;
  const reader = async (): Promise<void> => {
    for (let index = next++; index < trials.length; index = next++) {
      const trial = trials[index];
      if (!trial) continue;
      const view = await source.show(trial.trial);
      collected[index] = reportTrial(view, trial);
      faults[index] = { schedule: view.schedule, faults: view.record?.faults ?? null };
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return { batch, summary, trials: collected, schedules: scheduleReports(faults), runtime: runtimeIn(faults) };
}

/** Views read at once. */
const READERS = 4;

/** More operations with a detail than a person reads in one trial. */
const MAX_DETAILS = 10;

function detailsOf(operations: readonly Operation[]): OperationDetail[] {
  return operations
    .flatMap(({ id, seq, tool, actor, told, problem, detail }) =>
      detail === undefined ? [] : [{ operation: id, seq, tool, ...(actor !== undefined && { actor }), told, code: problem?.code ?? null, detail }],
    )
    .slice(0, MAX_DETAILS);
}

function askedOf(operations: readonly Operation[]): Pick<ReportTrial, 'approvals'> {
  const approvals = operations.flatMap(({ id, seq, tool, actor, approval }) =>
    approval ? [{ operation: id, seq, tool, ...(actor !== undefined && { actor }), rule: approval.rule, end: approval.end }] : [],
  );
  return approvals.length > 0 ? { approvals } : {};
}

function reportTrial(view: ReportView, summary: TrialSummary): ReportTrial {
  const counting = view.attempts.find((attempt) => attempt.counts);
  return {
    summary,
    title: view.kase.title,
    row: view.trial,
    verdict: view.verdicts.find((verdict) => verdict.current) ?? null,
    problem: counting?.problem ?? view.record?.problem ?? null,
    details: detailsOf(view.record?.operations ?? []),
    ...askedOf(view.record?.operations ?? []),
    attempts: view.attempts,
    ownAccess: view.record?.ownAccess?.services ?? [],
  };
}
