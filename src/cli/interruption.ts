import { EXIT, InterruptedError } from './exit.ts';
import { hintsFor } from './hint.ts';
import { type CommonFlags, type Host, note } from './host.ts';

type Signal = 'SIGINT' | 'SIGTERM';

/**
 * Waits for Ctrl-C (or SIGTERM). The first one resolves {@link raised}, for the command to end in order; the second ends the process at once.
 * Dispose it to give the signals back.
 */
export class Interruption implements Disposable {
  /** Resolves at the first signal; stays pending without one. */
  readonly raised: Promise<Signal>;
  #signal: Signal | null = null;
  readonly #subscription: Disposable;

  /** `effect`: what the first Ctrl-C does, for the person who pressed it. */
  constructor(host: Host, flags: CommonFlags, effect: string) {
    const { promise, resolve } = Promise.withResolvers<Signal>();
    this.raised = promise;
    this.#subscription = host.onSignal((signal) => {
      if (this.#signal !== null) {
        const hint = hintsFor(host, flags);
        note(host, `ending at once; what stays behind is found by "${hint('sweep')}" and "${hint('down')}"`);
        host.kill(exitOf(signal));
        return;
      }
      this.#signal = signal;
      note(host, `stopping: ${effect} (Ctrl-C again ends at once)`);
      resolve(signal);
    });
  }

  /** The signal that came, or null. */
  get signal(): Signal | null {
    return this.#signal;
  }

  /** Waits for work that a signal may break off, in us or in a process of ours: what it then throws is no news. @throws {InterruptedError} */
  async over<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw this.#signal === null ? error : new InterruptedError(this.exit);
    }
  }

  /** Exit code of a process that this signal ended. */
  get exit(): number {
    return exitOf(this.#signal ?? 'SIGINT');
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}

function exitOf(signal: Signal): number {
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
}
