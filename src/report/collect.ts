import type { ContractCheck } from '../domain/contract-check.ts';
import type { Operation } from '../domain/operation.ts';
import { standingOf } from '../domain/standing.ts';
import type { TrialRecord } from '../domain/record.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import type { AskedApproval, AttemptRow, BatchDocuments, BatchRow, StoredVerdict, TrialRow } from '../store/store.ts';
import { callKey, composeReport } from './compose.ts';
import type { OperationDetail, ReportComparison, ReportData, ReportTrial } from './data.ts';
import type { Series } from './figures/series.ts';
import type { LabelAgreement } from '../judges/rater-agreement.ts';
import type { JudgedSeries } from './judges/judged.ts';

/** Where a report's data comes from beside the batch itself; the client is one. */
export interface ReportSource {
  documents(batch: string): Promise<BatchDocuments & { readonly approvals: readonly AskedApproval[] }>;
  /** What judges said of it. Absent: nobody is asked for that. */
  judging?(batch: string): Promise<readonly JudgedSeries[]>;
  /** When the tools of its environment were held against something else, the newest first. Absent: nobody is asked for that. */
  contracts?(batch: string): Promise<readonly ContractCheck[]>;
  /** By each text of a rubric by which trials of a batch were labelled or scored. Absent: nobody labelled. */
  readonly labels?: { agreementsOf(batch: string): Promise<readonly LabelAgreement[]> };
  show(trial: string): Promise<ReportView>;
}

/** A batch that was read once, and judged by its own gates. */
export interface ReportResults {
  readonly batch: BatchRow;
  readonly summary: BatchSummary;
  readonly facts: readonly TrialFacts[];
  /** When it was read, ISO 8601. */
  readonly today: string;
}

/** What a report needs of a trial's view. */
export interface ReportView {
  readonly trial: TrialRow;
  readonly kase: { readonly title: string };
  readonly attempts: readonly AttemptRow[];
  readonly record: Pick<TrialRecord, 'problem' | 'operations' | 'faults' | 'ownAccess' | 'tables'> | null;
  readonly verdicts: readonly StoredVerdict[];
}

export interface CollectOptions {
  /** How its agents compare with what is there; these sentences stand first. Default: with nothing. */
  readonly comparisons?: readonly ReportComparison[];
  /** How the suite's batches came to this one. Default: it is not told. */
  readonly series?: Series;
}

/**
 * Reads what a report of a batch needs beside its trials' light records: all there is of the few that are shown with their evidence. What it holds in memory is these and no more, so a batch of ten thousand trials takes
 * seconds.
 */
export async function collectReport(source: ReportSource, read: ReportResults, { comparisons = [], series }: CollectOptions = {}): Promise<ReportData> {
  const { batch, summary, facts, today } = read;
  const [documents, judged, contracts, agreements] = await Promise.all([
    source.documents(batch.id),
    source.judging?.(batch.id) ?? [],
    source.contracts?.(batch.id) ?? [],
    source.labels?.agreementsOf(batch.id) ?? [],
  ]);
  const shown = examplesOf(facts);
  const views = await readViews(source, shown);
  const recorded = views.flatMap(({ record }) => record ?? []);
  return composeReport({
    batch,
    summary,
    facts,
    documents,
    trials: views.flatMap((view) => reportTrial(view)),
    approvals: documents.approvals,
    judged,
    contracts,
    raters: agreements.filter(({ raters }) => raters.length > 0),
    calls: new Map(
      views.flatMap(({ trial, record }) =>
        (record?.operations ?? []).map(({ id, seq, actor }) => [callKey(trial.id, id), { seq, ...(actor !== undefined && { actor }) }] as const),
      ),
    ),
    tables: recorded[0]?.tables ?? null,
    runtime: recorded.find(({ faults }) => faults !== undefined)?.faults?.runtime ?? null,
    comparisons,
    ...(series && { series }),
    today,
  });
}

/** Trials that are shown with their evidence. */
const MOST_EXAMPLES = 60;
/** Of each case and agent, and of each category: what comes again and again is shown a few times. */
const MOST_ALIKE = 3;

/** Ids of the trials to show, in the order of the manifest: all where they are few; else of failures some of each kind, then what was not decided or not scored; and one that passed, for what every record says. */
function examplesOf(facts: readonly TrialFacts[]): readonly string[] {
  const ended = facts.filter(({ ending }) => ending !== null);
  if (ended.length <= MOST_EXAMPLES) return ended.map(({ trial }) => trial);
  const chosen = new Set<string>();
  const alike = new Map<string, number>();
  const take = (one: TrialFacts, key: string): void => {
    const times = alike.get(key) ?? 0;
    if (chosen.size >= MOST_EXAMPLES || times >= MOST_ALIKE) return;
    alike.set(key, times + 1);
    chosen.add(one.trial);
  };
  const failed = facts.filter((one) => standingOf(one) === 'fail');
  for (const [category, [first]] of Map.groupBy(failed, (one) => one.category)) if (first) take(first, `category ${category}`);
  const other = facts.filter((one) => ['undetermined', 'missing'].includes(standingOf(one)));
  for (const [ending, [first]] of Map.groupBy(other, (one) => one.ending)) if (first) take(first, `ending ${ending}`);
  for (const one of [...failed, ...other]) take(one, JSON.stringify([one.case, one.agent, one.schedule, one.category, one.ending]));
  const passed = facts.find((one) => one.pass === 'pass' && one.faults !== undefined) ?? facts.find((one) => one.pass === 'pass');
  if (passed) chosen.add(passed.trial);
  return facts.flatMap(({ trial }) => (chosen.has(trial) ? [trial] : []));
}

/** Views read at once. */
const READERS = 4;

async function readViews(source: Pick<ReportSource, 'show'>, trials: readonly string[]): Promise<readonly ReportView[]> {
  const views = new Array<ReportView>(trials.length);
  let next = 0;
  const reader = async (): Promise<void> => {
    for (let at = next++; at < trials.length; at = next++) {
      const trial = trials[at];
      if (trial !== undefined) views[at] = await source.show(trial);
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return views;
}

/** More operations with a detail than a person reads in one trial. */
const MAX_DETAILS = 10;

function detailsOf(operations: readonly Operation[]): OperationDetail[] {
  return operations
    .flatMap(({ id, seq, tool, actor, told, problem, detail }) =>
      detail === undefined ? [] : [{ operation: id, seq, tool, ...(actor !== undefined && { actor }), told, code: problem?.code ?? null, detail }],
    )
    .slice(0, MAX_DETAILS);
}

/** None where the trial has begun again since. */
function reportTrial(view: ReportView): readonly ReportTrial[] {
  const summary: TrialSummary | null = view.trial.summary;
  if (summary === null) return [];
  const counting = view.attempts.find((attempt) => attempt.counts);
  return [
    {
      summary,
      title: view.kase.title,
      row: view.trial,
      verdict: view.verdicts.find((verdict) => verdict.current) ?? null,
      problem: counting?.problem ?? view.record?.problem ?? null,
      details: detailsOf(view.record?.operations ?? []),
      attempts: view.attempts,
      ownAccess: view.record?.ownAccess?.services ?? [],
    },
  ];
}
