import { setTimeout as sleep } from 'node:timers/promises';
import { batchQueue } from '../workflows/messages.ts';
import { partsOf } from '../domain/agent.ts';
import { DEFAULT_PRIORITY } from '../domain/trial.ts';
import type { BatchRow } from '../store/store.ts';
import { agentHash } from '../suite/agent-hash.ts';
import type { Config } from './config.ts';
import { createRoot, type Root } from './root.ts';
import { type QueueWorker, startTrialServices, type TrialServices } from './trial-worker.ts';

/** How often the store is asked for batches. */
const POLL_MS = 2_000;
/** Each batch that is served costs a workflow thread and some pollers. */
const MAX_BATCHES = 8;

/**
 * Runs a worker in this process that takes trials of every batch that is not finished and whose content is here as it was when the batch was made, until the
 * signal is raised or the worker breaks. They share its slots fairly. Of more batches than it can serve, those that it has begun with stay; then the higher priority comes first,
 * then the older batch, and what an interrupted one left under way last. @throws what broke it.
 */
export async function runSharedWorker(config: Config, options: { readonly signal: AbortSignal; readonly ready?: () => void }): Promise<void> {
  await using root = await createRoot(config);
  await using services = await startTrialServices(root);
  const { signal } = options;
  const served = new ServedBatches(root, services);
  try {
    await served.update();
    options.ready?.();
    while (!signal.aborted) {
      await Promise.race([sleep(POLL_MS, undefined, { signal }).catch(() => {}), served.broken]);
      // A store that is away for a moment ends no worker.
      await served.update().catch((error: unknown) => root.log.warn({ err: error }, 'batches cannot be listed'));
    }
  } finally {
    await served[Symbol.asyncDispose]();
  }
}

class ServedBatches implements AsyncDisposable {
  /** Rejects when the worker of a batch breaks. */
  readonly broken: Promise<never>;
  private readonly break: (error: unknown) => void;
  private readonly root: Root;
  private readonly services: TrialServices;
  private readonly workers = new Map<string, QueueWorker>();
  /** Batches whose content is not here, which is said once. */
  private readonly refused = new Set<string>();

  constructor(root: Root, services: TrialServices) {
    this.root = root;
    this.services = services;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.broken = promise;
    this.break = reject;
  }

  /** Starts workers for batches that came, ends those of batches that are done. */
  async update(): Promise<void> {
    const wanted = await this.unfinished();
    for (const [id, worker] of this.workers) {
      if (wanted.some((batch) => batch.id === id)) continue;
      this.workers.delete(id);
      await worker[Symbol.asyncDispose]();
    }
    for (const batch of wanted) {
      if (this.workers.has(batch.id)) continue;
      const worker = await this.serve(batch);
      worker.stopped.catch(this.break);
      this.workers.set(batch.id, worker);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.workers.values()) worker.shutdown();
    await Promise.all([...this.workers.values()].map((worker) => worker[Symbol.asyncDispose]()));
  }

  /** A worker on the batch's queue, which marks the batch as one that somebody works on: its workflow launches whoever follows it. */
  private async serve({ id, options }: BatchRow): Promise<QueueWorker> {
    const driving = await this.root.store.drive(id);
    try {
      const party = { id, priority: options.priority ?? DEFAULT_PRIORITY };
      const worker = await this.services.serve(batchQueue(this.root.config.taskQueue, id), { party });
      return {
        stopped: worker.stopped,
        shutdown: () => worker.shutdown(),
        async [Symbol.asyncDispose]() {
          await worker[Symbol.asyncDispose]();
          await driving[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      await driving[Symbol.asyncDispose]();
      throw error;
    }
  }

  private async unfinished(): Promise<readonly BatchRow[]> {
    const { store } = this.root;
    const [running, interrupted] = await Promise.all([store.batches({ state: 'running' }), store.batches({ state: 'interrupted' })]);
    const wanted: BatchRow[] = [];
    for (const batch of [...running, ...interrupted].toSorted((a, b) => this.rank(a, b))) {
      if (wanted.length === MAX_BATCHES) break;
      if (this.refused.has(batch.id)) continue;
      // Of a batch that was interrupted only what is under way goes on.
      if (batch.state === 'interrupted' && batch.hold !== 'cancelling' && (await store.trials(batch.id, { underWay: true })).length === 0) continue;
      if (this.workers.has(batch.id) || (await this.isHere(batch))) wanted.push(batch);
    }
    return wanted;
  }

  /** A batch that has a worker keeps it: its trials would stop. Of others none waits for one that came after it. */
  private rank(a: BatchRow, b: BatchRow): number {
    const priority = ({ options }: BatchRow): number => options.priority ?? DEFAULT_PRIORITY;
    return (
      Number(this.workers.has(b.id)) - Number(this.workers.has(a.id)) ||
      Number(a.state !== 'running') - Number(b.state !== 'running') ||
      priority(a) - priority(b) ||
      Date.parse(a.createdAt) - Date.parse(b.createdAt)
    );
  }

  private async isHere(batch: BatchRow): Promise<boolean> {
    const { environment, id } = batch;
    const why = await differenceOf(this.root, batch).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (why === null) return true;
    this.refused.add(id);
    this.root.log.warn({ batch: id, environment: environment.name, why }, 'a batch is left to other workers: its content is not what this worker has');
    return false;
  }
}

/** Null when pack and agents are what the batch was made of. */
export async function differenceOf(root: Pick<Root, 'store' | 'loadEnvironment'>, batch: BatchRow): Promise<string | null> {
  const { file, options, generation } = batch.environment;
  const environment = await root.loadEnvironment({ file, options });
  if (environment.generation !== generation) return 'the environment has changed';
  const hashes = new Set((await root.store.trials(batch.id)).map(({ agentHash }) => agentHash));
  for (const hash of hashes) {
    const agent = await root.store.agentDocument(hash);
    // Others have no files of their own.
    const hasFiles = agent && partsOf(agent.spec).some(({ kind }) => kind === 'module' || kind === 'command');
    if (hasFiles && (await agentHash(agent.spec)) !== hash) return `agent ${agent.spec.name} has changed`;
  }
  return null;
}
