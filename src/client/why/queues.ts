import type { Client } from '@temporalio/client';
import { printable } from '../../domain/text/bounded.ts';
import type { QueueEvidence } from '../../domain/why.ts';
import { conversationQueue, modelQueue } from '../../workflows/messages.ts';
import type { Pollers } from '../pollers.ts';
import { soon } from './soon.ts';

/** Workers that are named of one queue. */
const MOST_WORKERS = 20;
const MAX_NAME = 200;

/** A queue as Temporal has it, or why it did not say. */
export type Queue = Omit<QueueEvidence, 'kind' | 'workers' | 'text'> & {
  readonly workers: readonly (QueueEvidence['workers'][number] & { readonly version: string | null })[];
  readonly problem: string | null;
};

/** Task queues, each asked once. */
export class Queues {
  private readonly pollers: Pollers;
  private readonly client: Client;
  private readonly patienceMs: number;
  private readonly asked = new Map<string, Promise<Queue>>();

  constructor(pollers: Pollers, client: Client, patienceMs: number) {
    this.pollers = pollers;
    this.client = client;
    this.patienceMs = patienceMs;
  }

  /** The queue of an activity, where the queue of its batch is `own`. */
  ofActivity(queue: string, own: string): Promise<Queue> {
    return this.of(queue, queue === conversationQueue(own) ? 'conversations' : queue === modelQueue(own) ? 'models' : 'trials', 'activity');
  }

  of(queue: string, serves: QueueEvidence['serves'], type: 'workflow' | 'activity' = 'workflow'): Promise<Queue> {
    const key = `${type} ${queue}`;
    const answer = this.asked.get(key) ?? this.ask(queue, serves, type);
    this.asked.set(key, answer);
    return answer;
  }

  private async ask(queue: string, serves: QueueEvidence['serves'], type: 'workflow' | 'activity'): Promise<Queue> {
    const { patienceMs, client } = this;
    const { value, problem } = await soon(patienceMs, () => client.withDeadline(Date.now() + patienceMs, () => this.pollers.of(queue, type)));
    const workers = (value?.pollers ?? [])
      .toSorted((a, b) => b.lastSeenMs - a.lastSeenMs)
      .slice(0, MOST_WORKERS)
      .map(({ identity, lastSeenMs, alive, version }) => ({
        identity: printable(identity, MAX_NAME),
        lastSeen: lastSeenMs === 0 ? null : new Date(lastSeenMs).toISOString(),
        alive,
        version: version === null ? null : printable(version, MAX_NAME),
      }));
    return { queue, serves, workers, backlog: value?.backlog ?? null, problem };
  }
}
