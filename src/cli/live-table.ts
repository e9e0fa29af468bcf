import type { TrialPhase } from '../domain/trial.ts';
import { plainText, shorten } from '../report/plain-text.ts';
import { columnsOf, type Paint, paintFor, type Stream } from './host.ts';
import { agentName, cells } from './trial-line.ts';

/**
 * The lower end of a terminal while a batch runs: trials in flight with their phase, and how far the batch is. Finished trials are printed above it and stay.
 * Repaints at most every 100 ms and once a second; leaves the cursor as it found it.
 */
export class LiveTable {
  readonly #stream: Stream;
  readonly #paint: Paint;
  readonly #running = new Map<string, { readonly case: string; readonly schedule: string; readonly agent: string; readonly phase: TrialPhase }>();
  #total = 0;
  #done = 0;
  #started = 0;
  #note = '';
  #painted = 0;
  #timer: NodeJS.Timeout | null = null;
  #soon: NodeJS.Timeout | null = null;

  constructor(stream: Stream) {
    this.#stream = stream;
    this.#paint = paintFor(stream);
  }

  /** Whether it holds the lower end of the screen now. */
  get painting(): boolean {
    return this.#timer !== null;
  }

  start(total: number, done: number): void {
    this.#total = total;
    this.#done = done;
    this.#started = performance.now();
    this.#stream.write(HIDE_CURSOR);
    this.#timer = setInterval(() => this.#repaint(), 1000);
    this.#timer.unref();
    this.#repaint();
  }

  phase(event: { readonly trial: string; readonly case: string; readonly schedule: string; readonly agent: string; readonly phase: TrialPhase }): void {
    if (event.phase === 'done' || event.phase === 'waiting') this.#running.delete(event.trial);
    else this.#running.set(event.trial, event);
    this.#repaintSoon();
  }

  finished(trial: string): void {
    this.#running.delete(trial);
    this.#done = Math.min(this.#total, this.#done + 1);
    this.#repaintSoon();
  }

  /** A line that stays, above the table. Already safe to print. */
  print(line: string): void {
    if (!this.painting) {
      this.#stream.write(`${line}\n`);
      return;
    }
    this.#stream.write(`${this.#erase()}${line}\n`);
    this.#repaint();
  }

  /** What is going on, in the last line. Any text. */
  note(line: string): void {
    this.#note = plainText(line);
    this.#repaintSoon();
  }

  /** Takes the table away and gives the cursor back. Idempotent. */
  close(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#timer = null;
    this.#soon = null;
    this.#stream.write(`${this.#erase()}${SHOW_CURSOR}`);
  }

  #repaintSoon(): void {
    if (!this.painting || this.#soon !== null) return;
    this.#soon = setTimeout(() => this.#repaint(), 100);
    this.#soon.unref();
  }

  #repaint(): void {
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#soon = null;
    const columns = columnsOf(this.#stream);
    const lines = this.#lines(columns);
    this.#stream.write(this.#erase() + lines.map((line) => `${line}\n`).join(''));
    this.#painted = lines.length;
  }

  #lines(columns: number): string[] {
    const room = Math.max(1, Math.min(MOST_ROWS, (this.#stream.rows ?? 24) - 6));
    const running = [...this.#running.values()];
    const rows = running.slice(0, room).map((t) =>
      this.#paint(
        'dim',
        shorten(
          cells([t.case, agentName(t), t.phase, '', ''], columns)
            .join('  ')
            .trimEnd(),
          columns - 1,
        ),
      ),
    );
    if (running.length > room) rows.push(this.#paint('dim', `and ${running.length - room} more in flight`));
    const seconds = Math.round((performance.now() - this.#started) / 1000);
    const progress = [`${this.#done} of ${this.#total} done`, `${running.length} in flight`, `${seconds} s`, ...(this.#note === '' ? [] : [this.#note])].join(
      ', ',
    );
    return [...rows, this.#paint('bold', shorten(progress, columns - 1))];
  }

  /** Up to where the table began, and everything below erased. */
  #erase(): string {
    const up = this.#painted === 0 ? '' : `\u001b[${this.#painted}A\r\u001b[0J`;
    this.#painted = 0;
    return up;
  }
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const MOST_ROWS = 12;
