import type { Client } from '@temporalio/client';
import { type Outage, outageOf } from '../domain/outage.ts';
import type { Store } from '../store/store.ts';
import type { Patience } from './patiently.ts';

/** A batch in which nothing has happened for so long stands still; it is then looked for why, as often. */
const STILL_MS = 4_000;
const ANSWER_MS = 3_000;

export interface StandstillOptions {
  readonly store: Pick<Store, 'requireRoom'>;
  /** Absent: Temporal is not asked. */
  readonly temporal?: Pick<Client, 'connection'>;
  /** Hears of what is away. */
  readonly patience: Patience;
}

/**
 * Why nothing happens in a batch, where a service is to blame that whoever follows it does not need itself: a Temporal that is gone, a store that can be read and takes nothing
 * more. The trials wait for it in their workers.
 */
export class Standstill {
  private readonly options: StandstillOptions;
  private since = performance.now();
  private asking = false;

  constructor(options: StandstillOptions) {
    this.options = options;
  }

  /** To be called every so often, with whether anything has happened since. Never throws, and waits for nothing. */
  saw(moved: boolean): void {
    const { patience } = this.options;
    const now = performance.now();
    if (moved) {
      this.since = now;
      for (const part of [this.requireRoom, this.requireTemporal]) patience.saw(part, null);
    } else if (!this.asking && now - this.since >= STILL_MS) {
      this.since = now;
      this.asking = true;
      void Promise.all(
        [this.requireRoom, this.requireTemporal].map(async (part) => {
          const asked = this.since;
          const outage = await outageIn(part);
          // What has happened meanwhile says more.
          if (asked === this.since) patience.saw(part, outage);
        }),
      ).finally(() => {
        this.asking = false;
      });
    }
  }

  private readonly requireRoom = (): Promise<void> => this.options.store.requireRoom();

  private readonly requireTemporal = async (): Promise<void> => {
    const { temporal } = this.options;
    await temporal?.connection.withDeadline(Date.now() + ANSWER_MS, () => temporal.connection.workflowService.getSystemInfo({}));
  };
}

function outageIn(ask: () => Promise<void>): Promise<Outage | null> {
  return ask().then(() => null, outageOf);
}
