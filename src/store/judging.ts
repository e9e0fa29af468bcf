import type { HumanLabel, Judgement, JudgeSeries } from '../domain/judging.ts';
import type { StoredRubric } from '../domain/rubric.ts';
import type { Database } from './database.ts';
import { addJudgement, judgementsOf, listJudgements, type RatedByBoth, ratedByBoth } from './judgements.ts';
import { type LabelTask, labelTasks, latestRubric, rubricNames, trialsToLabel } from './label-tasks.ts';
import { labelledBy, listLabels, putLabel } from './labels.ts';
import { putRubric, putSeries, rubricOf, seriesOf } from './rubrics.ts';

/** Rubrics, what models said by them, and what people did. */
export interface JudgingRows {
  /** Keeps a version of a suite's rubric, and what is asked of its judges now. @throws {StoreConflictError} where this version had another text. */
  putRubric(suite: string, rubric: StoredRubric): Promise<void>;
  /** By digest. */
  rubric(digest: string): Promise<StoredRubric | null>;
  /** The first of an id stands. */
  putSeries(series: JudgeSeries): Promise<void>;
  /** Those with a judgement of a trial of the batch, in the order in which they began. */
  seriesOf(batch: string): Promise<readonly JudgeSeries[]>;
  /** A category stands once it is there; a judgement that has none gives way to another one. */
  addJudgement(judgement: Judgement): Promise<void>;
  /** Of the attempts that count of a batch's trials, in the manifest's order; of one series, or of all. */
  judgements(batch: string, series?: string): Promise<readonly Judgement[]>;
  /** Of one attempt, by every series that has judged it. */
  judgementsOf(trial: string, attempt: number): Promise<readonly Judgement[]>;
  /** Every attempt, of whatever batch, that has a category of the series and labels by the same rubric: a line for each label. */
  ratedByBoth(series: string): Promise<readonly RatedByBoth[]>;
  /** Another label of the same person, for the same attempt and rubric, takes the place of the first. */
  putLabel(label: HumanLabel): Promise<void>;
  /** By one rubric's contents; of the attempts that count of a batch's trials, or of every attempt there is. */
  labels(digest: string, batch?: string): Promise<readonly HumanLabel[]>;
  /** Digests of the rubrics by which anybody labelled trials of a batch. */
  labelledBy(batch: string): Promise<readonly string[]>;
  /** Trials of a batch that can be labelled, each with the attempt that counts. */
  trialsToLabel(batch: string): Promise<readonly { readonly trial: string; readonly attempt: number }[]>;
  /** What a person can label of the newest batches, and how far they are. */
  labelTasks(rater: string, limit: number): Promise<readonly LabelTask[]>;
  /** Digest of the text of a suite's rubric that was seen last. */
  latestRubric(suite: string, name: string): Promise<string | null>;
  /** Names of the rubrics of a suite that were ever seen. */
  rubricNames(suite: string): Promise<readonly string[]>;
}

export function judgingRows(database: Database, now: () => Date): JudgingRows {
  return {
    putRubric: (suite, rubric) => putRubric(database, suite, rubric, now()),
    rubric: (digest) => rubricOf(database, digest),
    putSeries: (series) => putSeries(database, series, now()),
    seriesOf: (batch) => seriesOf(database, batch),
    addJudgement: (judgement) => addJudgement(database, judgement),
    judgements: (batch, series) => listJudgements(database, batch, series ?? null),
    judgementsOf: (trial, attempt) => judgementsOf(database, trial, attempt),
    ratedByBoth: (series) => ratedByBoth(database, series),
    putLabel: (label) => putLabel(database, label),
    labels: (digest, batch) => listLabels(database, digest, batch ?? null),
    labelledBy: (batch) => labelledBy(database, batch),
    trialsToLabel: (batch) => trialsToLabel(database, batch),
    labelTasks: (rater, limit) => labelTasks(database, rater, limit),
    latestRubric: (suite, name) => latestRubric(database, suite, name),
    rubricNames: (suite) => rubricNames(database, suite),
  };
}
