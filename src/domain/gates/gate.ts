import type { FailureCategory } from '../failure-category.ts';

/** Figures of a batch that a gate can name, beside the categories of failures. */
export const FIGURES = ['pass', 'forbidden', 'violations', 'false_claims', 'undetermined', 'unknowns', 'infra', 'cost', 'tokens', 'judge'] as const;

export type Figure = (typeof FIGURES)[number] | FailureCategory;

export const COMPARISONS = ['>=', '<=', '==', '>', '<'] as const;

export type Comparison = (typeof COMPARISONS)[number];

/** Which trials a figure is of: those of whose case all of this is true. */
export interface Chosen {
  /** A severity, or a tag. */
  readonly label: string;
  /** Where it begins in the gate's text, from 1. */
  readonly column: number;
}

/** What one gate asks of a batch. Made by `parseGate`. */
export interface Gate {
  /** As it was written, without spaces at its ends. */
  readonly text: string;
  readonly figure: Figure;
  /** `pass^k`: every one of k repetitions of a case passes; `pass@k`: at least one does. Null: neither. */
  readonly repeats: { readonly of: 'every' | 'any'; readonly k: number } | null;
  /** Of a figure that is counted: the share of scored trials that have it, instead of the count. */
  readonly share: boolean;
  /** What is compared: the figure itself, or an end of its interval. */
  readonly at: 'point' | 'lower' | 'upper';
  readonly chosen: readonly Chosen[];
  /** Of `judge`: by which rubric, and which of its series; null: the only one that the batch has. Absent: of other figures. */
  readonly judge?: { readonly rubric: string; readonly series: string | null };
  readonly comparison: Comparison;
  /** A share from 0 to 1; or a count, or an amount in the batch's currency. */
  readonly value: number;
}
