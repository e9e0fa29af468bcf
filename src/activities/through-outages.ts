import { setTimeout as pause } from 'node:timers/promises';
import { outageOf } from '../domain/outage.ts';

/** As long as a trial's own steps are tried again. */
const PATIENCE_MS = 4 * 60_000;
const PAUSE_MS = 200;

/** Asks Temporal again while it does not do its part: what a busy or restarted server did not answer is no failure of the one who asked. `work` must be safe to repeat. */
export async function throughOutages<T>(work: () => Promise<T>, patienceMs: number = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (outageOf(error)?.service !== 'Temporal' || performance.now() > deadline) throw error;
      await pause(PAUSE_MS);
    }
  }
}
