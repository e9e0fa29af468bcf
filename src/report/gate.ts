import type { BatchSummary } from '../domain/trial.ts';

/**
 * Judges a finished batch. By default every scored trial has to pass; with `minPass`, at least this share (0 to 1) of the scored ones.
 * A trial that is `undetermined` counts as scored and not as passed. Any infrastructure error, or fault of a simulated user, makes the gate `infrastructure`, since a batch with
 * trials missing shows less than was asked for. A `cassette_miss` is neither passed nor failed, and leaves the gate not met unless `allowMisses`. A cancelled trial, or a batch in which nothing was scored, leaves the gate not met.
 */
export function judgeGate(summary: BatchSummary, options: { readonly minPass?: number; readonly allowMisses?: boolean } = {}): BatchSummary['gate'] {
  const scored = summary.passed + summary.failed + summary.undetermined;
  if (summary.infraErrors > 0 || (summary.userErrors ?? 0) > 0) return 'infrastructure';
  if ((summary.cassetteMisses ?? 0) > 0 && !options.allowMisses) return 'not_met';
  if (summary.stopped || summary.cancelled > 0 || scored === 0) return 'not_met';
  return summary.passed / scored >= (options.minPass ?? 1) ? 'met' : 'not_met';
}
