/** A bare Temporal worker as a process of its own, beside one of ours: gets address, namespace and task queue as its first message, ends with its parent. */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import type { Config } from '../src/worker/config.ts';
import { connectWorker } from '../src/worker/temporal.ts';

process.once('message', ({ temporal, taskQueue, cachedWorkflows }: BareConfig) => {
  const start = async () => {
    const worker = await Worker.create({
      connection: await connectWorker(temporal),
      namespace: temporal.namespace,
      taskQueue,
      workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
      activities: { empty: async () => {} },
      maxCachedWorkflows: cachedWorkflows,
    });
    process.send?.('ready');
    await worker.run();
  };
  void start();
});
process.on('disconnect', () => process.exit(0));

export interface BareConfig {
  readonly temporal: Config['temporal'];
  readonly taskQueue: string;
  readonly cachedWorkflows: number;
}
