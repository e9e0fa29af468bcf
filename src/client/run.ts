import { loadAgent } from '../suite/agent-file.ts';
import type { BatchOptions, Store } from '../store/store.ts';
import type { Root } from '../worker/root.ts';
import type { BatchHandle, RunRequest } from './api.ts';
import { openSuite } from './open-suite.ts';
import { planBatch, type PlannedTrial } from './plan.ts';
import { NothingToRunError, selectCases, selectShard } from './select.ts';
import { startBatch } from './start-batch.ts';
import { currentSummaries } from './summarise.ts';

const DEFAULT_CONCURRENCY = 8;
const RETRIES = 2;

/** Plans a request, resumes the interrupted batch of equal content or makes a new one, and launches it. */
export async function run(root: Root, request: RunRequest, broken: Promise<never>): Promise<BatchHandle> {
  const { suite, environment } = await openSuite(root, request.suite, request.environmentOptions);
  const cases = selectCases(suite.cases, request);
  const names = request.agents && request.agents.length > 0 ? request.agents : suite.defaults.agents;
  // An agent that is named twice is one agent.
  const agents = distinct(await Promise.all(names.map((name) => loadAgent(name, suite))), ({ hash }) => hash);
  const repetitions = Math.max(1, request.trials ?? suite.defaults.trials);
  const every: PlannedTrial[] = agents.flatMap((agent) =>
    cases.flatMap((kase) => Array.from({ length: repetitions }, (_none, index) => ({ kase, agent, repetition: index + 1 }))),
  );
  const chosen = request.lastFailed ? await onlyLastFailed(root.store, suite.name, every) : every;
  const trials = selectShard(chosen, request.shard);
  if (trials.length === 0) throw new NothingToRunError('this shard holds no trial; use fewer shards');
  const plan = await planBatch({ suite, environment, trials, options: optionsOf(request), seed: request.seed ?? null });
  await root.store.putDocuments({
    cases: distinct(
      trials.map(({ kase }) => ({ hash: kase.hash, kase: kase.kase })),
      ({ hash }) => hash,
    ),
    agents: agents.map(({ hash, spec }) => ({ hash, spec })),
  });
  const unfinished = await root.store.unfinishedBatch(plan.manifestHash);
  if (!unfinished) await root.store.createBatch(plan);
  const batch = unfinished ?? (await root.store.batch(plan.id));
  if (!batch) throw new Error(`batch ${plan.id} was stored and cannot be found`);
  return startBatch(root, { ...batch, options: { ...batch.options, concurrency: plan.options.concurrency } }, unfinished !== null, broken);
}

function optionsOf(request: RunRequest): BatchOptions {
  return {
    isolation: request.isolation ?? 'schema',
    keep: request.keep ?? 'failed',
    concurrency: Math.max(1, request.concurrency ?? DEFAULT_CONCURRENCY),
    retries: RETRIES,
  };
}

async function onlyLastFailed(store: Store, suite: string, trials: readonly PlannedTrial[]): Promise<readonly PlannedTrial[]> {
  const [last] = await store.batches({ state: 'finished', suite, limit: 1 });
  if (!last) throw new NothingToRunError(`--last-failed needs a finished batch of suite ${suite}; there is none yet`);
  const failed = new Set(
    (await currentSummaries(store, last.id)).filter((summary) => summary.pass !== 'pass').map((summary) => `${summary.case}\n${summary.agent}`),
  );
  const chosen = trials.filter(({ kase, agent }) => failed.has(`${kase.kase.id}\n${agent.spec.name}`));
  if (chosen.length === 0) throw new NothingToRunError(`batch ${last.id} has no failed trial of these cases and agents`);
  return chosen;
}

function distinct<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
