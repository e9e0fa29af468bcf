import type { TrialSummary } from '../domain/trial.ts';
import { trialState } from '../report/matrix.ts';

const SOON_SECONDS = 30;
const LATER_SECONDS = 300;
/** Whoever reads a log of hours wants fewer lines of how far it is. */
const LATER_FROM_SECONDS = 600;

/** When it is time for another line about where a batch stands: every half minute, later every five minutes. */
export class Tick {
  #next = SOON_SECONDS;

  due(seconds: number): boolean {
    if (seconds < this.#next) return false;
    this.#next = seconds + (seconds < LATER_FROM_SECONDS ? SOON_SECONDS : LATER_SECONDS);
    return true;
  }
}

/** A batch of no more trials has a line for each. */
const SMALL_BATCH = 200;
/** Of a larger one, so many that did not pass. */
const MOST_LINES = 100;

/** Which trials have a line of their own when they end: a batch of ten thousand has not ten thousand lines. */
export class EndLines {
  readonly #all: boolean;
  #lines = 0;

  constructor(trials: number) {
    this.#all = trials <= SMALL_BATCH;
  }

  /** `last`: no more will come. */
  shows(trial: TrialSummary): 'line' | 'last' | 'nothing' {
    if (this.#all) return 'line';
    if (trialState(trial) === 'pass' || this.#lines > MOST_LINES) return 'nothing';
    this.#lines++;
    return this.#lines > MOST_LINES ? 'last' : 'line';
  }
}
