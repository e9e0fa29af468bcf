import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Workforce } from '../domain/progress.ts';
import type { BatchSummary } from '../domain/trial.ts';
import type { BatchRow, Store } from '../store/store.ts';
import { type BatchEvent, type BatchStands, ClosedError, type FollowedBatch } from './api.ts';
import { EventQueue } from './event-queue.ts';
import { Patience } from './patiently.ts';
import { countBatch, stoppedBy } from './summarise.ts';
import { watchBatch } from './watch-batch.ts';
import type { WorldCounts } from './world-counts.ts';

/** How often ends of trials are looked for, and the batch itself every fourth time. */
const POLL_MS = 250;
const SLOW_POLLS = 4;
/** Trials that settle at one time may be seen in another order than they have been numbered in; no more of them than this are under way at once. */
const OVERLAP = 1_000;

export interface FollowOptions {
  readonly store: Store;
  /** Asked for a sign of life while nothing happens. */
  readonly temporal?: Pick<Client, 'connection'>;
  readonly batch: BatchRow;
  /** It goes on with an earlier run. */
  readonly resumed: boolean;
  /** Raised when the batch may have ended: it is looked for at once. */
  readonly mayHaveEnded?: AbortSignal;
  /** Hears of a store that is away. Default: tells it as an event. */
  readonly patience?: Patience;
  readonly worlds: () => Promise<WorldCounts>;
  /** The day by which quarantines hold. */
  readonly now: () => Date;
  /** Whether any worker takes its trials; null: not known. Default: not known. */
  readonly served?: () => Promise<boolean | null>;
}

/**
 * Reads from the store what becomes of a batch, whoever runs it. To attach to a batch of another process: `follow({ ...options }).events()`, which is what
 * `client.follow(id)` gives; `run` follows its own in the same way.
 */
export function follow(options: FollowOptions): FollowedBatch {
  const events = new EventQueue<BatchEvent>();
  const left = new AbortController();
  const result = new Follower(options, events, left.signal).toEnd().finally(() => events.close());
  // The reader of `result` sees the error; a reader of the events alone must not crash the process.
  result.catch(() => {});
  return {
    id: options.batch.id,
    events: () => events,
    result: () => result,
    leave: () => left.abort(new ClosedError('the batch is not followed any more')),
  };
}

/** Reads from the store what becomes of one batch. */
export class Follower {
  private readonly options: FollowOptions;
  private readonly events: EventQueue<BatchEvent>;
  private readonly left: AbortSignal;
  private readonly startedAt = performance.now();
  /** Places in the order of settling that were seen. */
  private readonly known = new Set<number>();
  private readonly patience: Patience;
  private stands: Omit<BatchStands, 'type' | 'batch'> | null = null;

  constructor(options: FollowOptions, events: EventQueue<BatchEvent>, left: AbortSignal) {
    this.options = options;
    this.events = events;
    this.left = left;
    this.patience = options.patience ?? new Patience((outage) => events.push({ type: 'outage', outage }));
  }

  async toEnd(): Promise<BatchSummary> {
    const { store, temporal, batch, resumed, mayHaveEnded: wake } = this.options;
    const { patience, events } = this;
    for (const place of await patience.wait(() => store.settledPlaces(batch.id))) this.known.add(place);
    events.push({ type: 'batch', batch: batch.id, suite: batch.suite, trials: batch.trials, done: this.known.size, resumed });
    await patience.wait(() => this.standsStill());
    using watch = watchBatch({ store, ...(temporal && { temporal }), batch, events, patience, workforce: () => this.workforce() });
    for (let poll = 1; ; poll++) {
      this.left.throwIfAborted();
      const over = (poll % SLOW_POLLS === 0 || wake?.aborted === true) && (await patience.wait(() => this.standsStill()));
      await patience.wait(() => this.ends(over));
      if (over) {
        // The summary is the last that anybody hears.
        watch[Symbol.dispose]();
        return await this.summary();
      }
      // Woken once, it goes on at its own pace: whoever runs the batch may be another now.
      const signal = wake === undefined || wake.aborted ? this.left : AbortSignal.any([this.left, wake]);
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private async workforce(): Promise<Workforce> {
    const { state, hold } = this.stands ?? { state: 'running', hold: null };
    return {
      state: state === 'running' && hold === 'paused' ? 'paused' : state,
      launches: state === 'running' && hold === null,
      worker: (await this.options.served?.()) ?? null,
    };
  }

  /** Tells how the batch stands where that has changed. True: it runs no more. */
  private async standsStill(): Promise<boolean> {
    const { store, batch } = this.options;
    const row = await store.standing(batch.id);
    if (!row) throw new Error(`batch ${batch.id} is not in the store any more`);
    const now = { state: row.state, hold: row.hold, concurrency: row.options.concurrency };
    const { stands } = this;
    if (stands?.state !== now.state || stands.hold !== now.hold || stands.concurrency !== now.concurrency)
      this.events.push({ type: 'stands', batch: batch.id, ...now });
    this.stands = now;
    return now.state !== 'running';
  }

  private async ends(all: boolean): Promise<void> {
    const { store, batch } = this.options;
    const newest = Math.max(0, ...this.known);
    const from = all ? 0 : newest - OVERLAP;
    const known = [...this.known].filter((place) => place > from);
    for (const { place, trial } of await store.settledAfter(batch.id, from, known)) {
      this.known.add(place);
      if (trial.summary) this.events.push(trial.summary);
    }
  }

  private async summary(): Promise<BatchSummary> {
    const { store, batch, worlds, now } = this.options;
    const seconds = (performance.now() - this.startedAt) / 1000;
    const summary = await this.patience.wait(async () => {
      const counted = await countBatch(store, batch, { seconds, worlds: await worlds(), today: now().toISOString() });
      return { ...counted.summary, ...(await stoppedBy(store, batch.id)) };
    });
    this.events.push(summary);
    return summary;
  }
}
