import { throughOutages } from '../activities/through-outages.ts';
import type { Outage } from '../domain/outage.ts';

/** A batch must not end for an outage, since its trials go on by themselves. As {@link throughOutages}. */
export function patiently<T>(work: () => Promise<T>, waiting?: (outage: Outage | null) => void): Promise<T> {
  return throughOutages(work, waiting ? { waiting } : {});
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
