import { acquireServices } from '../infra/services.ts';
import { readConfig, readSettings } from '../worker/config.ts';
import { runSharedWorker } from '../worker/shared-worker.ts';
import { type Settings, sourcesOf } from './settings.ts';

/** How a worker in this process runs. */
export interface WorkOptions extends Settings {
  /** When raised, no more work is taken, short steps end, and the promise resolves. */
  readonly signal: AbortSignal;
  /** Called once, when trials are taken. */
  readonly onReady?: (worker: { readonly taskQueue: string; readonly temporal: string }) => void;
}

/** Runs a worker in this process, which takes trials of every batch that is not finished and whose content it has: `trialbed worker`. @throws what broke it. */
export async function work(options: WorkOptions): Promise<void> {
  const { env, place } = sourcesOf(options);
  const lease = await acquireServices(readSettings(env, place), options.log ? { progress: options.log } : {});
  try {
    const config = readConfig(env, lease.endpoints, place);
    const ready = () => options.onReady?.({ taskQueue: config.taskQueue, temporal: config.temporal.address });
    await runSharedWorker(config, { signal: options.signal, ready });
  } finally {
    await lease.release();
  }
}
