import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Money } from '../domain/model.ts';
import type { Ending } from '../domain/verdict.ts';
import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import { type BatchRow, type Store, StoreConflictError, type TrialRow } from '../store/store.ts';
import type { trial as trialWorkflow } from '../workflows/trial.ts';
import { SEARCH_ATTRIBUTES, type TrialInput, WORKFLOW_TASK_TIMEOUT } from '../workflows/messages.ts';
import type { BatchEvent, BatchHandle } from './api.ts';
import { CostLimit } from './cost-limit.ts';
import { EventQueue } from './event-queue.ts';
import { Patience } from './patiently.ts';
import { summarise } from './summarise.ts';
import { watchBatch } from './watch-batch.ts';

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
  readonly worlds: () => Promise<{ readonly leased: number }>;
}

/** Runs the trials of a batch that are not done, so many at a time, and reports each. Launching twice starts nothing twice: the workflow's id is the trial's. */
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
      stop.abort();
      await store.setBatchState(batch.id, 'interrupted').catch((error: unknown) => {
        // It came to its end at the same moment.
        if (!(error instanceof StoreConflictError)) throw error;
      });
    },
  };
}

async function runBatch(options: LaunchOptions, events: EventQueue<BatchEvent>, stop: AbortSignal): Promise<BatchSummary> {
  const { store, batch, resumed } = options;
  const startedAt = performance.now();
  const patience = new Patience((outage) => events.push({ type: 'outage', outage }));
  await using _driving = await patience.wait(() => store.drive(batch.id));
  await store.setBatchState(batch.id, 'running');
  const all = await store.trials(batch.id);
  const pending = all.filter((row) => !isDone(row.summary));
  events.push({ type: 'batch', batch: batch.id, suite: batch.suite, trials: all.length, done: all.length - pending.length, resumed });
  const watch = watchBatch({ store, batch, events, patience, workforce: async () => ({ state: 'running', launches: true, worker: null }) });
  const money = new CostLimit(store, batch.id, options.maxCost);
  const ended = new AbortController();
  const over = AbortSignal.any([stop, ended.signal]);
  try {
    const queue = pending.values();
    const lanes = Array.from({ length: Math.min(batch.options.concurrency, pending.length) }, async () => {
      for (const row of queue) {
        // One that was launched before is waited for, whatever it costs.
        if (over.aborted || (row.attempt === 0 && !(await money.permits()))) return;
        const summary = await untilStopped(runTrial(options, row, patience), over);
        if (summary) events.push(summary);
      }
    });
    await Promise.race([Promise.all(lanes), options.broken]);
  } finally {
    // One lane's error ends the batch: the others must start nothing more.
    ended.abort();
    watch[Symbol.dispose]();
  }
  // Nobody waits for a batch that was interrupted.
  const insist: Patience['wait'] = stop.aborted ? (work) => work() : (work) => patience.wait(work);
  const rows = await insist(() => store.trials(batch.id));
  const finished = rows.every((row) => isDone(row.summary) || row.summary?.ending === 'infra_error' || row.summary?.ending === 'cancelled');
  if (finished && !stop.aborted) await insist(() => store.setBatchState(batch.id, 'finished'));
  const seconds = (performance.now() - startedAt) / 1000;
  const stopped = money.stopped(rows);
  if (stopped.stopped && !stop.aborted) await insist(() => store.setBatchState(batch.id, 'interrupted'));
  const summary = { ...(await insist(async () => summarise(store, batch, seconds, await options.worlds()))), ...stopped };
  events.push(summary);
  return summary;
}

/** Starts the trial's workflow, or joins the one that runs, and waits for its summary. */
async function runTrial({ temporal, store, taskQueue, batch }: LaunchOptions, row: TrialRow, patience: Patience): Promise<TrialSummary> {
  const startedAt = Date.now();
  const attempts = await patience.wait(() => store.attempts(row.id));
  const input: TrialInput = {
    trial: row.id,
    batch: batch.id,
    case: row.caseId,
    agent: row.agentName,
    firstAttempt: attempts.length + 1,
    retries: batch.options.retries,
  };
  const start = () =>
    temporal.workflow.start<typeof trialWorkflow>('trial', {
      workflowId: row.id,
      taskQueue,
      args: [input],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: [
        { key: SEARCH_ATTRIBUTES.batch, value: batch.id },
        { key: SEARCH_ATTRIBUTES.case, value: row.caseId },
        { key: SEARCH_ATTRIBUTES.agent, value: row.agentName },
      ],
      staticSummary: [row.caseId, ...(row.scheduleHash === null ? [] : [row.schedule]), row.agentName, row.repetition].join(' / '),
      staticDetails: `Trial ${row.id} of batch ${batch.id}, suite ${batch.suite}.`,
    });
  const handle = await patience.wait(start).catch((error: unknown) => {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return temporal.workflow.getHandle<typeof trialWorkflow>(row.id);
    throw error;
  });
  try {
    return await patience.wait(() => handle.result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError) && !(error instanceof WorkflowNotFoundError)) throw error;
    return patience.wait(() => recordBroken(store, row, batch.id, error, Date.now() - startedAt));
  }
}

/** A workflow that was terminated, timed out or failed recorded nothing itself; the trial must still be counted, and as the harness's trouble. */
async function recordBroken(store: Store, row: TrialRow, batch: string, error: Error, durationMs: number): Promise<TrialSummary> {
  const current = await store.trial(row.id);
  if (current?.summary && isDone(current.summary)) return current.summary;
  const cause = error.cause instanceof Error ? error.cause : error;
  const ending: Ending = cause.name === 'CancelledFailure' ? 'cancelled' : 'infra_error';
  const attempt = Math.max(1, (await store.attempts(row.id)).length);
  const summary: TrialSummary = {
    type: 'trial',
    trial: row.id,
    batch,
    case: row.caseId,
    schedule: row.schedule,
    agent: row.agentName,
    repetition: row.repetition,
    attempt,
    ending,
    pass: null,
    outcome: null,
    constraints: null,
    effects: null,
    why: `the trial's workflow ended without a result: ${cause.message}`,
    calls: 0,
    durationMs,
    disturbed: false,
    snapshot: null,
  };
  await store.beginAttempt(row.id, attempt, new Date().toISOString());
  await store.finishAttempt(row.id, attempt, summary, new Date().toISOString());
  return summary;
}

/** A trial whose result counts. One that the harness broke or somebody cancelled is run again when its batch is resumed. */
export function isDone(summary: TrialSummary | null): boolean {
  return summary !== null && summary.ending !== 'infra_error' && summary.ending !== 'cancelled';
}

async function untilStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T | null> {
  // After an interruption nobody waits for the trial: it goes on by itself, and its end belongs to the batch that resumes.
  work.catch(() => {});
  const stopped = Promise.withResolvers<null>();
  const onAbort = () => stopped.resolve(null);
  if (stop.aborted) return null;
  stop.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    stop.removeEventListener('abort', onAbort);
  }
}
