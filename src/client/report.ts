import type { BatchSummary } from '../domain/trial.ts';
import { collectReport, type ReportSource } from '../report/collect.ts';
import type { ReportComparison, ReportData } from '../report/data.ts';
import { judgeGate } from '../report/gate.ts';
import { type ReportFormat, type WrittenReport, writeReport } from '../report/report.ts';

/** A report that was written, and what is in it. */
export interface BatchReport {
  readonly files: WrittenReport;
  readonly data: ReportData;
}

export interface ReportOptions {
  readonly batch: string;
  /** Folder for the files; made where missing. */
  readonly folder: string;
  /** Default: all. */
  readonly formats?: readonly ReportFormat[];
  /** The summary to report, such as that of a batch that was followed. Default: counted from the store. */
  readonly summary?: BatchSummary;
  /** Gate: share of scored trials that must pass. Default: as the summary says, which is 1. */
  readonly minPass?: number;
  /** Gate: trials that ended as `cassette_miss` do not count against it. Default false. */
  readonly allowMisses?: boolean;
  /** What the batch is compared with; its sentences stand first. Default: nothing. */
  readonly comparison?: ReportComparison;
}

/** Writes the report of a batch, as `trialbed report` and `trialbed run` do. Of a batch that has not ended it says so, and its gate is not met. @throws {NotFoundError} */
export async function writeBatchReport(bed: ReportSource, options: ReportOptions): Promise<BatchReport> {
  const { batch, minPass, allowMisses, comparison } = options;
  const collected = await collectReport(bed, batch, comparison ? { comparison } : {});
  const counted = options.summary ?? collected.summary;
  const judged = (minPass !== undefined || allowMisses === true) && collected.facts.every(({ ending }) => ending !== null);
  const summary = judged
    ? { ...counted, gate: judgeGate(counted, { ...(minPass !== undefined && { minPass }), ...(allowMisses && { allowMisses }) }) }
    : counted;
  const data = { ...collected, summary };
  return { files: await writeReport(options.folder, data, options.formats), data };
}
