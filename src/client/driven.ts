import type { BatchRow, Store } from '../store/store.ts';

/** Batches as they are: one that is stored as running, and that no process drives, was interrupted by the death of the one that did. */
export async function asTheyAre(store: Store, rows: readonly BatchRow[]): Promise<readonly BatchRow[]> {
  const running = rows.filter(({ state }) => state === 'running').map(({ id }) => id);
  if (running.length === 0) return rows;
  const driven = await store.driven(running);
  return rows.map((row) => (row.state === 'running' && !driven.has(row.id) ? { ...row, state: 'interrupted' } : row));
}
