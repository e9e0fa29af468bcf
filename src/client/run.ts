import type { BatchOptions } from '../store/store.ts';
import type { Suite } from '../suite/suite.ts';
import type { Root } from '../worker/root.ts';
import type { BatchHandle, RunRequest } from './api.ts';
import { requireAccess, requirePrices } from './agent-access.ts';
import { onlyLastFailed } from './last-failed.ts';
import { openSuite } from './open-suite.ts';
import { planBatch } from './plan.ts';
import { suiteRequestOf } from './read-suite.ts';
import { selectCases, selectShard, trialsOf } from './select.ts';
import { selectSchedules } from './select-schedules.ts';
import { type PreparedBatch, startBatch } from './start-batch.ts';

const DEFAULT_CONCURRENCY = 8;
const RETRIES = 2;

/** Plans a request, resumes the interrupted batch of equal content or makes a new one, and launches it on the root's own task queue. */
export async function run(root: Root, request: RunRequest, broken: Promise<never>): Promise<BatchHandle> {
  const { batch, resumed, maxCost } = await prepareBatch(root, request);
  return startBatch(root, batch, resumed, broken, root.config.taskQueue, maxCost);
}

/** The interrupted batch of a request's content, or a new one, with everything stored that its trials need. Nothing runs yet. */
export async function prepareBatch(root: Root, request: RunRequest): Promise<PreparedBatch> {
  const { suite, environment, agents } = await openSuite(root, request.suite, request.environmentOptions, suiteRequestOf(request).agents);
  requireAccess(agents, optionsOf(request, suite.defaults).isolation);
  const maxCost = request.maxCost ?? suite.defaults.maxCost ?? null;
  requirePrices(agents, maxCost);
  const cases = selectCases(suite.cases, request);
  const schedules = selectSchedules(suite, cases, request);
  const trialsFor = (repetitions: number) => trialsOf(cases, schedules, agents, repetitions);
  const chosen = request.lastFailed
    ? await onlyLastFailed(root.store, suite.name, trialsFor, request.trials)
    : trialsFor(request.trials ?? suite.defaults.trials);
  const trials = selectShard(chosen, request.shard);
  const plan = await planBatch({
    suite,
    environment,
    trials,
    options: optionsOf(request, suite.defaults),
    seed: request.seed ?? null,
  });
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
  return {
    // Of a batch that goes on, what it was told meanwhile holds unless the request says otherwise.
    batch: { ...batch, options: { ...batch.options, concurrency: request.concurrency === undefined ? batch.options.concurrency : plan.options.concurrency } },
    resumed: unfinished !== null,
    maxCost,
  };
}

function optionsOf(request: RunRequest, { addresses, unverified }: Suite['defaults']): BatchOptions {
  return {
    isolation: request.isolation ?? 'schema',
    keep: request.keep ?? 'failed',
    concurrency: Math.max(1, request.concurrency ?? DEFAULT_CONCURRENCY),
    retries: RETRIES,
    ...(request.human && { human: true }),
    ...((request.unverified ?? unverified) && { unverified: request.unverified ?? unverified }),
    ...(addresses && { addresses }),
  };
}

function distinct<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
