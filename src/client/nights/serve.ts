import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { KeyRing } from '../../keys/key-ring.ts';
import { loadBundle } from '../../worker/bundle.ts';
import { readVariables } from '../../worker/config.ts';
import { dataConverterFor } from '../../worker/data-converter.ts';
import type { Root } from '../../worker/root.ts';
import { connectWorker } from '../../worker/temporal.ts';
import { nightQueue } from '../../workflows/night-messages.ts';
import { nightActivities, type NightServices } from './activities.ts';
import { createTeller } from './tell.ts';
import { findMissed } from './watch.ts';

/** How often it is looked whether a night has not begun that was due. */
const LOOK_MS = 60_000;

/** Takes nights of schedules of this task queue, and looks for those that never began, until it is disposed. */
export async function serveNights(root: Root, bed: NightServices['bed']): Promise<AsyncDisposable> {
  const { config, log } = root;
  await using stack = new AsyncDisposableStack();
  const connection = await connectWorker(config.temporal);
  stack.defer(() => connection.close());
  const ring = new KeyRing(config.keys);
  const tell = createTeller(readVariables);
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    dataConverter: dataConverterFor(ring),
    taskQueue: nightQueue(config.taskQueue),
    workflowBundle: await loadBundle(config.home, { sealed: ring.current !== null }),
    activities: { ...nightActivities({ root, bed, tell }) },
    maxConcurrentActivityTaskExecutions: 20,
    maxConcurrentWorkflowTaskExecutions: 5,
    shutdownGraceTime: '5 seconds',
  });
  const running = worker.run().catch((error: unknown) => log.error({ err: error }, 'nights are not served any more'));
  stack.defer(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  });
  const over = new AbortController();
  const looking = lookForMissed(root, tell, over.signal);
  stack.defer(async () => {
    over.abort();
    await looking;
  });
  return stack.move();
}

async function lookForMissed(root: Root, tell: ReturnType<typeof createTeller>, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await findMissed(root, tell, new Date()).catch((error: unknown) => root.log.debug({ err: error }, 'it could not be looked whether a night was missed'));
    await sleep(LOOK_MS, undefined, { signal: over }).catch(() => undefined);
  }
}
