import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../worker/config.ts';
import { openWorkerLog, workerLogFile } from './worker-log.ts';

/** How long a worker may take to finish short steps before it is ended. */
const STOP_GRACE_MS = 15_000;

/** A worker that ends so often, each time before it has run for this long, will end again: something in its work ends it. */
const MAX_QUICK_ENDS = 3;
const STEADY_MS = 60_000;

/** Between two starts where the first came to nothing. */
const START_AGAIN_MS = 1_000;

/** The worker that a command started could not start or ended by itself; running trials wait for another worker. */
export class WorkerEndedError extends Error {
  override readonly name = 'WorkerEndedError';
  readonly code = 'worker_ended';
}

export interface WorkerProcess extends AsyncDisposable {
  readonly pid: number;
  /** Rejects when the worker ends although nobody stopped it. */
  readonly broken: Promise<never>;
}

/** Starts a worker as a child of this process and waits until it takes work. It ends when this process does. @throws {WorkerEndedError} */
export async function startWorkerProcess(config: Config, options: { readonly restart?: boolean } = {}): Promise<WorkerProcess> {
  let stopping = false;
  let child = await startOnce(config);
  let quickEnds = 0;
  const broken = new Promise<never>((_resolve, reject) => {
    const watch = () => {
      const startedAt = performance.now();
      child.once('exit', async (code, signal) => {
        if (stopping) return;
        const how = signal ? `was ended by ${signal}` : `ended with status ${code}`;
        quickEnds = performance.now() - startedAt < STEADY_MS ? quickEnds + 1 : 1;
        if (!options.restart || code === 0) return reject(new WorkerEndedError(`the worker ${how}; the batch can be resumed with the same command`));
        if (quickEnds > MAX_QUICK_ENDS) {
          const log = workerLogFile(config.home);
          return reject(
            new WorkerEndedError(`the worker ${how}, ${quickEnds} times in a row; its log is ${log}, and the batch can be resumed with the same command`),
          );
        }
        await startAgain();
      });
    };
    /** Trials are durable: another worker takes them over where they stand. One that is killed before it is ready, or meets a service that is away, is one more that ended. */
    const startAgain = async (): Promise<void> => {
      for (;;) {
        try {
          child = await startOnce(config);
          if (stopping) child.kill('SIGTERM');
          else watch();
          return;
        } catch (error) {
          quickEnds++;
          if (stopping) return;
          if (quickEnds > MAX_QUICK_ENDS) return reject(error instanceof Error ? error : new Error(String(error)));
          await sleep(START_AGAIN_MS);
        }
      }
    };
    watch();
  });
  broken.catch(() => {});
  return {
    get pid() {
      return child.pid ?? 0;
    },
    broken,
    async [Symbol.asyncDispose]() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

async function startOnce(config: Config) {
  const source = fileURLToPath(new URL('../worker/child.ts', import.meta.url));
  const entry = existsSync(source) ? source : fileURLToPath(new URL('../worker/child.js', import.meta.url));
  const logFile = workerLogFile(config.home);
  // Not our own streams: standard output belongs to the command, and a warning of the SDK would tear a table that is being painted.
  await using log = await openWorkerLog(config.home);
  const { size: before } = await log.stat();
  // The configuration goes by message: it holds secrets, which arguments and environment would show to others.
  const child = fork(entry, [], { stdio: ['ignore', log.fd, log.fd, 'ipc'], serialization: 'advanced', execArgv: [] });
  child.send(config, () => {});
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('error', reject);
    child.once('exit', async (code, signal) => {
      const said = await readFile(logFile, 'utf8').then(
        (text) => text.slice(before).trim().slice(-2_000),
        () => '',
      );
      reject(new WorkerEndedError(`the worker could not start (${signal ?? `status ${code}`}); its log is ${logFile}${said ? `:\n${said}` : ''}`));
    });
  });
  return child;
}
