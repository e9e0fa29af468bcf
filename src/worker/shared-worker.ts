import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_PRIORITY } from '../domain/trial.ts';
import { queueOf } from '../workflows/messages.ts';
import type { BatchRow } from '../store/store.ts';
import type { Config } from './config.ts';
import { Content, type GivenContent, NOTHING_GIVEN } from './content.ts';
import { createRoot, type Root } from './root.ts';
import type { SlotParty } from './fair-slots.ts';
import { type QueueWorker, startTrialServices, type TrialServices } from './trial-worker.ts';
import { becomeCurrent, buildIdOf, type DeploymentVersion } from './version.ts';

/** How often the store is asked for batches. */
const POLL_MS = 2_000;
/** Each task queue that is served costs a workflow thread and some pollers. */
const MAX_QUEUES = 8;

export interface SharedWorkerOptions {
  readonly signal: AbortSignal;
  readonly ready?: (worker: { readonly version: DeploymentVersion | null; readonly queues: readonly string[] }) => void;
  /** Suites that lie on this machine at places of their own. */
  readonly given?: GivenContent;
  /** New trials of the deployment begin on this worker's version from now on. */
  readonly current?: boolean;
  /** What else this process serves; let go when the worker ends, before its services. */
  readonly beside?: (parts: { readonly root: Root; readonly services: TrialServices }) => Promise<AsyncDisposable>;
  /** Hears what changes, a line at a time. */
  readonly say?: (line: string) => void;
}

/**
 * Runs a worker in this process that takes trials of every batch that is not finished and whose content is here as it was when the batch was made, until the
 * signal is raised or the worker breaks. With a deployment, of batches that are left to it, as one of its versions; else of all others. They share its slots fairly. Of more batches
 * than it can serve, those that it has begun with stay; then the higher priority comes first, then the older batch, and what an interrupted one left under way last.
 * @throws what broke it.
 */
export async function runSharedWorker(config: Config, options: SharedWorkerOptions): Promise<void> {
  const { signal, given = NOTHING_GIVEN, say = () => undefined } = options;
  await using root = await createRoot(config);
  const content = new Content(root.loadEnvironment, given);
  await using services = await startTrialServices(root, content);
  await using _beside = (await options.beside?.({ root, services })) ?? null;
  const version = config.deployment === null ? null : { deploymentName: config.deployment, buildId: await buildIdOf(given) };
  const served = new ServedBatches({ root, services, content, version, say });
  let waits = options.current === true ? '' : null;
  const promote = async () => {
    if (waits === null || version === null) return;
    const why = await whyNotCurrent(root, served, version);
    if (why !== null && why !== waits) say(`version ${version.buildId} is not current yet: ${why}`);
    if (why === null) say(`version ${version.buildId} is current: new trials of deployment ${version.deploymentName} begin on it`);
    waits = why;
  };
  try {
    await served.update();
    options.ready?.({ version, queues: served.queues });
    while (!signal.aborted) {
      await promote();
      await Promise.race([sleep(POLL_MS, undefined, { signal }).catch(() => {}), served.broken]);
      // A store that is away for a moment ends no worker.
      await served.update().catch((error: unknown) => root.log.warn({ err: error }, 'batches cannot be listed'));
    }
  } finally {
    services.drain();
    await served[Symbol.asyncDispose]();
  }
}

/** Null once this version is current. */
async function whyNotCurrent(root: Root, served: ServedBatches, version: DeploymentVersion): Promise<string | null> {
  // Their trials could begin nowhere.
  if (served.left.size > 0)
    return `${[...served.left].join(', ')} needs content that is not here; its trials begin on the version before until it is finished or cancelled`;
  const promotion = await becomeCurrent(root.temporal, version);
  return promotion.current ? null : promotion.why;
}

interface Parts {
  readonly root: Root;
  readonly services: TrialServices;
  readonly content: Content;
  readonly version: DeploymentVersion | null;
  readonly say: (line: string) => void;
}

class ServedBatches implements AsyncDisposable {
  /** Rejects when the worker of a queue breaks. */
  readonly broken: Promise<never>;
  /** Unfinished batches of this deployment whose content is not here. */
  left: ReadonlySet<string> = new Set();
  private readonly break: (error: unknown) => void;
  private readonly parts: Parts;
  private readonly workers = new Map<string, QueueWorker>();
  private readonly parties = new Map<string, SlotParty>();
  /** By batch. */
  private readonly driving = new Map<string, AsyncDisposable>();
  /** By batch: why its content is not here, which is said once; null: it is. */
  private readonly differences = new Map<string, string | null>();

