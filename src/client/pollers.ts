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

/** Tells which batches are served, as Temporal knows it. */
export class Pollers {
  readonly #temporal: Client;
  readonly #taskQueue: string;

  /** `taskQueue`: the beginning of the names of queues. */
  constructor(client: Client, taskQueue: string) {
    this.#temporal = client;
    this.#taskQueue = taskQueue;
  }

  /** Whether any worker takes trials of a batch; null: Temporal cannot be asked. `lasting`: one that does not end with the command that started it. */
  async serve(batch: PolledBatch, { lasting = false }: { readonly lasting?: boolean } = {}): Promise<boolean | null> {
    try {
      const { pollers } = await this.#temporal.workflowService.describeTaskQueue({
        namespace: this.#temporal.options.namespace,
        taskQueue: { name: queueOf(this.#taskQueue, batch) },
        taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
      });
      return (pollers ?? []).some(({ lastAccessTime, identity }) => {
        const at = Number(lastAccessTime?.seconds ?? 0) * 1000;
        const { ofACommand, mayLive } = workerPlace(identity ?? '');
        // Temporal remembers a worker for minutes that was killed.
        return Date.now() - at < LONGEST_POLL_MS && mayLive && !(lasting && ofACommand);
      });
    } catch {
      return null;
    }
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
