import { setTimeout as pause } from 'node:timers/promises';
import { type Outage, outageOf } from '../domain/outage.ts';

/** As long as a trial's own steps are tried again. */
const PATIENCE_MS = 4 * 60_000;
const PAUSE_MS = 500;

export interface OutageOptions {
  /** Which service is waited for; absent: either. */
  readonly of?: Outage['service'];
  /** Hears of every failure that is waited out, and null when the work is done after one. */
  readonly waiting?: (outage: Outage | null) => void;
  /** Milliseconds after which the next failure is thrown. Default: four minutes. */
  readonly patienceMs?: number;
}

/**
 * Repeats what failed because PostgreSQL or Temporal is away for a moment, such as one that is busy or restarted: that is no failure of the one who asked. `work` must be
 * safe to repeat. @throws what else it throws, or the last error when patience is over.
 */
export async function throughOutages<T>(work: () => Promise<T>, { of, waiting = () => undefined, patienceMs = PATIENCE_MS }: OutageOptions = {}): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let waited = false; ; waited = true) {
    try {
      const result = await work();
      if (waited) waiting(null);
      return result;
    } catch (error) {
      const outage = outageOf(error);
      if (!outage || (of !== undefined && outage.service !== of) || performance.now() > deadline) throw error;
      waiting(outage);
      await pause(PAUSE_MS);
    }
  }
}
