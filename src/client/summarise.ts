import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import { judgeGate } from '../report/gate.ts';
import type { BatchRow, Store } from '../store/store.ts';

/** Counts a batch. A batch that is not finished has not met its gate. */
export async function summarise(store: Store, batch: BatchRow, seconds: number, worlds: { readonly leased: number }): Promise<BatchSummary> {
  const rows = await store.trials(batch.id);
  const summaries = await currentSummaries(store, batch.id);
  const count = (test: (summary: TrialSummary) => boolean) => summaries.filter(test).length;
  const infraErrors = count((summary) => summary.ending === 'infra_error');
  const passed = count((summary) => summary.pass === 'pass');
  const cancelled = count((summary) => summary.ending === 'cancelled');
  let made = 0;
  for (const row of rows) made += row.attempt;
  const summary: BatchSummary = {
    type: 'summary',
    batch: batch.id,
    suite: batch.suite,
    trials: rows.length,
    passed,
    failed: count((summary) => summary.pass === 'fail'),
    undetermined: count((summary) => summary.pass === 'undetermined'),
    infraErrors,
    cancelled,
    gate: 'not_met',
    seconds: Math.round(seconds * 10) / 10,
    worlds: { made, released: Math.max(0, made - worlds.leased), swept: 0, leaked: worlds.leased },
  };
  return { ...summary, gate: summaries.length < rows.length ? 'not_met' : judgeGate(summary) };
}

/** Summaries of a batch's trials with the verdict that is current: a regrade changes what counts, not what was recorded. */
export async function currentSummaries(store: Store, batch: string): Promise<readonly TrialSummary[]> {
  const rows = await store.trials(batch);
  return rows.flatMap((row) => (row.summary ? [row.summary] : []));
}
