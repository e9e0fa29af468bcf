import { judgeGates } from '../domain/gates/judge-gates.ts';
import { parseGate } from '../domain/gates/parse-gate.ts';
import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import { collectReport } from '../report/collect.ts';
import type { ReportComparison, ReportData } from '../report/data.ts';
import type { Series } from '../report/figures/series.ts';
import { type ReportFormat, type WrittenReport, writeReport } from '../report/report.ts';
import type { Trialbed } from './api.ts';

/** A report that was written, and what is in it. */
export interface BatchReport {
  readonly files: WrittenReport;
  readonly data: ReportData;
  /** Trials that have ended. */
  readonly trials: readonly TrialSummary[];
}

export interface ReportOptions {
  readonly batch: string;
  /** Folder for the files; made where missing. */
  readonly folder: string;
  /** Default: all. */
  readonly formats?: readonly ReportFormat[];
  /** The summary to report, such as that of a batch that was followed. Default: counted from the store. */
  readonly summary?: BatchSummary;
  /** Gates, as `parseGate` reads them; each has to hold for each agent. Default: those that the batch was run with, else `pass>=1`. */
  readonly gates?: readonly string[];
  /** Gate: trials that ended as `cassette_miss` do not count against it. Default: as the batch was run with. */
  readonly allowMisses?: boolean;
  /** How its agents compare with what is there, as `compareBatch` tells it; these sentences stand first. Default: it is compared with nothing. */
  readonly comparisons?: readonly ReportComparison[];
  /** How its suite's batches came to it, as `bed.series(batch)` tells it. Default: it is not told. */
  readonly series?: Series;
}

/** What a report is made from: the client. */
type ReportBed = Pick<Trialbed, 'results' | 'documents' | 'show'> & Partial<Pick<Trialbed, 'judging' | 'contracts' | 'labels'>>;

/** Writes the report of a batch, as `trialbed report` and `trialbed run` do. Of a batch that has not ended it says so, and its gate is not met. @throws {NotFoundError} @throws {GateSyntaxError} */
export async function writeBatchReport(bed: ReportBed, options: ReportOptions): Promise<BatchReport> {
  // Before anything is read: a gate that cannot be read is the fault of whoever asked.
  options.gates?.map(parseGate);
  const read = await bed.results(options.batch);
  const { comparisons, series } = options;
  const collected = await collectReport(bed, read, { ...(comparisons && { comparisons }), ...(series && { series }) });
  const data = { ...collected, summary: judgedAsAsked(options.summary ?? read.summary, collected, options) };
  return { files: await writeReport(options.folder, data, options.formats), data, trials: read.trials };
}

/** The batch is judged by its own gates already; here by others where they are asked for. */
function judgedAsAsked(counted: BatchSummary, { batch, facts, today, judges }: ReportData, asked: ReportOptions): BatchSummary {
  if (asked.gates === undefined && asked.allowMisses === undefined) return counted;
  const { gates = batch.options.gates, allowMisses = batch.options.allowMisses } = asked;
  return { ...counted, ...judgeGates(facts, { today, judges, ...(gates && { gates }), ...(allowMisses && { allowMisses }) }) };
}
