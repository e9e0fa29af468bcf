import type { Workforce } from '../../domain/progress.ts';
import type { WhyEvidence } from '../../domain/why.ts';
import type { BatchRow, Store } from '../../store/store.ts';
import type { Root } from '../../worker/root.ts';
import { batchWorkflowId } from '../../workflows/batch-messages.ts';
import { asTheyAre } from '../driven.ts';
import type { Pollers } from '../pollers.ts';
import { type Answer, soon } from './soon.ts';
import { type WorkflowLook, lookAtWorkflow } from './workflow-look.ts';
import { Queues, type Queue } from './queues.ts';

/** What looks into things. */
export interface Looking {
  readonly root: Pick<Root, 'store' | 'temporal' | 'worlds' | 'config'>;
  readonly pollers: Pollers;
  readonly now: () => Date;
  /** For each service that is asked, milliseconds. */
  readonly patienceMs: number;
}

/** What all trials of a batch have in common. */
export interface BatchFacts {
  readonly batch: BatchRow;
  readonly workforce: Workforce;
  readonly queues: Queues;
  /** Of its trials and of its own workflow. */
  readonly queue: Queue;
  /** Its own workflow; null: Temporal does not know it, or was not asked. */
  readonly workflow: WorkflowLook | null;
  readonly temporalProblem: string | null;
  readonly budget: Extract<WhyEvidence, { kind: 'budget' }> | null;
  readonly outages: readonly Extract<WhyEvidence, { kind: 'outage' }>[];
  /** Locks on the store's tables that somebody waits for. */
  readonly locks: Awaited<ReturnType<Store['lockWaits']>>;
}

/** The store knows the most, so that it is waited for longer than others. */
export const STORE_PATIENCE = 2;

export async function batchFacts(looking: Looking, stored: BatchRow): Promise<BatchFacts> {
  const { root, pollers, patienceMs } = looking;
  const { store, temporal } = root;
  const ask = <T>(work: () => Promise<T>): Promise<Answer<T>> => soon(patienceMs, work);
  const read = <T>(work: () => Promise<T>): Promise<Answer<T>> => soon(STORE_PATIENCE * patienceMs, work);
  const queues = new Queues(pollers, temporal, patienceMs);
  const looked = ask(() => lookAtWorkflow(temporal, batchWorkflowId(stored.id), Date.now() + patienceMs));
  const [queue, workflow, [current = stored] = [], spent, room, locks] = await Promise.all([
    // Its workflow knows the queue that it is on.
    looked.then(({ value, problem }) =>
      problem === null ? queues.of(value?.queue || pollers.queueOf(stored), 'trials') : unasked(pollers.queueOf(stored), problem),
    ),
    looked,
    ask(() => asTheyAre(store, [stored], pollers)).then(({ value }) => value ?? [stored]),
    stored.maxCost === null ? null : read(() => store.spent(stored.id, stored.maxCost?.currency ?? '')).then(({ value }) => value),
    stored.state === 'running' ? read(() => store.requireRoom()) : null,
    read(() => store.lockWaits()).then(({ value }) => value ?? []),
  ]);
  const running = current.state === 'running';
  return {
    batch: current,
    workforce: {
      state: running && stored.hold === 'paused' ? 'paused' : current.state,
      launches: running && stored.hold === null,
      worker: queue.problem === null ? queue.workers.some(({ alive }) => alive) : null,
    },
    queues,
    queue,
    workflow: workflow.value,
    temporalProblem: workflow.problem,
    budget: budgetOf(stored, spent),
    outages: room?.problem && !room.late ? [outage(room.problem)] : [],
    locks,
  };
}

/** Of a Temporal that does not answer. */
function unasked(queue: string, problem: string): Queue {
  return { queue, serves: 'trials', workers: [], backlog: null, problem };
}

function budgetOf({ maxCost }: BatchRow, spent: number | null): BatchFacts['budget'] {
  if (maxCost === null || spent === null || spent < maxCost.amount) return null;
  const money = (amount: number): string => `${Number(amount.toPrecision(6))} ${maxCost.currency}`;
  const [limit, sum] = [money(maxCost.amount), money(spent)];
  return { kind: 'budget', limit, spent: sum, text: `models have cost ${sum} of at most ${limit}` };
}

function outage(reason: string): BatchFacts['outages'][number] {
  return { kind: 'outage', service: 'PostgreSQL', reason, text: `the store takes nothing: ${reason}` };
}
