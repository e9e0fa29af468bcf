import { resolve } from 'node:path';
import { runFormat } from '../recorded/formats.ts';
import type { RecordedRun, RunFormat } from '../recorded/run.ts';
import type { RegradeRunsRequest } from './api.ts';

/** A file of recorded runs as it was read. */
export interface RecordedRuns {
  readonly format: RunFormat;
  /** Absolute path of the folder with the data of the originals. */
  readonly data: string;
  readonly runs: readonly RecordedRun[];
}

/** @throws {RecordedRunsError} for a file that is not there or is not what `from` says. */
export async function readRecordedRuns({ from, file, data, limit, model }: RegradeRunsRequest): Promise<RecordedRuns> {
  const format = runFormat(from);
  const folder = resolve(data);
  return { format, data: folder, runs: await format.read(resolve(file), { limit: limit ?? null, data: folder, model: model ?? null }) };
}
