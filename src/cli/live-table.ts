import type { BatchProgress } from '../domain/progress.ts';
import { durationText } from '../report/duration-text.ts';
import { plainText, shorten } from '../report/plain-text.ts';
import { columnsOf, type Paint, paintFor, type Stream } from './host.ts';
import { progressLines, runningLines } from './progress-lines.ts';

/**
 * The lower end of a terminal while a batch runs: the trials that run for longest with phase and age, and where the batch stands. Finished trials are printed above it and
 * stay.
 * Repaints at most every 100 ms and once a second; leaves the cursor as it found it.
 */
export class LiveTable {
  readonly #stream: Stream;
  readonly #paint: Paint;
  #progress: BatchProgress | null = null;
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

  progress(progress: BatchProgress): void {
    this.#progress = progress;
    this.#repaintSoon();
  }

  finished(): void {
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
    const width = columns - 1;
    const note = this.#note === '' ? [] : [this.#paint('dim', shorten(this.#note, width))];
    const progress = this.#progress;
    if (progress === null) {
      const seconds = (performance.now() - this.#started) / 1000;
      return [this.#paint('bold', shorten(`${this.#done} of ${this.#total} done, ${durationText(seconds)}`, width)), ...note];
    }
    const stands = progressLines(progress, width);
    const shown = progress.slowest.slice(0, Math.max(1, room - stands.length));
    const more = progress.trials - progress.done - (progress.waits.turn ?? 0) - (progress.waits.paused ?? 0) - (progress.waits.launcher ?? 0) - shown.length;
    return [
      ...runningLines(shown, width).map((line) => this.#paint('dim', line)),
      ...(more > 0 && shown.length > 0 ? [this.#paint('dim', `and ${more} more in flight`)] : []),
      ...stands.map((line) => this.#paint('bold', line)),
      ...note,
    ];
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
