import type { BatchSummary } from '../domain/trial.ts';
import { collectReport, type ReportData } from '../report/data.ts';
import { judgeGate } from '../report/gate.ts';
import { type WrittenReport, writeReport } from '../report/report.ts';
import type { Trialbed } from './api.ts';

/** A report that was written, and what is in it. */
export interface BatchReport {
  readonly files: WrittenReport;
  readonly data: ReportData;
}

export interface ReportOptions {
  readonly batch: string;
  /** Folder for `report.md` and `report.json`; made where missing. */
  readonly folder: string;
  /** The summary to report, such as that of a batch that was followed. Default: counted from the store. */
  readonly summary?: BatchSummary;
  /** Gate: share of scored trials that must pass. Default: as the summary says, which is 1. */
  readonly minPass?: number;
  /** Gate: trials that ended as `cassette_miss` do not count against it. Default false. */
  readonly allowMisses?: boolean;
}

/** Writes the report of a batch, as `trialbed run` does. @throws {NotFoundError} */
export async function writeBatchReport(bed: Pick<Trialbed, 'results' | 'show'>, options: ReportOptions): Promise<BatchReport> {
  const collected = await collectReport(bed, options.batch);
  const counted = options.summary ?? collected.summary;
  const { minPass, allowMisses } = options;
  const judged = minPass !== undefined || allowMisses;
  const summary = judged
    ? { ...counted, gate: judgeGate(counted, { ...(minPass !== undefined && { minPass }), ...(allowMisses && { allowMisses }) }) }
    : counted;
  const data = { ...collected, summary };
  return { files: await writeReport(options.folder, data), data };
}
