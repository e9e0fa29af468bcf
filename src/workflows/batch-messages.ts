import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BatchHold } from '../domain/trial.ts';

/** Id of a batch's workflow: the batch's own, so that launching twice starts one. */
export function batchWorkflowId(batch: string): string {
  return batch;
}

/** Id of a further window of a batch, from 1. */
export function windowId(batch: string, number: number): string {
  return `${batch}.window-${number}`;
}

/** Trials of which nothing more is to come, by id. Sent by the activity that recorded their ends. */
export const trialsEndedSignal = defineSignal<[trials: readonly string[]]>('trials_ended');

/** Begins or goes on with a batch as the store has it now. Sent with the start, so that a workflow that runs and one that has to be started are reached alike. */
export const launchSignal = defineSignal<[{ readonly concurrency: number }]>('launch');

/** To a further window: how many it may have in flight from now on. With 0 it ends when its trials have. */
export const shareSignal = defineSignal<[share: number]>('share');

/** To a further window: everything that it has in flight is to end. */
export const cancelWindowSignal = defineSignal('cancel_window');

/** From a further window to its batch: it has ended. */
export const windowEndedSignal = defineSignal<[window: string]>('window_ended');

/** Launches nothing until it is resumed. The validator refuses what would change nothing, with the reason. */
export const pauseUpdate = defineUpdate<BatchStatus>('pause');
export const resumeUpdate = defineUpdate<BatchStatus>('resume');
/** Trials in flight from now on. Those beyond it are not stopped. */
export const concurrencyUpdate = defineUpdate<BatchStatus, [concurrency: number]>('concurrency');
/** Launches nothing more and cancels what is in flight, which is graded as far as it came. */
export const cancelUpdate = defineUpdate<BatchStatus>('cancel');

/** Type of the failure with which an update is refused that would change nothing. */
export const BATCH_REFUSED = 'BatchRefused';

export const batchStatusQuery = defineQuery<BatchStatus>('status');

/** Where a batch's workflow stands. */
export interface BatchStatus {
  readonly hold: BatchHold | null;
  readonly concurrency: number;
  /** Trials that it has launched and not heard of again. Those of further windows are not counted. */
  readonly inFlight: number;
}

/** Input of a batch's workflow. What the batch is made of lies in the store: no list of trials is in it but those in flight. */
export interface BatchInput {
  readonly batch: string;
  readonly concurrency: number;
  readonly settings: BatchSettings;
  /** From the run before. */
  readonly carried?: {
    readonly inFlight: readonly string[];
    readonly hold: BatchHold | null;
    readonly exhausted: boolean;
    readonly windows: readonly { readonly number: number; readonly share: number }[];
    readonly nextWindow: number;
  };
}

/** Input of a further window of a batch. */
export interface WindowInput {
  readonly batch: string;
  readonly number: number;
  readonly share: number;
  readonly settings: BatchSettings;
  /** From the run before. */
  readonly carried?: { readonly inFlight: readonly string[]; readonly exhausted: boolean };
}

export interface BatchSettings {
  /** Milliseconds between two looks for trials that ended without a word. */
  readonly reconcileMs: number;
  /** Trials in flight of one workflow; beyond it, a batch has further windows. */
  readonly windowSize: number;
  /** Ends of trials that one run of a workflow hears of before it continues as new, where Temporal does not suggest it earlier. */
  readonly endsPerRun: number;
}

/** With 500 trials in flight a workflow hears of some dozens a second, and what it carries over stays at a few kilobytes. */
export const BATCH_SETTINGS: BatchSettings = { reconcileMs: 30_000, windowSize: 500, endsPerRun: 2_000 };
