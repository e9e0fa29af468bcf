import { setTimeout as pause } from 'node:timers/promises';

export interface Limits {
  readonly perMinute: number | null;
  readonly atOnce: number | null;
}

/** What one process sends to one place: evenly spaced, so many at once, and nothing while the place asked to be left alone. Waits in order. */
export class Limiter {
  private readonly spacingMs: number;
  private readonly atOnce: number;
  private next = 0;
  private inFlight = 0;
  private readonly waiting: (() => void)[] = [];

  constructor({ perMinute, atOnce }: Limits) {
    this.spacingMs = perMinute === null ? 0 : 60_000 / perMinute;
    this.atOnce = atOnce ?? Number.POSITIVE_INFINITY;
  }

  /** Waits for its turn, then runs. `waits` hears how long it will be, where that is known. @throws the signal's reason while it waits, and what `work` threw. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>, waits: (ms: number) => void = () => undefined): Promise<T> {
    await this.slot(signal);
    try {
      const now = performance.now();
      const at = Math.max(now, this.next);
      this.next = at + this.spacingMs;
      if (at > now) {
        waits(at - now);
        await pause(at - now, undefined, { signal });
      }
      return await work();
    } finally {
      this.inFlight--;
      this.waiting.shift()?.();
    }
  }

  /** Nothing is sent for so long. */
  hold(ms: number): void {
    this.next = Math.max(this.next, performance.now() + ms);
  }

  private async slot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.inFlight >= this.atOnce) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const give = () => resolve();
      this.waiting.push(give);
      signal.addEventListener('abort', give, { once: true });
      await promise;
      signal.removeEventListener('abort', give);
      if (signal.aborted) {
        const at = this.waiting.indexOf(give);
        // A turn that was given to somebody who has left is the next one's.
        if (at < 0) this.waiting.shift()?.();
        else this.waiting.splice(at, 1);
        signal.throwIfAborted();
      }
    }
    this.inFlight++;
  }
}
