import { resolve } from 'node:path';
import type { JudgeSeries, Judgement } from '../../domain/judging.ts';
import type { ModelRoute, Money } from '../../domain/model.ts';
import { seriesFor } from '../../judges/series.ts';
import type { BatchRow, Store, TrialRow } from '../../store/store.ts';
import { isScored } from '../../domain/standing.ts';
import { isFile } from '../../suite/places.ts';
import { readRoute } from '../../suite/route-file.ts';
import { type LoadedRubric, readRubric } from '../../suite/rubric-file.ts';
import { NotFoundError } from '../api.ts';
import { JudgeRefusedError } from './errors.ts';

/** Which trials to have judged, by what, and by whom. */
export interface JudgeRequest {
  readonly batch: string;
  /** Name of a rubric of the batch's suite. */
  readonly rubric: string;
  /** Path of a route's file, from the working folder. Default: the rubric's own. */
  readonly model?: string;
  /** Judgements under way at once. Default 4; never more than the route permits. */
  readonly concurrency?: number;
  /** Nothing more is asked once the judgements of this batch in this series have cost so much. Default: no limit. */
  readonly maxCost?: Money;
  /** Trials whose judgement is an error are asked about again. Default: they stay as they are. */
  readonly retryFailed?: boolean;
  /** When raised, nothing more is asked; what is under way ends and is kept, and the promise is rejected with its reason. */
  readonly signal?: AbortSignal;
  /** Hears how many of those that this request asks about are judged. */
  readonly onProgress?: (done: number, of: number) => void;
}

/** What a request comes to. */
export interface PlannedJudging {
  readonly batch: BatchRow;
  readonly rubric: LoadedRubric;
  readonly route: ModelRoute;
  readonly series: JudgeSeries;
  /** Trials of the batch with a verdict, in the manifest's order. */
  readonly trials: readonly TrialRow[];
  /** Those among them that are to be asked about. */
  readonly open: readonly TrialRow[];
  /** What was judged before. */
  readonly before: readonly Judgement[];
}

/** @throws {NotFoundError} @throws {SuiteFileError} @throws {JudgeRefusedError} @throws {StoreConflictError} where the rubric has changed under its version */
export async function planJudging(store: Store, request: JudgeRequest): Promise<PlannedJudging> {
  const batch = await store.batch(request.batch);
  if (!batch) throw new NotFoundError(`there is no batch ${request.batch}; \`trialbed ps\` lists them`);
  const rubric = await readRubric(batch.suiteFile, request.rubric);
  const route = request.model === undefined ? rubric.route : await routeAt(request.model);
  if (route === null) throw new JudgeRefusedError(`rubric ${request.rubric} names no model; give it "model", or name the file of a route with --model`);
  const { maxCost } = request;
  if (maxCost && route.prices?.currency !== maxCost.currency)
    throw new JudgeRefusedError(
      `route ${route.name} has no prices in ${maxCost.currency}, so that a limit of money cannot be kept; give it "prices", or leave the limit out`,
    );
  await store.judging.putRubric(batch.suite, rubric);
  const series = seriesFor(rubric, route);
  const before = await store.judging.judgements(batch.id, series.id);
  const judged = new Map(before.map((one) => [one.trial, one]));
  const trials = (await store.trials(batch.id)).filter(({ summary }) => summary !== null && summary.pass !== null && isScored(summary));
  const open = trials.filter(({ id }) => {
    const one = judged.get(id);
    return one === undefined || (one.category === null && request.retryFailed === true);
  });
  return { batch, rubric, route, series, trials, open, before };
}

async function routeAt(path: string): Promise<ModelRoute> {
  const file = resolve(path);
  if (!(await isFile(file))) throw new JudgeRefusedError(`there is no file ${path}; expected the path of a route's file, such as routes/judge.yaml`);
  return readRoute(file);
}
