import { NO_FAULTS } from '../domain/fault.ts';
import type { Store } from '../store/store.ts';
import { NothingToRunError } from './nothing-to-run.ts';
import type { PlannedTrial } from './plan.ts';

/**
 * Those of a suite's trials whose newest verdict is no pass: by case, schedule, agent and repetition, whatever batch it is of. So after four shards the
 * failures of all four are chosen, and what passed since is not.
 *
 * @param trialsFor all trials for so many repetitions; asked for as many as failed where `repetitions` is not said
 * @throws {NothingToRunError}
 */
export async function onlyLastFailed(
  store: Pick<Store, 'newestTrials'>,
  suite: string,
  trialsFor: (repetitions: number) => readonly PlannedTrial[],
  repetitions: number | undefined,
): Promise<readonly PlannedTrial[]> {
  const newest = await store.newestTrials(suite);
  if (newest.length === 0) throw new NothingToRunError(`--last-failed needs a trial of suite ${suite} that came to its end; there is none yet`);
  const failed = newest.filter(({ summary }) => summary?.pass !== 'pass');
  const wanted = new Set(failed.map((row) => keyOf(row.caseId, row.schedule, row.agentName, row.repetition)));
  const most = repetitions ?? Math.max(1, ...failed.map((row) => row.repetition));
  const chosen = trialsFor(most).filter(({ kase, schedule, agent, repetition }) =>
    wanted.has(keyOf(kase.kase.id, schedule?.schedule.name ?? NO_FAULTS.name, agent.spec.name, repetition)),
  );
  if (chosen.length === 0) throw new NothingToRunError(`no trial of suite ${suite} with these cases, schedules and agents failed last`);
  return chosen;
}

function keyOf(kase: string, schedule: string, agent: string, repetition: number): string {
  return [kase, schedule, agent, repetition].join('\n');
}
