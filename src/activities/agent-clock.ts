/** The time that an agent has used: it runs only while nothing holds it, such as a call that the agent waits for. Held from the start. */
export class AgentClock {
  private readonly wallMs: number;
  private readonly onOver: () => void;
  private holds = 1;
  private usedMs = 0;
  private since: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  /** `onOver` is called once the agent has used `wallMs`. */
  constructor(wallMs: number, onOver: () => void) {
    this.wallMs = wallMs;
    this.onOver = onOver;
  }

  /** What was used so far, milliseconds. */
  get used(): number {
    return this.usedMs + (this.since === null ? 0 : performance.now() - this.since);
  }

  /** The clock stands still until as many releases have come. */
  hold(): void {
    this.holds++;
    if (this.since !== null) this.usedMs += performance.now() - this.since;
    this.since = null;
    clearTimeout(this.timer);
  }

  release(): void {
    this.holds--;
    if (this.holds === 0 && !this.stopped) this.run();
  }

  /** What it returns gives back, when it is called, whatever was used since: something that proved to be ours. */
  mark(): () => void {
    const before = this.used;
    return () => {
      if (this.stopped || this.used <= before) return;
      this.usedMs = before;
      if (this.since !== null) this.run();
    };
  }

  /** Stands still until the work has ended, however it does. */
  holdWhile(work: Promise<unknown>): void {
    this.hold();
    const release = () => this.release();
    work.then(release, release);
  }

  /** For good. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private run(): void {
    clearTimeout(this.timer);
    this.since = performance.now();
    this.timer = setTimeout(this.onOver, Math.max(0, this.wallMs - this.usedMs));
  }
}
