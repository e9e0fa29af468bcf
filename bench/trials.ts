/**
 * Trials a second at concurrency 1, 10 and 50, and beside them in the same run a bare workflow with as many empty activities of each kind.
 * Only the ratio says something about this project: both share machine, server and moment. `--json` prints one object.
 */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { run } from '../src/client/run.ts';
import type { Root } from '../src/worker/root.ts';
import { startTrialWorker } from '../src/worker/trial-worker.ts';
import { connectWorker } from '../src/worker/temporal.ts';
import { onOwnServices } from './own-services.ts';

interface Row {
  readonly concurrency: number;
  readonly trials: number;
  readonly trialsPerSecond: number;
  readonly barePerSecond: number;
  /** Bare workflows a second over trials a second: what a trial costs in bare workflows. */
  readonly ratio: number;
}

await onOwnServices(async (root) => {
  const rows: Row[] = [];
  {
    await using _worker = await startTrialWorker(root);
    // Warms the pool, the bundle and the server.
    await trials(root, 10, 1);
    for (const concurrency of [1, 10, 50]) {
      const repetitions = concurrency === 1 ? 1 : concurrency === 10 ? 4 : 8;
      const { count, seconds, ordinary, local } = await trials(root, concurrency, repetitions);
      const bareSeconds = await bareWorkflows(root, count, concurrency, ordinary, local);
      rows.push({
        concurrency,
        trials: count,
        trialsPerSecond: round(count / seconds),
        barePerSecond: round(count / bareSeconds),
        ratio: round(seconds / bareSeconds),
      });
    }
  }
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ rows })}\n`);
  else process.stdout.write(`${table(rows)}\n`);
});

async function trials(root: Root, concurrency: number, repetitions: number) {
  const startedAt = performance.now();
  const handle = await run(root, { suite: 'support-desk', agents: ['reference'], trials: repetitions, concurrency, keep: 'never' }, new Promise(() => {}));
  const summary = await handle.result();
  const seconds = (performance.now() - startedAt) / 1000;
  if (summary.passed !== summary.trials)
    throw new Error(`${summary.trials - summary.passed} of ${summary.trials} reference trials did not pass; the figures would mean nothing`);
  const [first] = await root.store.trials(handle.id);
  const { ordinary, local } = await activitiesOf(root, first?.id ?? '');
  return { count: summary.trials, seconds, ordinary, local };
}

/** How many activities a trial's history holds. */
async function activitiesOf(root: Root, workflowId: string): Promise<{ ordinary: number; local: number }> {
  const { events } = await root.temporal.workflow.getHandle(workflowId).fetchHistory();
  const markers = events?.filter((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity') ?? [];
  return { ordinary: events?.filter((event) => event.activityTaskScheduledEventAttributes).length ?? 0, local: markers.length };
}

async function bareWorkflows(root: Root, count: number, concurrency: number, ordinary: number, local: number): Promise<number> {
  const connection = await connectWorker(root.config.temporal);
  const taskQueue = 'trialbed-bench-bare';
  const worker = await Worker.create({
    connection,
    namespace: root.config.temporal.namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
    activities: { empty: async () => {} },
    maxCachedWorkflows: root.config.worker.cachedWorkflows,
  });
  const seconds = await worker.runUntil(async () => {
    const startedAt = performance.now();
    const ids = Array.from({ length: count }, (_none, index) => `bare-${startedAt}-${index}`);
    const lanes = Array.from({ length: concurrency }, async () => {
      for (let workflowId = ids.shift(); workflowId; workflowId = ids.shift()) {
        await root.temporal.workflow.execute('bare', { workflowId, taskQueue, args: [ordinary, local] });
      }
    });
    await Promise.all(lanes);
    return (performance.now() - startedAt) / 1000;
  });
  await connection.close();
  return seconds;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function table(rows: readonly Row[]): string {
  const head = ['in flight', 'trials', 'trials/s', 'bare/s', 'ratio'];
  const lines = rows.map((row) => [row.concurrency, row.trials, row.trialsPerSecond, row.barePerSecond, row.ratio].map(String));
  return [head, ...lines].map((cells) => cells.map((cell) => cell.padStart(10)).join('')).join('\n');
}
