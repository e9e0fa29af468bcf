import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { patiently } from '../../../src/client/patiently.ts';
import type { BatchRow, Store } from '../../../src/store/store.ts';
import { type Command, type Place, startCommand } from './processes.ts';
import type { StormBatch } from './suites.ts';

const LOOK_MS = 300;
/** Without one more trial that has ended for so long, something hangs. */
const STALLED_MS = 6 * 60_000;
const MOST_ENDS = 20;

/** A batch that is run by its command until it is finished, the same command again whenever it ended before. */
export class BatchRun implements AsyncDisposable {
  /** Ended by itself before the batch was finished, and how. */
  readonly gaveUp: string[] = [];
  readonly finished: Promise<BatchRow>;
  private readonly place: Place;
  private readonly store: Store;
  private readonly batch: StormBatch;
  private readonly args: readonly string[];
  private readonly startedAt = Date.now();
  private command: Command | null = null;
  private row: BatchRow | null = null;
  private watching = true;

  constructor(place: Place, store: Store, batch: StormBatch, args: readonly string[]) {
    this.place = place;
    this.store = store;
    this.batch = batch;
    this.args = args;
    this.finished = Promise.race([this.toTheEnd(), this.watch()]).finally(() => {
      this.watching = false;
    });
    this.finished.catch(() => {});
  }

  /** Of the command that runs it now; null between two. */
  get pid(): number | null {
    return this.command?.pid ?? null;
  }

  get done(): number {
    return this.row?.done ?? 0;
  }

  /** Ends the command where the batch is not finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.watching = false;
    const { command } = this;
    command?.kill('SIGTERM');
    await command?.ended;
  }

  private async toTheEnd(): Promise<BatchRow> {
    for (;;) {
      if (!this.watching) throw new Error(`batch ${this.batch.suite} was given up`);
      const command = startCommand(this.place, `run-${this.batch.suite}`, ['run', ...this.batch.args, ...this.args]);
      this.command = command;
      const { code, signal } = await command.ended;
      this.command = null;
      const row = await this.look();
      if (row?.state === 'finished') return row;
      if (signal !== null) continue;
      this.gaveUp.push(`${await this.lastLine()} (exit ${code})`);
      if (code === 2 || this.gaveUp.length > MOST_ENDS) throw new Error(`batch ${this.batch.suite} cannot be run: ${this.gaveUp.at(-1)}`);
    }
  }

  private async watch(): Promise<never> {
    let [done, since] = [0, Date.now()];
    while (this.watching) {
      await sleep(LOOK_MS);
      await this.look().catch(() => null);
      if (this.done !== done) [done, since] = [this.done, Date.now()];
      if (Date.now() - since > STALLED_MS) throw new Error(`batch ${this.batch.suite} stalled at ${done} trials`);
    }
    return new Promise<never>(() => {});
  }

  /** The batch as it stands; null before it is made. */
  private async look(): Promise<BatchRow | null> {
    const [row] = await patiently(() => this.store.batches({ suite: this.batch.suite, limit: 1 }));
    if (row && Date.parse(row.createdAt) >= this.startedAt) this.row = row;
    return this.row;
  }

  private async lastLine(): Promise<string> {
    const text = await readFile(join(this.place.home, 'logs', `run-${this.batch.suite}.log`), 'utf8').catch(() => '');
    return (
      text
        .trim()
        .split('\n')
        .findLast((line) => !line.startsWith('{') || line.startsWith('{"type":"error"')) ?? ''
    );
  }
}
