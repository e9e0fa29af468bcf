import type { JsonObject } from './json.ts';
import type { ModelRoute, ModelUsage, Money } from './model.ts';

/** How a judge's model is asked: all that can change what it says. */
export type JudgeModel = Pick<ModelRoute, 'api' | 'url' | 'model' | 'seed'> & { readonly parameters: JsonObject };

/** Judgements that may be read together: of one rubric's contents, by one model, asked in one way. Anything else is another series. */
export interface JudgeSeries {
  /** 16 hexadecimal digits of the sha256 of all that makes it this series. */
  readonly id: string;
  readonly rubric: string;
  readonly version: string;
  /** Of the rubric. */
  readonly digest: string;
  /** Name of the route, when the series began. */
  readonly route: string;
  readonly judge: JudgeModel;
  /** Version of the words in which the judge is asked. */
  readonly prompt: string;
}

/** What a judge said of one attempt of a trial. */
export interface Judgement {
  readonly series: string;
  readonly trial: string;
  readonly attempt: number;
  /** Null: it gave none that the rubric has; `problem` says why. */
  readonly category: string | null;
  /** In the judge's words; null: none were given, or they were removed. */
  readonly reason: string | null;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** The judge was not shown all of the trial, since it was too long. */
  readonly shortened: boolean;
  /** Null: not reported. */
  readonly usage: ModelUsage | null;
  /** Null: not measured. */
  readonly price: Money | null;
  /** Version of the model that the provider reported; null: none. */
  readonly reported: string | null;
  readonly latencyMs: number | null;
  readonly tries: number;
  /** ISO 8601. */
  readonly at: string;
}

/** What a person said of one attempt of a trial, by the same rubric. */
export interface HumanLabel {
  readonly trial: string;
  readonly attempt: number;
  readonly rubric: string;
  readonly version: string;
  /** Of the rubric. */
  readonly digest: string;
  /** A name, as {@link isRaterName} takes it. */
  readonly rater: string;
  readonly category: string;
  /** Null: none was given, or it was removed. */
  readonly note: string | null;
  /** ISO 8601. */
  readonly at: string;
}

/** Whether a text can name a rater: 1 to 100 letters, digits, spaces, `_`, `.` and `-`. No mail address: names of raters stay when a person is removed. */
export function isRaterName(name: string): boolean {
  return /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]{0,98}[\p{L}\p{N}._-])?$/u.test(name);
}