  constructor(parts: Parts) {
    this.parts = parts;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.broken = promise;
    this.break = reject;
  }

  get queues(): readonly string[] {
    return [...this.workers.keys()];
  }

  /** Starts workers for queues that came, ends those of which all batches are done. */
  async update(): Promise<void> {
    const { root, services, version, say } = this.parts;
    const { queues: wanted, batches } = await this.wanted();
    await this.drive(batches);
    for (const [queue, worker] of this.workers) {
      if (wanted.has(queue)) continue;
      this.workers.delete(queue);
      this.parties.delete(queue);
      await worker[Symbol.asyncDispose]();
      say(`task queue ${queue} is served no more: its batches have ended`);
    }
    for (const [queue, priority] of wanted) {
      const known = this.parties.get(queue);
      // One that goes on with another priority keeps its worker.
      if (known) known.priority = priority;
      if (this.workers.has(queue)) continue;
      const party = { id: queue, priority };
      this.parties.set(queue, party);
      const worker = await services.serve(queue, { version, party });
      worker.stopped.catch(this.break);
      this.workers.set(queue, worker);
      root.log.info({ queue, version }, 'a task queue is served');
      say(`task queue ${queue} is served`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.workers.values()) worker.shutdown();
    await Promise.all([...this.workers.values()].map((worker) => worker[Symbol.asyncDispose]()));
    await this.drive(new Set());
  }

  /** Marks batches as ones that somebody works on: their workflows launch, whoever follows them. */
  private async drive(batches: ReadonlySet<string>): Promise<void> {
    for (const [batch, driving] of this.driving) {
      if (batches.has(batch)) continue;
      this.driving.delete(batch);
      await driving[Symbol.asyncDispose]();
    }
    for (const batch of batches) if (!this.driving.has(batch)) this.driving.set(batch, await this.parts.root.store.drive(batch));
  }

  private async wanted(): Promise<{ readonly queues: ReadonlyMap<string, number>; readonly batches: ReadonlySet<string> }> {
    const { root, version } = this.parts;
    const { store, config } = root;
    const [running, interrupted] = await Promise.all([store.batches({ state: 'running' }), store.batches({ state: 'interrupted' })]);
    // By the queue that no batch uses a deployment knows its versions, also before there is a batch.
    const queues = new Map<string, number>(version ? [[`${config.taskQueue}-${version.deploymentName}`, DEFAULT_PRIORITY]] : []);
    const left = new Set<string>();
    const batches = new Set<string>();
    for (const batch of [...running, ...interrupted].toSorted((a, b) => this.rank(a, b))) {
      if (queues.size === MAX_QUEUES) break;
      const { deployment } = batch.options;
      if ((deployment?.name ?? null) !== config.deployment) continue;
      // Of a batch that was interrupted only what is under way goes on.
      if (batch.state === 'interrupted' && batch.hold !== 'cancelling' && (await store.trials(batch.id, { underWay: true })).length === 0) continue;
      if (await this.isHere(batch)) {
        const queue = queueOf(config.taskQueue, batch);
        queues.set(queue, Math.min(priorityOf(batch), queues.get(queue) ?? Number.POSITIVE_INFINITY));
        batches.add(batch.id);
      } else left.add(batch.id);
    }
    this.left = left;
    return { queues, batches };
  }

  /** A batch that has a worker keeps it: its trials would stop. Of others none waits for one that came after it. */
  private rank(a: BatchRow, b: BatchRow): number {
    const served = (batch: BatchRow): number => Number(this.workers.has(queueOf(this.parts.root.config.taskQueue, batch)));
    return (
      served(b) - served(a) ||
      Number(a.state !== 'running') - Number(b.state !== 'running') ||
      priorityOf(a) - priorityOf(b) ||
      Date.parse(a.createdAt) - Date.parse(b.createdAt)
    );
  }

  private async isHere(batch: BatchRow): Promise<boolean> {
    const { content, root } = this.parts;
    const known = this.differences.get(batch.id);
    if (known !== undefined) return known === null;
    const why = await content.differenceFrom(batch, root.store).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    this.differences.set(batch.id, why);
    if (why !== null)
      root.log.warn({ batch: batch.id, environment: batch.environment.name, why }, 'a batch is left to other workers: its content is not what this worker has');
    return why === null;
  }
}

function priorityOf({ options }: BatchRow): number {
  return options.priority ?? DEFAULT_PRIORITY;
}
