import type { BatchRow, Store, TrialRow } from '../../../src/store/store.ts';
import { type Place, startCommand } from './processes.ts';

/**
 * Puts the trials whose attempts were all lost to kills into the queues of their batches again, as an operator does, and lets the batches go on to their ends: every trial is
 * to have one verdict. Gives how many of each batch there were.
 */
export async function requeueLost(place: Place, store: Store, batches: readonly BatchRow[], say: (line: string) => void): Promise<ReadonlyMap<string, number>> {
  const requeued = new Map<string, number>();
  for (const { id } of batches) {
    const lost = (await store.trials(id)).filter(isLost);
    requeued.set(id, lost.length);
    if (lost.length === 0) continue;
    say(`${lost.length} trials of batch ${id} were lost three times and run once more`);
    for (const trial of lost) await ran(place, 'requeue', trial.id);
    await ran(place, 'watch', id, '--no-gate', '--json');
  }
  return requeued;
}

/** It has no verdict, and no attempt follows by itself. */
export function isLost({ summary }: TrialRow): boolean {
  return summary !== null && summary.ending === 'infra_error' && summary.pass === null;
}

/** What a command cannot do shows as a trial without a verdict, when the batches are compared. */
async function ran(place: Place, ...args: readonly string[]): Promise<void> {
  await startCommand(place, 'requeue', args).ended;
}
