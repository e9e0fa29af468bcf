import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { attributesOf, eventsOf, type HistoryRun } from './history.ts';

/** Runs that are fetched at most, the last ones: a trial has a few, a batch of many thousand trials some dozens. */
const MAX_RUNS = 200;

/**
 * The runs of a workflow that the server has, the oldest first: those that continued as new, and those of the same id that were started again.
 * Null: it has none. What is younger than some seconds may be missing but for the last run and what it continues.
 */
export async function fetchRuns(temporal: Client, workflow: string): Promise<readonly HistoryRun[] | null> {
  const current = await currentRun(temporal, workflow);
  if (current === null) return null;
  const listed = await startedRuns(temporal, workflow);
  const runs: HistoryRun[] = [];
  for (let next: string | undefined = current; next !== undefined && runs.length < MAX_RUNS; ) {
    const run: HistoryRun | null = await fetchRun(temporal, workflow, next);
    if (run !== null) runs.unshift(run);
    listed.delete(next);
    const before: unknown = run?.events[0] && attributesOf(run.events[0]).continuedExecutionRunId;
    next = typeof before === 'string' && before !== '' ? before : newest(listed);
  }
  return runs;
}

async function currentRun(temporal: Client, workflow: string): Promise<string | null> {
  try {
    return (await temporal.workflow.getHandle(workflow).describe()).runId;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** By the server's own list: when each began. */
async function startedRuns(temporal: Client, workflow: string): Promise<Map<string, number>> {
  const runs = new Map<string, number>();
  if (workflow.includes('"')) return runs;
  for await (const { runId, startTime } of temporal.workflow.list({ query: `WorkflowId = "${workflow}"` })) {
    runs.set(runId, startTime.getTime());
    if (runs.size >= MAX_RUNS) break;
  }
  return runs;
}

function newest(runs: ReadonlyMap<string, number>): string | undefined {
  return [...runs].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** Null: it is gone, its time on the server is over. */
async function fetchRun(temporal: Client, workflow: string, run: string): Promise<HistoryRun | null> {
  try {
    return { run, events: eventsOf(await temporal.workflow.getHandle(workflow, run).fetchHistory()) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
