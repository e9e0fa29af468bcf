import { allHandlersFinished, condition, continueAsNew, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { TrialSummary } from '../domain/trial.ts';
import { hearUpdate, notesQuery, operateUpdate, SEARCH_ATTRIBUTES, statusQuery, type TrialInput } from './messages.ts';
import { tells } from './standing.ts';
import { DRAIN_MS, TrialRun } from './trial-run.ts';

/**
 * One trial: provision, drive, fence, grade, keep or release. An attempt that ends `infra_error` is followed by another in a new world;
 * all attempts are kept, the last one counts.
 */
export async function trial(input: TrialInput): Promise<TrialSummary> {
  const run = new TrialRun(input);
  setHandler(statusQuery, () => run.status());
  tells('workflow', () => run.standing());
  setHandler(notesQuery, () => run.told());
  setHandler(operateUpdate, (call, attempt) => run.call(call, attempt));
  setHandler(hearUpdate, (attempt) => run.hear(attempt));
  run.decisions.listen();
  for (let attempt = input.firstAttempt; ; attempt++) {
    const summary = await run.attempt(attempt);
    const another = summary.ending === 'infra_error' && run.mayFollow(attempt);
    if (another && run.fitsAnother) continue;
    if (another) {
      await condition(allHandlersFinished, DRAIN_MS);
      const next = attempt + 1;
      await continueAsNew<typeof trial>({ ...input, firstAttempt: next, retries: input.retries - (next - input.firstAttempt) });
    }
    // Whoever waits for a call must hear of its end, and not that the workflow is gone.
    if (!allHandlersFinished()) await condition(allHandlersFinished, DRAIN_MS);
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.ending, value: summary.ending }]);
    return summary;
  }
}
