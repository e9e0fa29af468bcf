import type { BatchHold } from '../domain/trial.ts';

/** Why a batch launches nothing: it was interrupted, paused or cancelled, or its money is spent. */
export type Halt = 'interrupted' | 'paused' | 'cancelled' | 'spent';

export interface LaunchRequest {
  readonly batch: string;
  /** Workflow to which the trials report; it has them among those in flight. */
  readonly window: string;
  /** Task queue of the trials. */
  readonly taskQueue: string;
  /** At most so many. */
  readonly room: number;
  /** Trials that the window knows to be in flight. */
  readonly inFlight: readonly string[];
}

export interface Launched {
  readonly started: readonly string[];
  /** Nobody is left to be launched. */
  readonly exhausted: boolean;
  /** Null: it may launch more. */
  readonly halt: Halt | null;
}

/** The side effects of a batch. Every one may be repeated. Implemented in `src/activities`, called by `src/workflows/batch.ts`. */
export interface BatchActivities {
  /** For a batch's workflow that begins: what an earlier one had in flight is to be found again. */
  adoptBatch(request: { readonly batch: string }): Promise<void>;
  /** Takes the next trials of the manifest and starts their workflows; one that runs already is joined. */
  launchTrials(request: LaunchRequest): Promise<Launched>;
  /** Which of the trials have ended. One whose workflow is gone without a word is recorded as the harness's trouble. */
  findEnded(request: Omit<LaunchRequest, 'room'>): Promise<readonly string[]>;
  /** Asks everything of the batch that is under way to end. Gives what is. */
  cancelTrials(request: Omit<LaunchRequest, 'room'>): Promise<readonly string[]>;
  controlBatch(request: { readonly batch: string; readonly hold?: BatchHold | null; readonly concurrency?: number }): Promise<void>;
  /**
   * Ends a batch that has nothing in flight. Null: there is something to launch after all.
   */
  endBatch(request: { readonly batch: string; readonly halt: Halt | null }): Promise<BatchEnd | null>;
}

export type BatchEnd = 'finished' | 'interrupted' | 'cancelled';
