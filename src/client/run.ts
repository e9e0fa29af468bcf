import type { Root } from '../worker/root.ts';
import type { BatchHandle, RunRequest } from './api.ts';
import { openSuite } from './open-suite.ts';
import { planRun } from './plan-run.ts';
import { readSuite, suiteRequestOf } from './read-suite.ts';
import { queueOf } from '../workflows/messages.ts';
import { type PreparedBatch, startBatch } from './start-batch.ts';

/** Plans a request, resumes the interrupted batch of equal content or makes a new one, and launches it on the root's own task queue. */
export async function run(root: Root, request: RunRequest, broken: Promise<never>): Promise<BatchHandle> {
  const { batch, resumed, maxCost } = await prepareBatch(root, request);
  const taskQueue = batch.options.deployment ? queueOf(root.config.taskQueue, batch) : root.config.taskQueue;
  return startBatch(root, batch, resumed, broken, taskQueue, maxCost);
}

/** The interrupted batch of a request's content, or a new one, with everything stored that its trials need. Nothing runs yet. */
export async function prepareBatch(root: Root, request: RunRequest): Promise<PreparedBatch> {
  const asked = suiteRequestOf(request);
  // On cassettes no world is made, nor one to check tables by.
  const read = request.cassettes ? await readSuite(asked, root) : await openSuite(root, request.suite, request.environmentOptions, asked.agents);
  const { agents, schedules, trials, plan, maxCost } = await planRun(root, read, request);
  await root.store.putDocuments({
    cases: distinct(
      trials.map(({ kase }) => ({ hash: kase.hash, kase: kase.kase })),
      ({ hash }) => hash,
    ),
    agents: agents.map(({ hash, spec }) => ({ hash, spec })),
    schedules: schedules.flatMap((loaded) => (loaded === null ? [] : [{ hash: loaded.hash, schedule: loaded.schedule }])),
  });
  const unfinished = await root.store.unfinishedBatch(plan.manifestHash);
  if (!unfinished) await root.store.createBatch(plan);
  const batch = unfinished ?? (await root.store.batch(plan.id));
  if (!batch) throw new Error(`batch ${plan.id} was stored and cannot be found`);
  // Of a batch that goes on, what it was told meanwhile holds unless the request says otherwise.
  const change = {
    ...(request.concurrency !== undefined && { concurrency: plan.options.concurrency }),
    ...(request.priority !== undefined && { priority: request.priority }),
    ...(request.gates && { gates: request.gates }),
    ...(request.allowMisses && { allowMisses: true as const }),
  };
  return {
    batch: { ...batch, options: { ...batch.options, ...change } },
    resumed: unfinished !== null,
    maxCost,
  };
}

function distinct<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
