import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { nearestName } from '../domain/text/nearest.ts';
import type { BatchHold, TrialSummary } from '../domain/trial.ts';
import type { BatchRow, BatchState } from '../store/store.ts';
import type { Root } from '../worker/root.ts';
import { BATCH_REFUSED, type BatchStatus, batchWorkflowId, cancelUpdate, concurrencyUpdate, pauseUpdate, resumeUpdate } from '../workflows/batch-messages.ts';
import { NotFoundError } from './api.ts';
import { cancelTrial } from './cancel-trial.ts';
import { ControlRefusedError, ControlUnansweredError } from './control-errors.ts';
import { asTheyAre } from './driven.ts';
import type { Pollers } from './pollers.ts';
import { orStart, startWorkflow } from './start-workflow.ts';

/** A worker that runs answers at once. */
const ANSWER_MS = 60_000;
/** What is in flight is graded before a cancelled batch ends. */
const ENDS_MS = 5 * 60_000;
const STARTS_MS = 5_000;
const POLL_MS = 200;
/** Ids that are looked through for one that was meant. */
const RECENT = 200;

/** What became of a request to steer a batch. */
export interface ControlReceipt {
  readonly batch: string;
  readonly state: BatchState;
  readonly hold: BatchHold | null;
  /** Trials that it may have in flight. */
  readonly concurrency: number;
  /** Trials in flight when it was answered; null: nobody was there to count. */
  readonly inFlight: number | null;
  /** Some process runs the batch's trials or its command. */
  readonly served: boolean;
}

/** What became of a request to cancel a batch or a trial. */
export type CancelReceipt = ({ readonly what: 'batch' } & ControlReceipt) | { readonly what: 'trial'; readonly batch: string; readonly summary: TrialSummary };

/** What steering needs beside the root. */
export interface Steering {
  readonly taskQueueOf: (batch: BatchRow) => string;
  readonly pollers: Pollers;
  /** A worker for a batch that nobody runs; it ends when it is disposed. */
  readonly worker: (batch: BatchRow) => Promise<AsyncDisposable>;
}

/** Steers batches that run, in whatever process: the one who asks learns whether it counted. */
export class Control {
  private readonly root: Pick<Root, 'store' | 'temporal'>;
  private readonly steering: Steering;

  constructor(root: Pick<Root, 'store' | 'temporal'>, steering: Steering) {
    this.root = root;
    this.steering = steering;
  }

  async pause(id: string): Promise<ControlReceipt> {
    const batch = await this.running(id, 'launches nothing now');
    return this.receipt(id, await this.tell(batch, (handle) => handle.executeUpdate(pauseUpdate)));
  }

  async setConcurrency(id: string, concurrency: number): Promise<ControlReceipt> {
    const batch = await this.running(id, 'takes the number of the command that goes on with it');
    return this.receipt(id, await this.tell(batch, (handle) => handle.executeUpdate(concurrencyUpdate, { args: [concurrency] })));
  }

  /** Goes on with a batch that is paused, and with one that was interrupted. */
  async resume(id: string, { priority }: { readonly priority?: number } = {}): Promise<ControlReceipt> {
    const { store, temporal } = this.root;
    const found = await this.unended(id);
    if (found.state === 'running' && found.hold === null) throw new ControlRefusedError(`batch ${id} runs already`);
    const batch = priority === undefined ? found : { ...found, options: { ...found.options, priority } };
    if (priority !== undefined) await store.setControl(id, { priority });
    if (batch.state === 'running') return this.receipt(id, await this.tell(batch, (handle) => handle.executeUpdate(resumeUpdate)));
    await store.reopenBatch(id, { options: batch.options, maxCost: batch.maxCost });
    await store.setControl(id, { hold: null });
    await startWorkflow({ temporal, batch, taskQueue: this.steering.taskQueueOf(batch) });
    return this.receipt(id, null);
  }

