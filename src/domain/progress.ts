import type { TrialPhase } from './trial.ts';

/** A batch as the store and its workers know it. */
export type ProgressState = 'running' | 'paused' | 'interrupted' | 'finished' | 'cancelled';

/**
 * Why a trial does not go on.
 *
 * - `turn`: it is to be launched when another has ended
 * - `paused`: its batch is paused, and launches none
 * - `launcher`: nobody launches trials of its batch
 * - `worker`: it was launched, and no worker takes trials of its batch
 * - `world`: its world is being made, or another must be given back first
 * - `approval`: somebody has to decide about a call
 * - `model`: the rate limit of a model
 * - `retry`: the attempt before ended with an infrastructure error, or was put aside, and the next has not begun to act
 */
export type WaitReason = 'turn' | 'paused' | 'launcher' | 'worker' | 'world' | 'approval' | 'model' | 'retry';

/** A trial that has begun and is not done. */
export interface RunningTrial {
  readonly trial: string;
  readonly case: string;
  readonly schedule: string;
  readonly agent: string;
  readonly repetition: number;
  readonly attempt: number;
  readonly phase: TrialPhase;
  /** Null: it goes on. */
  readonly waits: WaitReason | null;
  /** Since its attempt began. */
  readonly seconds: number;
}

/** How many trials of a batch are where. `done + running + waiting = trials`. */
export interface ProgressCounts {
  readonly trials: number;
  /** Those with a result, infrastructure errors and cancelled ones included. */
  readonly done: number;
  /** Those that go on now. */
  readonly running: number;
  /** Those that do not, by why; reasons of none are left out. */
  readonly waiting: number;
  readonly waits: { readonly [why in WaitReason]?: number };
  readonly passed: number;
  readonly failed: number;
  readonly undetermined: number;
  readonly infraErrors: number;
  readonly userErrors: number;
  readonly cancelled: number;
}

/** Where a batch stands: a line of `--json` every so often, and what the live view shows. */
export interface BatchProgress extends ProgressCounts {
  readonly type: 'progress';
  readonly batch: string;
  readonly state: ProgressState;
  /** Since the batch is followed. */
  readonly seconds: number;
  /** Trials that ended a minute, lately; null: none has yet. */
  readonly perMinute: number | null;
  /** Until the last trial ends, at this rate; null where that cannot be told. */
  readonly secondsLeft: number | null;
  /** The trials that run for longest, the longest first; at most {@link MOST_SLOWEST}. */
  readonly slowest: readonly RunningTrial[];
}

/** Trials that a progress event names. */
export const MOST_SLOWEST = 12;

/** How many trials of a batch share a phase, a reason to wait, and an end. */
export interface TrialGroup {
  readonly phase: TrialPhase;
  /** `none`: nobody has launched it; `launched`: it has not begun. */
  readonly attempt: 'none' | 'launched' | 'first' | 'further';
  /** It waits for somebody's decision. */
  readonly asks: boolean;
  /** What its worker says that it waits for. */
  readonly waits: 'model' | null;
  /** Of one that is done: its ending where that is no result, else its judgement. */
  readonly result: 'pass' | 'fail' | 'undetermined' | 'infra_error' | 'user_error' | 'cancelled' | null;
  readonly trials: number;
}

/** Who works on a batch now. */
export interface Workforce {
  readonly state: ProgressState;
  /** Whether anything launches its trials. */
  readonly launches: boolean;
  /** Whether any worker takes them; null: not known. */
  readonly worker: boolean | null;
}

/** Sums groups up, and says why those wait that do. */
export function countTrials(groups: readonly TrialGroup[], workforce: Workforce): ProgressCounts {
  const waits: { [why in WaitReason]?: number } = {};
  const sum = (test: (group: TrialGroup) => boolean): number => groups.reduce((total, group) => total + (test(group) ? group.trials : 0), 0);
  for (const group of groups) {
    const why = waitReason(group, workforce);
    if (why !== null) waits[why] = (waits[why] ?? 0) + group.trials;
  }
  const trials = sum(() => true);
  const done = sum(({ phase }) => phase === 'done');
  const waiting = Object.values(waits).reduce((total, count) => total + count, 0);
  const ended = (result: TrialGroup['result']) => sum((group) => group.phase === 'done' && group.result === result);
  return {
    ...{ trials, done, running: trials - done - waiting, waiting, waits },
    ...{ passed: ended('pass'), failed: ended('fail'), undetermined: ended('undetermined') },
    ...{ infraErrors: ended('infra_error'), userErrors: ended('user_error'), cancelled: ended('cancelled') },
  };
}

/** Why a trial does not go on; null: it does, or is done. */
export function waitReason({ phase, attempt, asks, waits }: Omit<TrialGroup, 'result' | 'trials'>, { state, launches, worker }: Workforce): WaitReason | null {
  if (phase === 'done') return null;
  if (attempt === 'none') return state === 'paused' ? 'paused' : launches ? 'turn' : 'launcher';
  // What is said of a trial was true when its worker last wrote it down.
  if (worker === false || attempt === 'launched') return 'worker';
  if (asks) return 'approval';
  if (waits !== null) return waits;
  if (phase === 'waiting') return attempt === 'further' ? 'retry' : 'world';
  if (phase === 'provision') return attempt === 'further' ? 'retry' : 'world';
  return null;
}

/** Trials a minute over the last while: a minute, or as long as the last twenty took where that is longer. */
export class Rate {
  readonly #samples: { readonly seconds: number; readonly done: number }[] = [];

  /** `seconds`: of a clock that never goes back; `done`: how many are done by then. */
  add(seconds: number, done: number): void {
    // Trials that are begun again are no longer done, and the rate begins again with them.
    if (done < (this.#samples.at(-1)?.done ?? 0)) this.#samples.length = 0;
    this.#samples.push({ seconds, done });
    while (this.#samples[1] && this.#samples[1].seconds <= seconds - WINDOW_SECONDS && done - this.#samples[1].done >= WINDOW_TRIALS) this.#samples.shift();
    // Of a batch that goes slowly there are many samples between two ends, of which only the first and the last say anything.
    const [first, second, third] = this.#samples.slice(-3);
    if (first && second && third && first.done === second.done && second.done === third.done) this.#samples.splice(-2, 1);
  }

  /** Null: none has ended since it was first told. */
  get perMinute(): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.done === first.done || last.seconds - first.seconds < LEAST_SECONDS) return null;
    return ((last.done - first.done) / (last.seconds - first.seconds)) * 60;
  }

  /** How much it keeps. */
  get samples(): number {
    return this.#samples.length;
  }

  /** Until so many more are done. */
  secondsFor(trials: number): number | null {
    const { perMinute } = this;
    return perMinute === null ? null : (trials / perMinute) * 60;
  }
}

const WINDOW_SECONDS = 60;
const WINDOW_TRIALS = 20;
/** What is measured over less says nothing yet. */
const LEAST_SECONDS = 2;
