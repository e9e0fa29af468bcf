import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '../../../src/infra/services.ts';
import { until } from '../until.ts';
import type { BatchRun } from './batch-run.ts';
import type { OwnWorker } from './own-worker.ts';
import type { Strike, Target } from './plan.ts';
import { killAtOnce, type Process, processes } from './processes.ts';

/** A process that was killed. */
export interface Kill {
  readonly what: Target | 'failpoint';
  /** Of a failpoint: its name. */
  readonly failpoint: string | null;
  readonly pid: number;
  /** Epoch, in milliseconds. */
  readonly at: number;
  /** Trials of the batch that had ended. */
  readonly done: number;
}

/** How long a process of the wanted kind is waited for, such as a worker that is just being started again. */
const FIND_MS = 15_000;

/** Carries out the kills at random, each when it is due, until the batch is over. */
export async function strikeAll(
  home: string,
  strikes: readonly Strike[],
  on: { readonly run: BatchRun; readonly worker: OwnWorker; readonly killed: (kill: Kill) => void },
): Promise<void> {
  const { run, worker, killed } = on;
  let over = false;
  void run.finished.then(
    () => (over = true),
    () => (over = true),
  );
  for (const { target, afterTrials, pauseMs } of strikes) {
    while (!over && run.done < afterTrials) await sleep(100);
    if (over) return;
    await sleep(pauseMs);
    const found = await until(`there is a ${target}`, () => find(home, target, run, worker), FIND_MS).catch(() => null);
    // Where nothing of the kind comes in time, such as a program that calls, the worker of its own is there.
    const [what, pid] = found === null ? (['worker of its own', worker.pid] as const) : [target, found];
    const at = Date.now();
    if (!over && (await killAtOnce(pid, { children: what === 'postgres' }))) killed({ what, failpoint: null, pid, at, done: run.done });
  }
}

/** The process id of what is to be killed; null while there is none. */
async function find(home: string, target: Target, run: BatchRun, worker: OwnWorker): Promise<number | null> {
  switch (target) {
    case 'command':
      return run.pid;
    case 'worker of its own':
      return worker.pid;
    case 'worker of the command':
      return workerOf(run, await processes());
    case 'gateway': {
      const all = await processes();
      const serving = [worker.pid, workerOf(run, all)].filter(
        (pid) => pid !== null && all.some(({ parent, args }) => parent === pid && args.includes('desk.mjs')),
      );
      return serving[0] ?? null;
    }
    case 'supervisor':
      return (await status({ home }))?.pid ?? null;
    case 'temporal':
    case 'postgres': {
      const service = (await status({ home }))?.services.find(({ name }) => name === target);
      return service?.state === 'running' && service.id !== null ? Number(service.id) : null;
    }
  }
}

function workerOf({ pid }: BatchRun, all: readonly Process[]): number | null {
  return all.find(({ parent, args }) => parent === pid && args.includes('worker/child'))?.pid ?? null;
}
