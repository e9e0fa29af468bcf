import { NO_FAULTS } from '../domain/fault.ts';
import { judgeGates } from '../domain/gates/judge-gates.ts';
import { parseGate } from '../domain/gates/parse-gate.ts';
import { judgeFigures } from '../report/judges/figures.ts';
import { judgingOf } from './judges/judging-of.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import type { BatchSummary, ScheduleSummary, TrialSummary } from '../domain/trial.ts';
import { modelUseOf } from './model-use.ts';
import { teamUseOf } from './team-use.ts';
import type { BatchRow, Store, TrialRow } from '../store/store.ts';
import type { WorldCounts } from './world-counts.ts';

/** A batch as it stands, read once. */
export interface CountedBatch {
  readonly summary: BatchSummary;
  /** With the verdict that is current: a regrade changes what counts, not what was recorded. Those that have ended. */
  readonly trials: readonly TrialSummary[];
  /** Of every trial, in the manifest's order. */
  readonly facts: readonly TrialFacts[];
}

export interface CountOptions {
  readonly seconds: number;
  readonly worlds: WorldCounts;
  /** ISO 8601: the day by which quarantines hold. */
  readonly today: string;
}

/** Counts a batch, and judges it by the gates that it was made with. */
export async function countBatch(
  store: Pick<Store, 'trials' | 'facts' | 'modelCallsOf' | 'judging'>,
  batch: Pick<BatchRow, 'id' | 'suite' | 'options'>,
  { seconds, worlds, today }: CountOptions,
): Promise<CountedBatch> {
  const rows = await store.trials(batch.id);
  const facts: TrialFacts[] = [];
  for await (const page of store.facts(batch.id)) facts.push(...page);
  const trials = rows.flatMap((row) => row.summary ?? []);
  const calls = await store.modelCallsOf(batch.id);
  const models = modelUseOf(calls, rows);
  const teams = teamUseOf(trials, calls);
  const made = rows.reduce((sum, { attempt }) => sum + attempt, 0);
  const { gates = [], allowMisses } = batch.options;
  const judges = gates.some((gate) => parseGate(gate).judge !== undefined) ? judgeFigures(facts, await judgingOf(store, batch.id)) : [];
  const summary: BatchSummary = {
    type: 'summary',
    batch: batch.id,
    suite: batch.suite,
    trials: rows.length,
    ...countsOf(trials),
    ...cassettesOf(trials),
    ...judgeGates(facts, { today, gates, judges, ...(allowMisses && { allowMisses }) }),
    seconds: Math.round(seconds * 10) / 10,
    worlds: { made, released: Math.max(0, made - worlds.leased), swept: 0, leaked: worlds.leased, unlike: worlds.unlike },
    ...(rows.some((row) => row.schedule !== NO_FAULTS.name) && { schedules: scheduleSummaries(rows, trials) }),
    ...(models.length > 0 && { models }),
    ...(teams.length > 0 && { teams }),
  };
  return { summary, trials, facts };
}

type Counts = Pick<BatchSummary, 'passed' | 'failed' | 'undetermined' | 'infraErrors' | 'cancelled' | 'userErrors' | 'cassetteMisses'>;

function countsOf(trials: readonly TrialSummary[]): Counts {
  const count = (test: (summary: TrialSummary) => boolean): number => trials.filter(test).length;
  const userErrors = count(({ ending }) => ending === 'user_error');
  const misses = count(({ ending }) => ending === 'cassette_miss');
  const scored = trials.filter(({ ending }) => ending !== 'user_error' && ending !== 'cassette_miss');
  const judged = (pass: TrialSummary['pass']): number => scored.filter((one) => one.pass === pass).length;
  return {
    passed: judged('pass'),
    failed: judged('fail'),
    undetermined: judged('undetermined'),
    infraErrors: count(({ ending }) => ending === 'infra_error'),
    cancelled: count(({ ending }) => ending === 'cancelled'),
    ...(userErrors > 0 && { userErrors }),
    ...(misses > 0 && { cassetteMisses: misses }),
  };
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
