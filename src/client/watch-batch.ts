import type { Client } from '@temporalio/client';
import { outageOf } from '../domain/outage.ts';
import type { Workforce } from '../domain/progress.ts';
import type { TrialPhase } from '../domain/trial.ts';
import type { BatchRow, Store } from '../store/store.ts';
import type { BatchEvent } from './api.ts';
import { ProgressReader } from './batch-progress.ts';
import type { EventQueue } from './event-queue.ts';
import type { Patience } from './patiently.ts';
import { Standstill } from './standstill.ts';

const POLL_MS = 1_000;
/** No more than this share of the time is spent on asking, however large the batch is. */
const LEAST_PAUSES = 20;

export interface WatchOptions {
  readonly store: Pick<Store, 'trials' | 'waitingApprovals' | 'progress' | 'running' | 'requireRoom'>;
  /** Asked for a sign of life while nothing happens. Absent: it is not. */
  readonly temporal?: Pick<Client, 'connection'>;
  readonly batch: Pick<BatchRow, 'id' | 'options'>;
  readonly events: EventQueue<BatchEvent>;
  /** Hears of a store that cannot be asked. */
  readonly patience: Patience;
  /** Who works on it, asked before each event. */
  readonly workforce: () => Promise<Workforce>;
}

/** Tells, about once a second, what goes on in a batch: phases of its trials, requests for approvals, where it stands. Ends when it is disposed. */
export function watchBatch({ store, temporal, batch: { id: batch, options }, events, patience, workforce }: WatchOptions): Disposable {
  const phases = new Map<string, TrialPhase>();
  const asked = new Set<string>();
  const progress = new ProgressReader(store, batch);
  const standstill = new Standstill({ store, patience, ...(temporal && { temporal }) });
  let over = false;
  let timer: NodeJS.Timeout | null = null;

  async function tell(): Promise<void> {
    const underWay = await store.trials(batch, { underWay: true });
    standstill.saw(underWay.length !== phases.size || underWay.some(({ id, phase }) => phases.get(id) !== phase));
    for (const row of underWay) {
      if (phases.get(row.id) === row.phase) continue;
      events.push({ type: 'phase', trial: row.id, case: row.caseId, schedule: row.schedule, agent: row.agentName, phase: row.phase });
    }
    // Only those that are under way, so that it does not grow with the batch.
    phases.clear();
    for (const row of underWay) phases.set(row.id, row.phase);
    for (const one of options.human ? await store.waitingApprovals({ batch }) : []) {
      if (asked.has(one.id)) continue;
      asked.add(one.id);
      events.push({ type: 'approval', asked: one });
    }
    events.push(await progress.read(await workforce()));
  }

  async function next(): Promise<void> {
    const startedAt = performance.now();
    // Progress only: whoever follows the batch is told, and the trials go on by themselves when it is back.
    const outage = await tell().then(() => null, outageOf);
    if (over) return;
    patience.saw(watchBatch, outage);
    timer = setTimeout(() => void next(), Math.max(POLL_MS, (performance.now() - startedAt) * LEAST_PAUSES));
  }

  timer = setTimeout(() => void next(), POLL_MS);
  return {
    [Symbol.dispose]() {
      if (over) return;
      over = true;
      standstill.saw(true);
      patience.saw(watchBatch, null);
      if (timer !== null) clearTimeout(timer);
    },
  };
}
