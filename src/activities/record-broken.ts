import type { Ending } from '../domain/verdict.ts';
import type { TrialSummary } from '../domain/trial.ts';
import type { LaunchableTrial, Store } from '../store/store.ts';

/** A trial whose result counts. One that the harness broke or somebody cancelled is run again when its batch is resumed. */
export function isDone(summary: TrialSummary | null): boolean {
  return summary !== null && summary.ending !== 'infra_error' && summary.ending !== 'cancelled';
}

/** A workflow that was terminated, timed out or failed recorded nothing itself; the trial must still be counted, and as the harness's trouble. */
export async function recordBroken(
  store: Store,
  row: LaunchableTrial,
  error: Error,
  { durationMs, now }: { readonly durationMs: number; readonly now: Date },
): Promise<void> {
  const current = await store.trial(row.id);
  if (current?.summary && isDone(current.summary)) return store.settle([row.id]);
  const cause = error.cause instanceof Error ? error.cause : error;
  const ending: Ending = cause.name === 'CancelledFailure' ? 'cancelled' : 'infra_error';
  const attempt = Math.max(1, (await store.attempts(row.id)).length);
  const why = `the trial's workflow ended without a result: ${cause.message}`;
  const summary = ungraded(row, { attempt, ending, why, durationMs });
  await store.beginAttempt(row.id, attempt, now.toISOString());
  await store.finishAttempt(row.id, attempt, summary, now.toISOString());
}

/** What an attempt came to that has no verdict and made no call that is known. */
export function ungraded(row: LaunchableTrial, end: Pick<TrialSummary, 'attempt' | 'ending' | 'why' | 'durationMs'>): TrialSummary {
  return {
    type: 'trial',
    trial: row.id,
    batch: row.batch,
    case: row.caseId,
    schedule: row.schedule,
    agent: row.agentName,
    repetition: row.repetition,
    ...end,
    pass: null,
    outcome: null,
    constraints: null,
    effects: null,
    calls: 0,
    disturbed: false,
    snapshot: null,
  };
}
