import { type Outage, outageOf } from '../domain/outage.ts';
import { type RunningTrial, waitReason, type Workforce } from '../domain/progress.ts';
import type { StoredRunning } from '../store/progress.ts';
import type { Root } from '../worker/root.ts';
import type { RunningRow } from './api.ts';
import type { Pollers } from './pollers.ts';

/** A service that says nothing for so long is not waited for by a list. */
const ANSWER_MS = 3_000;

/** Running trials of any batches with what they wait for, and with the outage that holds them up where there is one. */
export async function underWay(
  root: Pick<Root, 'store' | 'temporal' | 'worlds'>,
  pollers: Pollers,
  rows: readonly StoredRunning[],
): Promise<readonly RunningRow[]> {
  const [forces, outage] = await Promise.all([workforces(root.store, pollers, rows), outagesOf(root, rows)]);
  return rows.map((row) => ({ ...runningTrial(row, forces.get(row.batch) ?? NOBODY), batch: row.batch, outage: outage(row) }));
}

/** A stored trial as it is shown. */
export function runningTrial({ asks, waits, batch: _, host: __, seconds, ...trial }: StoredRunning, workforce: Workforce): RunningTrial {
  const attempt = trial.attempt > 1 ? 'further' : 'first';
  return { ...trial, waits: waitReason({ phase: trial.phase, attempt, asks, waits }, workforce), seconds: Math.round(seconds) };
}

const NOBODY: Workforce = { state: 'interrupted', launches: false, worker: null };

async function workforces(store: Root['store'], pollers: Pollers, rows: readonly StoredRunning[]): Promise<ReadonlyMap<string, Workforce>> {
  const forces = new Map<string, Workforce>();
  for (const { batch } of rows) {
    if (forces.has(batch)) continue;
    const standing = await store.standing(batch);
    const worker = standing && (await pollers.serve({ id: batch, options: standing.options }));
    const state = standing?.state ?? 'interrupted';
    forces.set(batch, { state: standing?.hold === 'paused' ? 'paused' : state, launches: state === 'running' && standing?.hold === null, worker });
  }
  return forces;
}

/** Asks once for what all trials need, and once for each server that has worlds of some. */
async function outagesOf(
  { store, temporal, worlds }: Pick<Root, 'store' | 'temporal' | 'worlds'>,
  rows: readonly StoredRunning[],
): Promise<(row: StoredRunning) => Outage | null> {
  if (rows.length === 0) return () => null;
  const hosts = [...new Set(rows.flatMap(({ host }) => host ?? []))];
  const [room, server, ...away] = await Promise.all([
    outageIn(store.requireRoom()),
    outageIn(temporal.connection.withDeadline(Date.now() + ANSWER_MS, () => temporal.connection.workflowService.getSystemInfo({}))),
    // No world has this name: the question is only whether somebody answers.
    ...hosts.map((host) => outageIn(worlds.lockWaits({ id: 'none', host }))),
  ]);
  const ofHost = new Map(hosts.map((host, index) => [host, named(host, away[index] ?? null)]));
  return ({ host }) => server ?? room ?? (host === null ? null : (ofHost.get(host) ?? null));
}

function named(host: string, outage: Outage | null): Outage | null {
  return outage && { ...outage, reason: `${host} ${outage.reason}` };
}

/** The outage that a question meets; null: it is answered, or meets something else. */
function outageIn(asked: Promise<unknown>): Promise<Outage | null> {
  return asked.then(() => null, outageOf);
}
