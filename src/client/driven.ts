import type { BatchRow, Store } from '../store/store.ts';
import type { Pollers } from './pollers.ts';

/**
 * Batches as they are: one that is stored as running, that no command drives and no worker serves, was interrupted by the death of those that did. Where Temporal cannot be asked,
 * a batch without a command counts as interrupted.
 */
export async function asTheyAre(store: Store, rows: readonly BatchRow[], pollers: Pollers): Promise<readonly BatchRow[]> {
  const running = rows.filter(({ state }) => state === 'running');
  if (running.length === 0) return rows;
  const driven = await store.driven(running.map(({ id }) => id));
  const alone = running.filter(({ id }) => !driven.has(id));
  const served = new Set((await Promise.all(alone.map(async (batch) => ((await pollers.serve(batch, { lasting: true })) ? [batch.id] : [])))).flat());
  return rows.map((row) => (row.state === 'running' && !driven.has(row.id) && !served.has(row.id) ? { ...row, state: 'interrupted' } : row));
}
