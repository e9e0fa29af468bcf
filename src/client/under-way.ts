import { type RunningTrial, waitReason, type Workforce } from '../domain/progress.ts';
import type { StoredRunning } from '../store/progress.ts';
import type { Store } from '../store/store.ts';
import type { RunningRow } from './api.ts';
import type { Pollers } from './pollers.ts';

/** Running trials of any batches with what they wait for. */
export async function underWay(store: Pick<Store, 'standing'>, pollers: Pollers, rows: readonly StoredRunning[]): Promise<readonly RunningRow[]> {
  const forces = new Map<string, Workforce>();
  for (const { batch } of rows) {
    if (forces.has(batch)) continue;
    const standing = await store.standing(batch);
    const worker = standing && (await pollers.serve({ id: batch, options: standing.options }));
    const state = standing?.state ?? 'interrupted';
    forces.set(batch, { state: standing?.hold === 'paused' ? 'paused' : state, launches: state === 'running' && standing?.hold === null, worker });
  }
  return rows.map((row) => ({ ...runningTrial(row, forces.get(row.batch) ?? NOBODY), batch: row.batch }));
}

/** A stored trial as it is shown. */
export function runningTrial({ asks, waits, batch: _, seconds, ...trial }: StoredRunning, workforce: Workforce): RunningTrial {
  const attempt = trial.attempt > 1 ? 'further' : 'first';
  return { ...trial, waits: waitReason({ phase: trial.phase, attempt, asks, waits }, workforce), seconds: Math.round(seconds) };
}

const NOBODY: Workforce = { state: 'interrupted', launches: false, worker: null };
