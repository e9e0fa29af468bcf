import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { workerPlace } from '../worker/identity.ts';
import { queueOf } from '../workflows/messages.ts';

/** Asked no more often than this of one batch that is watched. */
const REMEMBER_MS = 5_000;
/** A worker asks again at least this often, also where there is nothing to do. */
const LONGEST_POLL_MS = 70_000;

/** What tells the task queue of a batch. */
type PolledBatch = Parameters<typeof queueOf>[1];

/** A worker that asked a queue for work. */
export interface Poller {
  readonly identity: string;
  /** Milliseconds since the epoch; 0: not known. */
  readonly lastSeenMs: number;
  /** False: it has not asked for longer than any worker waits, or was a process of this machine that is gone. */
  readonly alive: boolean;
  readonly ofACommand: boolean;
  /** Of a deployment; null: it has none. */
  readonly version: string | null;
}

/** Tells which batches are served, as Temporal knows it. */
export class Pollers {
  readonly #temporal: Client;
  readonly #taskQueue: string;

  /** `taskQueue`: the beginning of the names of queues. */
  constructor(client: Client, taskQueue: string) {
    this.#temporal = client;
    this.#taskQueue = taskQueue;
  }

  /** Name of the queue of a batch. */
  queueOf(batch: PolledBatch): string {
    return queueOf(this.#taskQueue, batch);
  }

  /** Whether any worker takes trials of a batch; null: Temporal cannot be asked. `lasting`: one that does not end with the command that started it. */
  async serve(batch: PolledBatch, { lasting = false }: { readonly lasting?: boolean } = {}): Promise<boolean | null> {
    try {
      const { pollers } = await this.of(this.queueOf(batch), 'workflow');
      return pollers.some(({ alive, ofACommand }) => alive && !(lasting && ofACommand));
    } catch {
      return null;
    }
  }

  /** Workers that ask a queue for work, dead ones included that Temporal still remembers, and how many tasks wait there; null: it does not say. @throws what the connection throws */
  async of(queue: string, type: 'workflow' | 'activity'): Promise<{ readonly pollers: readonly Poller[]; readonly backlog: number | null }> {
    const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
    const { pollers, stats } = await this.#temporal.workflowService.describeTaskQueue({
      namespace: this.#temporal.options.namespace,
      taskQueue: { name: queue },
      taskQueueType: type === 'workflow' ? TASK_QUEUE_TYPE_WORKFLOW : TASK_QUEUE_TYPE_ACTIVITY,
      reportStats: true,
    });
    const backlog = stats?.approximateBacklogCount;
    return {
      pollers: (pollers ?? []).map(({ lastAccessTime, identity, deploymentOptions }) => {
        const lastSeenMs = Number(lastAccessTime?.seconds ?? 0) * 1000;
        const { ofACommand, mayLive } = workerPlace(identity ?? '');
        // Temporal remembers a worker for minutes that was killed.
        const alive = Date.now() - lastSeenMs < LONGEST_POLL_MS && mayLive;
        return { identity: identity ?? '', lastSeenMs, alive, ofACommand, version: deploymentOptions?.buildId || null };
      }),
      backlog: backlog === null || backlog === undefined ? null : Number(String(backlog)),
    };
  }
}

/** Whether a batch is served, for whoever asks each second. */
export function watchedPollers(pollers: Pollers, batch: PolledBatch): () => Promise<boolean | null> {
  let asked: { readonly at: number; readonly answer: Promise<boolean | null> } | null = null;
  return () => {
    const now = performance.now();
    if (asked === null || now - asked.at > REMEMBER_MS) asked = { at: now, answer: pollers.serve(batch) };
    return asked.answer;
  };
}
