import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { BatchRow } from '../store/store.ts';
import type { batch as batchWorkflow } from '../workflows/batch.ts';
import { BATCH_SETTINGS, type BatchInput, type BatchSettings, batchWorkflowId, launchSignal } from '../workflows/batch-messages.ts';
import { SEARCH_ATTRIBUTES, WORKFLOW_TASK_TIMEOUT } from '../workflows/messages.ts';

export interface StartWorkflowOptions {
  readonly temporal: Client;
  readonly taskQueue: string;
  readonly batch: BatchRow;
  /** Of a workflow that does not run yet. */
  readonly settings?: Partial<BatchSettings>;
}

/** Starts the workflow of a batch, or tells the one that runs to go on as the store has the batch now. Doing it twice does no more. */
export async function startWorkflow(options: StartWorkflowOptions): Promise<void> {
  const { concurrency } = options.batch.options;
  await options.temporal.workflow.signalWithStart<typeof batchWorkflow, [{ readonly concurrency: number }]>('batch', {
    ...startOptions(options),
    signal: launchSignal,
    signalArgs: [{ concurrency }],
  });
}

/** The same start, for an update that reaches a workflow that runs and one that has to be started alike. */
export function orStart(options: StartWorkflowOptions): WithStartWorkflowOperation<typeof batchWorkflow> {
  return new WithStartWorkflowOperation<typeof batchWorkflow>('batch', startOptions(options));
}

function startOptions({ taskQueue, batch, settings }: StartWorkflowOptions) {
  const input: BatchInput = { batch: batch.id, concurrency: batch.options.concurrency, settings: { ...BATCH_SETTINGS, ...settings } };
  return {
    workflowId: batchWorkflowId(batch.id),
    taskQueue,
    args: [input] as [BatchInput],
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    // Before those of its trials, which are on the same queue: what it has to do is short, and they wait for it.
    priority: { priorityKey: 1 },
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.batch, value: batch.id }],
    staticSummary: `batch / ${batch.suite}`,
    staticDetails: `Batch ${batch.id} of suite ${batch.suite}, ${batch.trials} trials.`,
  };
}
