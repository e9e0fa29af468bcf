import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { historyOf } from './history.ts';

/** EXCLUDE of signals and updates: what came after the point is not told again. */
const EXCLUDED = [1, 2];

/** A run of Temporal's own, which goes on from a workflow task of the one that is wedged. */
export interface TemporalReset {
  readonly run: string;
  readonly event: number;
}

/** Whether a trial's workflow stands still since its workflow task fails again and again. */
export async function isWedged(temporal: Client, trial: string): Promise<boolean> {
  const { raw, status } = await temporal.workflow.getHandle(trial).describe();
  return status.name === 'RUNNING' && (raw.pendingWorkflowTask?.attempt ?? 0) > 1;
}

/**
 * Has Temporal go on with a wedged trial from its last workflow task at or before an event. Only where no operation was admitted after it: what an operation did stands
 * in the world, and would be done again. Nor a turn or a decision, of which whoever sent it knows that it counts. Null: one was, or there is no such task.
 */
export async function resetByTemporal(
  temporal: Client,
  trial: string,
  { event, reason }: { readonly event: number | null; readonly reason: string },
): Promise<TemporalReset | null> {
  const { marks, events, run } = await historyOf(temporal, trial);
  const last = marks.filter((mark) => mark.what === 'boundary' && mark.event <= (event ?? events)).at(-1);
  if (!last || marks.some((mark) => mark.what === 'admitted' && mark.event > last.event)) return null;
  const { runId } = await temporal.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId: trial, runId: run },
    reason,
    workflowTaskFinishEventId: last.id ?? null,
    requestId: randomUUID(),
    resetReapplyExcludeTypes: EXCLUDED,
  });
  return { run: runId, event: last.event };
}
