/** What raters, models and people alike, can be shown of a trial. */
export const SHOWN_PARTS = ['conversation', 'answer', 'operations', 'effects', 'mail'] as const;

export type ShownPart = (typeof SHOWN_PARTS)[number];

/** How a question that code cannot decide is put to raters. Everything in it counts for its digest. */
export interface Rubric {
  /** Name of its file, without `.yaml`. */
  readonly name: string;
  /** As its author counts; a changed rubric needs another one. */
  readonly version: string;
  readonly question: string;
  /** In the author's order, each with what it means. At least two. */
  readonly scale: readonly { readonly category: string; readonly means: string }[];
  /** Categories of a trial that passes. At least one, and not all. */
  readonly passes: readonly string[];
  /** What raters see of a trial, in the order of {@link SHOWN_PARTS}. */
  readonly shows: readonly ShownPart[];
}

/** What is asked of a judge before it may decide anything. It scores nothing, so it is no part of a rubric's digest. */
export interface Calibration {
  /** Least number of trials with a score of the judge and a label by people. */
  readonly labels: number;
  /** Least kappa between judge and people. */
  readonly kappa: number;
  /** What of kappa is held against it: the lower bound of its 95% interval, or kappa itself. */
  readonly at: 'lower' | 'point';
}

/** A rubric as the store has it. */
export interface StoredRubric {
  readonly rubric: Rubric;
  /** sha256 of the canonical JSON of `rubric`. */
  readonly digest: string;
  readonly calibration: Calibration;
}
