import { nanoid } from 'nanoid';
import type { ActivityServices } from '../activities/services.ts';
import type { GradedRun } from '../domain/recorded.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { GoldStates } from './gold-states.ts';
import { caseOf, gradeRun } from './grade-run.ts';
import { perform, type Stage } from './perform.ts';
import { RecordedRunsError, type RecordedRun, type RunFormat } from './run.ts';

export interface RegradeRunsRequest {
  readonly format: RunFormat;
  readonly runs: readonly RecordedRun[];
  readonly environment: LoadedEnvironment;
  /** Runs at once, each in a world of its own. */
  readonly concurrency: number;
  /** When raised, calls in flight end, worlds are given back, and its reason is thrown. */
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, of: number) => void;
}

/** Makes the calls of every run in a world of its own and grades what results. In the order of the runs. */
export async function regradeRuns(services: ActivityServices, request: RegradeRunsRequest): Promise<readonly GradedRun[]> {
  const { format, runs, environment, signal } = request;
  if (environment.environment.services !== undefined) {
    throw new RecordedRunsError([`environment ${environment.environment.name} has services (mail, tickets), with which recorded runs cannot be made again`]);
  }
  const stop = new AbortController();
  const stage: Stage = {
    services,
    environment,
    kase: caseOf({ task: format.name, query: '', domain: '' }, format.start),
    signal: AbortSignal.any([signal, stop.signal]),
  };
  const owner = `regrade-${nanoid(10)}`;
  const gold = new GoldStates(stage, owner);
  const writeTools = new Set(environment.environment.tools.filter((tool) => tool.effect !== 'read').map((tool) => tool.name));
  const graded = new Array<GradedRun>(runs.length);
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < runs.length; at = next++) {
      stage.signal.throwIfAborted();
      const run = runs[at] as RecordedRun;
      const referenceEffects = await gold.effectsOf(run.gold);
      const record = await perform(stage, `${owner}-${at}`, run.calls, { error: run.error, referenceEffects });
      graded[at] = gradeRun(format, run, record, writeTools);
      done += 1;
      request.onProgress?.(done, runs.length);
    }
  };
  // The first that fails stops the others, and all have given their worlds back before anybody hears of it.
  const ends = await Promise.allSettled(
    Array.from({ length: Math.min(request.concurrency, runs.length) }, () =>
      worker().catch((error: unknown) => {
        stop.abort(error);
        throw error;
      }),
    ),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return graded;
}
