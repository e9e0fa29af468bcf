import { RecordedRunsError, type RunFormat } from './run.ts';
import { tauBenchMutations } from './tau-bench-mutations.ts';
import { tauBenchRuns } from './tau-bench-runs.ts';
import { workbenchMutations } from './workbench-mutations.ts';
import { workbenchRuns } from './workbench-runs.ts';

const FORMATS: readonly RunFormat[] = [workbenchRuns, workbenchMutations, tauBenchRuns, tauBenchMutations];

/** Names that {@link runFormat} knows. */
export const RUN_FORMATS: readonly string[] = FORMATS.map((format) => format.name);

/** The format of this name. @throws {RecordedRunsError} that names those that there are. */
export function runFormat(name: string): RunFormat {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (!format) throw new RecordedRunsError([`there is no format "${name}" of recorded runs; there are ${RUN_FORMATS.join(', ')}`]);
  return format;
}
