import { setTimeout as sleep } from 'node:timers/promises';
import { type Outage, outageOf } from '../domain/outage.ts';

/** As long as a trial's own steps are tried again. */
const PATIENCE_MS = 4 * 60_000;
const PAUSE_MS = 500;

/**
 * Repeats what failed because PostgreSQL or Temporal is away for a moment, such as one that is restarted: a batch must not end for that, since its trials
 * go on by themselves. `work` must be safe to repeat; `waiting` hears of every failure that is waited out, and null when the work is done after one.
 * @throws what else it throws, or the last error after some minutes.
 */
export async function patiently<T>(work: () => Promise<T>, waiting: (outage: Outage | null) => void = () => undefined): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let waited = false; ; waited = true) {
    try {
      const result = await work();
      if (waited) waiting(null);
      return result;
    } catch (error) {
      const outage = outageOf(error);
      if (!outage || Date.now() > deadline) throw error;
      waiting(outage);
      await sleep(PAUSE_MS);
    }
  }
}

/** What a batch waits for in all that it does at once: tells of an outage when the first part meets it, and of its end when no part is held up any more. */
export class Patience {
  private readonly tell: (outage: Outage | null) => void;
  private readonly heldUp = new Map<unknown, Outage>();
  private told: Outage['service'] | null = null;

  constructor(tell: (outage: Outage | null) => void) {
    this.tell = tell;
  }

  /** As {@link patiently}. */
  async wait<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await patiently(work, (outage) => this.saw(work, outage));
    } finally {
      this.saw(work, null);
    }
  }

  /** `part` met an outage, or got what it wanted (null). */
  saw(part: unknown, outage: Outage | null): void {
    if (outage) {
      this.heldUp.set(part, outage);
      if (this.told === outage.service) return;
      this.told = outage.service;
      this.tell(outage);
    } else if (this.heldUp.delete(part) && this.heldUp.size === 0) {
      this.told = null;
      this.tell(null);
    }
  }
}
