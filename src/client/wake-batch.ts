import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { BatchRow } from '../store/store.ts';
import { batchWorkflowId, launchSignal } from '../workflows/batch-messages.ts';

/** Tells the workflow of a batch that something was put into its queue. One that does not run reads the queue when it begins. */
export async function wakeBatch(temporal: Client, { id, options }: Pick<BatchRow, 'id' | 'options'>): Promise<void> {
  try {
    await temporal.workflow.getHandle(batchWorkflowId(id)).signal(launchSignal, { concurrency: options.concurrency });
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
