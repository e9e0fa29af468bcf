import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Money } from '../domain/model.ts';
import type { BatchSummary } from '../domain/trial.ts';
import { type BatchRow, type Store, StoreConflictError } from '../store/store.ts';
import type { batch as batchWorkflow } from '../workflows/batch.ts';
import { type BatchSettings, batchWorkflowId } from '../workflows/batch-messages.ts';
import { type BatchEvent, type BatchHandle, ClosedError } from './api.ts';
import { EventQueue } from './event-queue.ts';
import { Follower } from './follow.ts';
import { Patience } from './patiently.ts';
import { startWorkflow } from './start-workflow.ts';
import type { WorldCounts } from './world-counts.ts';

/** How long the workflow may take to end after its batch has. */
const ENDS_MS = 5_000;
const AGAIN_MS = 1_000;
/** How long an interrupted batch may take to be counted. */
const INTERRUPTED_MS = 5_000;

export interface LaunchOptions {
  readonly store: Store;
  readonly temporal: Client;
  readonly taskQueue: string;
  readonly batch: BatchRow;
  readonly resumed: boolean;
  /** Nothing is launched once models have cost so much; null: no limit. */
  readonly maxCost: Money | null;
  /** Raised when nothing runs the batch's trials any more (the worker ended); rejects the batch with its reason. */
  readonly broken: Promise<never>;
  readonly worlds: () => Promise<WorldCounts>;
  readonly now: () => Date;
  /** Of the batch's workflow, where it does not run yet. */
  readonly settings?: Partial<BatchSettings>;
}

/** The workflow of the batch was terminated or failed: nothing launches its trials any more. Those under way go on. */
export class BatchBrokenError extends Error {
  override readonly name = 'BatchBrokenError';
  readonly code = 'batch_broken';
}

/**
 * Starts the workflow of a batch, or joins the one that runs, and follows it in the store. This process may end at any time: the workflow goes on wherever its queue is served,
 * and launching again joins it.
 */
export function launch(options: LaunchOptions): BatchHandle {
  const { batch, store, resumed } = options;
  const events = new EventQueue<BatchEvent>();
  const stop = new AbortController();
  const result = runBatch(options, events, stop.signal).finally(() => events.close());
  // The reader of `result` sees the error; a reader of the events alone must not crash the process.
  result.catch(() => {});
  return {
    id: batch.id,
    resumed,
    events: () => events,
    result: () => result,
    async interrupt() {
      // The workflow asks the store before it launches anything.
      try {
        await store.setBatchState(batch.id, 'interrupted');
      } catch (error) {
        // It came to its end at the same moment.
        if (!(error instanceof StoreConflictError)) throw error;
      } finally {
        stop.abort();
      }
    },
  };
}

async function runBatch(options: LaunchOptions, events: EventQueue<BatchEvent>, stop: AbortSignal): Promise<BatchSummary> {
  const { store, temporal, batch, maxCost, resumed, worlds, now, broken } = options;
  const patience = new Patience((outage) => events.push({ type: 'outage', outage }));
  await using _driving = await patience.wait(() => store.drive(batch.id));
  await patience.wait(() => store.reopenBatch(batch.id, { options: batch.options, maxCost }));
  await patience.wait(() => startWorkflow(options));
  const left = new AbortController();
  const over = new AbortController();
  const mayHaveEnded = AbortSignal.any([stop, over.signal]);
  // What ends without its end in the store launches nothing more until it is resumed.
  const orInterrupted = (work: Promise<never>) =>
    work.catch(async (error: unknown) => {
      await store.setBatchState(batch.id, 'interrupted').catch(() => undefined);
      throw error;
    });
  const workflow = untilWorkflowEnds({ temporal, batch: batch.id, patience, over, left: left.signal });
  const ended = new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve(), { once: true }));
  const follower = new Follower({ store, temporal, batch, resumed, mayHaveEnded, worlds, now, patience }, events, left.signal);
  try {
    const summary = await Promise.race([follower.toEnd(), orInterrupted(Promise.race([broken, workflow])), tooLate(stop)]);
    // Its worker must not end in the middle of its last step.
    if (!stop.aborted) await Promise.race([ended, sleep(ENDS_MS, undefined, { ref: false })]);
    return summary;
  } finally {
    left.abort(new ClosedError('the batch is not followed any more'));
  }
}

/** Nobody waits long for a batch that was interrupted, whatever is away. */
async function tooLate(stop: AbortSignal): Promise<never> {
  await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
  await sleep(INTERRUPTED_MS, undefined, { ref: false });
  throw new ClosedError('the batch was interrupted');
}

/** Raises `over` whenever a run of the batch's workflow has come to its end; another one may follow. @throws {BatchBrokenError} */
async function untilWorkflowEnds(options: {
  readonly temporal: Client;
  readonly batch: string;
  readonly patience: Patience;
  readonly over: AbortController;
  readonly left: AbortSignal;
}): Promise<never> {
  const { temporal, batch, patience, over, left } = options;
  for (;;) {
    const handle = temporal.workflow.getHandle<typeof batchWorkflow>(batchWorkflowId(batch));
    try {
      await patience.wait(() => temporal.withAbortSignal(left, () => handle.result()));
    } catch (error) {
      if (left.aborted) return await new Promise<never>(() => {});
      if (error instanceof WorkflowFailedError)
        throw new BatchBrokenError(
          `the workflow of batch ${batch} ended before its batch: ${error.cause instanceof Error ? error.cause.message : error.message}; trials under way go on, and the same command goes on with the rest`,
          { cause: error },
        );
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    over.abort();
    await sleep(AGAIN_MS, undefined, { ref: false });
  }
}
