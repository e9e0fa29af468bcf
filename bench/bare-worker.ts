import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Root } from '../src/worker/root.ts';
import type { BareConfig } from './bare-child.ts';

export const BARE_QUEUE = 'trialbed-bench-bare';

/** Starts a bare worker in a process of its own and waits until it takes work. */
export async function startBareWorker({ config }: Root): Promise<AsyncDisposable> {
  const child = fork(fileURLToPath(new URL('./bare-child.ts', import.meta.url)), [], {
    stdio: ['ignore', 2, 2, 'ipc'],
    serialization: 'advanced',
    execArgv: [],
  });
  const bare: BareConfig = { temporal: config.temporal, taskQueue: BARE_QUEUE, cachedWorkflows: config.worker.cachedWorkflows };
  child.send(bare);
  await Promise.race([once(child, 'message'), once(child, 'exit').then(() => Promise.reject(new Error('the bare worker could not start')))]);
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
