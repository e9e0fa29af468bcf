import type { Config } from './config.ts';
import { createRoot } from './root.ts';
import { startTrialWorker } from './trial-worker.ts';

/** Runs a worker on the configuration's task queue in this process until the signal is raised or the worker breaks. @throws what broke it. */
export async function runWorker(config: Config, options: { readonly signal: AbortSignal; readonly ready?: () => void }): Promise<void> {
  await using root = await createRoot(config);
  await using worker = await startTrialWorker(root);
  options.ready?.();
  if (options.signal.aborted) return;
  await Promise.race([worker.stopped, new Promise((resolve) => options.signal.addEventListener('abort', resolve, { once: true }))]);
}
