import type { BatchSummary } from '../domain/trial.ts';

/**
 * Judges a finished batch by its counts: every scored trial has to pass. Gates that ask for anything else are judged by the trials one by one, see `judgeGates`.
 * A trial that is `undetermined` counts as scored and not as passed. Any infrastructure error, or fault of a simulated user, makes the gate `infrastructure`, since a batch with
 * trials missing shows less than was asked for. A `cassette_miss` is neither passed nor failed, and leaves the gate not met; so do a cancelled trial, and a batch in which nothing was scored.
 */
export function judgeGate(summary: BatchSummary): BatchSummary['gate'] {
  const scored = summary.passed + summary.failed + summary.undetermined;
  if (summary.infraErrors > 0 || (summary.userErrors ?? 0) > 0) return 'infrastructure';
  if ((summary.cassetteMisses ?? 0) > 0 || summary.stopped || summary.cancelled > 0 || scored === 0) return 'not_met';
  return summary.passed === scored ? 'met' : 'not_met';
}
