import { parseGate } from '../domain/gates/parse-gate.ts';
import type { BatchSummary } from '../domain/trial.ts';
import { collectReport, type ReportSource } from '../report/collect.ts';
import type { ReportComparison, ReportData } from '../report/data.ts';
import type { Series } from '../report/figures/series.ts';
import { judgeGates } from '../report/gates/judge-gates.ts';
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
  /** Gates, as `parseGate` reads them; each has to hold for each agent. Default: those that the batch was run with, else `pass>=1`. */
  readonly gates?: readonly string[];
  /** Gate: trials that ended as `cassette_miss` do not count against it. Default false. */
  readonly allowMisses?: boolean;
  /** How its agents compare with what is there, as `compareBatch` tells it; these sentences stand first. Default: it is compared with nothing. */
  readonly comparisons?: readonly ReportComparison[];
  /** How its suite's batches came to it, as `bed.series(batch)` tells it. Default: it is not told. */
  readonly series?: Series;
}

/** Writes the report of a batch, as `trialbed report` and `trialbed run` do. Of a batch that has not ended it says so, and its gate is not met. @throws {NotFoundError} @throws {GateSyntaxError} */
export async function writeBatchReport(bed: ReportSource, options: ReportOptions): Promise<BatchReport> {
  const { batch, allowMisses = false, comparisons, series } = options;
  const asked = options.gates?.map(parseGate);
  const today = new Date().toISOString();
  const collected = await collectReport(bed, batch, { today, ...(comparisons && { comparisons }), ...(series && { series }) });
  const counted = options.summary ?? collected.summary;
  const gates = asked ?? (collected.batch.options.gates ?? []).map(parseGate);
  // Without any of these the gate is what the counts say.
  const special = gates.length > 0 || allowMisses || collected.quarantined.length > 0;
  const summary = special ? { ...counted, ...judgeGates(collected.facts, { gates, today, allowMisses, judges: collected.judges }) } : counted;
  const data = { ...collected, summary };
  return { files: await writeReport(options.folder, data, options.formats), data };
}
