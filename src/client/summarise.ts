import { NO_FAULTS } from '../domain/fault.ts';
import type { BatchSummary, ScheduleSummary, TrialSummary } from '../domain/trial.ts';
import { judgeGate } from '../report/gate.ts';
import { modelUseOf } from './model-use.ts';
import { teamUseOf } from './team-use.ts';
import type { BatchRow, Store, TrialRow } from '../store/store.ts';
import type { WorldCounts } from './world-counts.ts';

/** Counts a batch. A batch that is not finished has not met its gate. */
export async function summarise(store: Store, batch: BatchRow, seconds: number, worlds: WorldCounts): Promise<BatchSummary> {
  const rows = await store.trials(batch.id);
  const summaries = await currentSummaries(store, batch.id);
  const count = (test: (summary: TrialSummary) => boolean) => summaries.filter(test).length;
  const infraErrors = count((summary) => summary.ending === 'infra_error');
  const userErrors = count((summary) => summary.ending === 'user_error');
  const misses = count((summary) => summary.ending === 'cassette_miss');
  const scored = (summary: TrialSummary) => summary.ending !== 'user_error' && summary.ending !== 'cassette_miss';
  const passed = count((summary) => summary.pass === 'pass' && scored(summary));
  const cancelled = count((summary) => summary.ending === 'cancelled');
  let made = 0;
  for (const row of rows) made += row.attempt;
  const calls = await store.modelCallsOf(batch.id);
  const models = modelUseOf(calls, rows);
  const teams = teamUseOf(summaries, calls);
  const summary: BatchSummary = {
    type: 'summary',
    batch: batch.id,
    suite: batch.suite,
    trials: rows.length,
    passed,
    failed: count((summary) => summary.pass === 'fail' && scored(summary)),
    undetermined: count((summary) => summary.pass === 'undetermined' && scored(summary)),
    infraErrors,
    cancelled,
    ...(userErrors > 0 && { userErrors }),
    ...(misses > 0 && { cassetteMisses: misses }),
    ...cassettesOf(summaries),
    gate: 'not_met',
    seconds: Math.round(seconds * 10) / 10,
    worlds: { made, released: Math.max(0, made - worlds.leased), swept: 0, leaked: worlds.leased, unlike: worlds.unlike },
    ...(rows.some((row) => row.schedule !== NO_FAULTS.name) && { schedules: scheduleSummaries(rows, summaries) }),
    ...(models.length > 0 && { models }),
    ...(teams.length > 0 && { teams }),
  };
  return { ...summary, gate: summaries.length < rows.length ? 'not_met' : judgeGate(summary) };
}

const MAX_DIFFERENCES = 200;

/** How the trials of a batch went along their cassettes. */
function cassettesOf(summaries: readonly TrialSummary[]): Pick<BatchSummary, 'cassettes'> {
  const played = summaries.flatMap(({ cassette, ...summary }) => (cassette ? [{ ...summary, cassette }] : []));
  if (played.length === 0) return {};
  return {
    cassettes: {
      trials: played.length,
      recordedRoutes: played.filter(({ cassette }) => cassette.route === 'recorded').length,
      differences: played
        .flatMap((summary) =>
          (summary.cassette.differs ?? []).map(({ view, recorded, now }) => `${summary.case} ${summary.agent}: ${view} ${recorded} -> ${now}`),
        )
        .slice(0, MAX_DIFFERENCES),
      unused: played.reduce((sum, { cassette }) => sum + cassette.unused, 0),
    },
  };
}

/** What the limit of a batch's costs has kept from being launched. */
export async function stoppedBy(store: Store, id: string): Promise<Pick<BatchSummary, 'stopped'>> {
  const limit = (await store.standing(id))?.maxCost ?? null;
  if (limit === null) return {};
  const amount = await store.spent(id, limit.currency);
  const left = (await store.trials(id)).filter(({ phase, attempt }) => phase === 'waiting' && attempt === 0).length;
  return amount >= limit.amount && left > 0 ? { stopped: { limit, spent: { amount, currency: limit.currency }, left } } : {};
}

/** In the manifest's order of first occurrence. A schedule of which no trial recorded its faults is not said to have never fired. */
function scheduleSummaries(rows: readonly TrialRow[], summaries: readonly TrialSummary[]): readonly ScheduleSummary[] {
  return [...new Set(rows.map((row) => row.schedule))].map((schedule) => {
    const own = summaries.filter((summary) => summary.schedule === schedule);
    const recorded = own.flatMap(({ faults }) => (faults === undefined ? [] : [faults.injected]));
    const injected = recorded.reduce((sum, count) => sum + count, 0);
    return {
      schedule,
      trials: rows.filter((row) => row.schedule === schedule).length,
      passed: own.filter(({ pass }) => pass === 'pass').length,
      failed: own.filter(({ pass }) => pass === 'fail').length,
      injected,
      neverFired: schedule !== NO_FAULTS.name && recorded.length > 0 && injected === 0,
    };
  });
}

/** Summaries of a batch's trials with the verdict that is current: a regrade changes what counts, not what was recorded. */
export async function currentSummaries(store: Store, batch: string): Promise<readonly TrialSummary[]> {
  const rows = await store.trials(batch);
  return rows.flatMap((row) => (row.summary ? [row.summary] : []));
}
