import { type BatchProgress, countTrials, MOST_SLOWEST, Rate, type Workforce } from '../domain/progress.ts';
import type { Store } from '../store/store.ts';
import { runningTrial } from './under-way.ts';

/** Where one batch stands, asked again and again: keeps the rate between two questions. */
export class ProgressReader {
  readonly #store: Pick<Store, 'progress' | 'running'>;
  readonly #batch: string;
  readonly #startedAt = performance.now();
  readonly #rate = new Rate();

  constructor(store: Pick<Store, 'progress' | 'running'>, batch: string) {
    this.#store = store;
    this.#batch = batch;
  }

  async read(workforce: Workforce): Promise<BatchProgress> {
    const [groups, running] = await Promise.all([this.#store.progress(this.#batch), this.#store.running({ batch: this.#batch, limit: MOST_SLOWEST })]);
    const counts = countTrials(groups, workforce);
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#rate.add(seconds, counts.done);
    const { perMinute } = this.#rate;
    const left = counts.trials - counts.done;
    const goesOn = workforce.state === 'running' && workforce.launches;
    return {
      type: 'progress',
      batch: this.#batch,
      state: workforce.state,
      ...counts,
      seconds: rounded(seconds),
      perMinute: perMinute === null ? null : rounded(perMinute),
      secondsLeft: left === 0 ? 0 : goesOn ? wholeOrNull(this.#rate.secondsFor(left)) : null,
      slowest: running.map((row) => runningTrial(row, workforce)),
    };
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function wholeOrNull(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
