import { type Host, note } from './host.ts';

const BAR = 30;

/** How far it is, on standard error: a bar that repaints itself on a terminal, a line at every tenth elsewhere. */
export class Progress {
  readonly #host: Host;
  readonly #what: string;
  readonly #startedAt = performance.now();
  #tenth = 0;
  #open = false;

  /** `what`: what is counted, in the plural. */
  constructor(host: Host, what: string) {
    this.#host = host;
    this.#what = what;
  }

  show(done: number, of: number): void {
    const share = of === 0 ? 0 : done / of;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const text = `${done} of ${of} ${this.#what}, ${seconds.toFixed(0)} s`;
    if (this.#host.err.isTTY) {
      const filled = Math.floor(share * BAR);
      this.#host.err.write(`\r\u001b[2K[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}] ${text}`);
      this.#open = true;
      return;
    }
    const tenth = Math.floor(share * 10);
    if (tenth > this.#tenth) note(this.#host, text);
    this.#tenth = Math.max(this.#tenth, tenth);
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#open) this.#host.err.write('\r\u001b[2K');
    this.#open = false;
  }
}
