import type { BatchRow } from '../store/store.ts';
import type { Config } from '../worker/config.ts';
import { batchQueue } from '../workflows/messages.ts';
import type { Work } from './start-batch.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

/** A batch's worker. Dispose it when its user is done; the process ends with the last one. */
export interface BatchWorker extends Work, AsyncDisposable {}

/**
 * The workers of a client: one process for each batch that it runs, on the batch's own task queue. A worker that was started for another content never
 * meets the batch's trials, and they meet no worker that has loaded something else.
 */
export class BatchWorkers {
  private readonly config: Config;
  private readonly running = new Map<string, { readonly process: Promise<WorkerProcess>; users: number }>();

  constructor(config: Config) {
    this.config = config;
  }

  /** The worker of a batch, started unless it runs. It serves no metrics: there may be several on a machine, and they end with their batch. @throws {WorkerEndedError} when it cannot start. */
  async start(batch: Pick<BatchRow, 'id'>): Promise<BatchWorker> {
    const taskQueue = batchQueue(this.config.taskQueue, batch.id);
    const entry = this.running.get(batch.id) ?? {
      process: startWorkerProcess({ ...this.config, metrics: null, deployment: null, taskQueue }, { restart: true }),
      users: 0,
    };
    this.running.set(batch.id, entry);
    entry.users++;
    const leave = async () => {
      entry.users--;
      if (entry.users > 0) return;
      this.running.delete(batch.id);
      await (await entry.process.catch(() => null))?.[Symbol.asyncDispose]();
    };
    try {
      const { broken } = await entry.process;
      return { taskQueue, broken, [Symbol.asyncDispose]: leave };
    } catch (error) {
      await leave();
      throw error;
    }
  }
}