  /** Ends a batch, or one trial. What is in flight is graded as far as it came; a worker is started for it where nobody runs the batch. */
  async cancel(id: string): Promise<CancelReceipt> {
    const { store, temporal } = this.root;
    const trial = (await store.batch(id)) ? null : await store.trial(id);
    const batch = await this.unended(trial?.batch ?? id, trial ? 'trial' : 'batch or trial');
    const driven = (await store.driven([batch.id])).has(batch.id);
    await using _worker = driven ? null : await this.steering.worker(batch);
    if (trial) return { what: 'trial', batch: batch.id, summary: await cancelTrial(this.root, trial) };
    const options = { temporal, batch, taskQueue: this.steering.taskQueueOf(batch) };
    const status = await this.tell(batch, () => temporal.workflow.executeUpdateWithStart(cancelUpdate, { startWorkflowOperation: orStart(options) }));
    const deadline = Date.now() + ENDS_MS;
    while (Date.now() < deadline && (await store.standing(id))?.state !== 'cancelled') await pause(POLL_MS);
    return { what: 'batch', ...(await this.receipt(id, status)) };
  }

  private async unended(id: string, what = 'batch'): Promise<BatchRow> {
    const batch = await this.root.store.batch(id);
    if (!batch) throw new NotFoundError(await this.notFound(id, what));
    if (batch.state === 'finished' || batch.state === 'cancelled') throw new ControlRefusedError(`batch ${id} is ${batch.state} and stays so`);
    const [found = batch] = await asTheyAre(this.root.store, [batch], this.steering.pollers);
    return found;
  }

  private async running(id: string, otherwise: string): Promise<BatchRow> {
    const batch = await this.unended(id);
    if (batch.state === 'running') return batch;
    throw new ControlRefusedError(`batch ${id} is ${batch.state} and ${otherwise}; run its own command again, or "trialbed resume ${id}"`);
  }

  private async notFound(id: string, what: string): Promise<string> {
    const known = (await this.root.store.batches({ limit: RECENT })).map((batch) => batch.id);
    const near = nearestName(id, known);
    return `there is no ${what} ${id}${near === null ? '' : `; did you mean ${near}?`}; \`trialbed ps\` lists batches`;
  }

  private async tell(batch: BatchRow, update: (handle: ReturnType<Root['temporal']['workflow']['getHandle']>) => Promise<BatchStatus>): Promise<BatchStatus> {
    const { temporal } = this.root;
    try {
      return await this.onceThere(batch.id, () =>
        temporal.withDeadline(Date.now() + ANSWER_MS, () => update(temporal.workflow.getHandle(batchWorkflowId(batch.id)))),
      );
    } catch (error) {
      const cause = error instanceof WorkflowUpdateFailedError ? error.cause : null;
      if (cause instanceof ApplicationFailure && cause.type === BATCH_REFUSED)
        throw new ControlRefusedError(`batch ${batch.id}: ${cause.message}`, { cause: error });
      if (error instanceof WorkflowNotFoundError)
        throw new ControlRefusedError(`batch ${batch.id} has just ended, or nobody runs it; "trialbed ps" shows how it stands`, { cause: error });
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
        throw new ControlUnansweredError(
          `batch ${batch.id}: no worker answered within ${ANSWER_MS / 1000} s, so it is not known whether the request counts; run the batch's own command again, or "trialbed worker"`,
          { cause: error },
        );
      throw error;
    }
  }

  /** The command that runs a batch says so a moment before it has started its workflow. */
  private async onceThere<T>(id: string, work: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + STARTS_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError) || Date.now() > deadline || (await this.root.store.standing(id))?.state !== 'running') throw error;
        await pause(POLL_MS);
      }
    }
  }

  private async receipt(id: string, status: BatchStatus | null): Promise<ControlReceipt> {
    const { store } = this.root;
    const [standing, driven] = await Promise.all([store.standing(id), store.driven([id])]);
    if (!standing) throw new NotFoundError(`batch ${id} is not in the store any more`);
    const { state, hold, options } = standing;
    return {
      batch: id,
      state,
      hold,
      concurrency: options.concurrency,
      inFlight: status?.inFlight ?? null,
      served: driven.has(id) || (await this.steering.pollers.serve({ id, options })) === true,
    };
  }
}
