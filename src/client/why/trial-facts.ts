import type { TrialStanding } from '../../store/standing.ts';
import type { AskedApproval, AttemptRow, TrialRow } from '../../store/store.ts';
import type { TrialStatus } from '../../workflows/messages.ts';
import { statusQuery } from '../../workflows/messages.ts';
import { type BatchFacts, type Looking, STORE_PATIENCE } from './batch-facts.ts';
import type { Queue } from './queues.ts';
import { type Answer, soon } from './soon.ts';
import { lookAtWorkflow, type WorkflowLook } from './workflow-look.ts';

/** All that is known of a trial, from wherever it can be read without the help of what may be stuck. */
export interface TrialFacts {
  readonly now: Date;
  readonly trial: TrialRow;
  readonly batch: BatchFacts;
  readonly attempts: readonly AttemptRow[];
  readonly standing: TrialStanding | null;
  /** Calls that wait for people. */
  readonly approvals: readonly AskedApproval[];
  /** Its workflow; null: Temporal does not know it, or did not answer. */
  readonly workflow: WorkflowLook | null;
  readonly temporalProblem: string | null;
  /** What the workflow says of itself; null: it was not asked, or did not answer in time. */
  readonly status: TrialStatus | null;
  /** Of its activities. */
  readonly queues: readonly Queue[];
  /** Locks that somebody waits for: of its world, and of the store. */
  readonly locks: readonly (Awaited<ReturnType<Looking['root']['store']['lockWaits']>>[number] & { readonly server: string })[];
  /** Gateways by which its agent calls tools; `problem` null: it answers. */
  readonly gateways: readonly { readonly url: string; readonly problem: string | null }[];
  /** Why the server that has its world cannot be asked; null: it can. */
  readonly worldsProblem: string | null;
  /** It may only have been slow. */
  readonly worldsLate: boolean;
  /** Why not all could be read that the store knows; null: it could. */
  readonly storeProblem: string | null;
}

/** How long a workflow may take to say where it stands, where all else says that it can. */
const ANSWER_MS = 500;
const GATEWAY_MS = 500;

/** `asked`: what all trials of its batch have in common, which may still be under way. */
export async function trialFacts(looking: Looking, trial: TrialRow, asked: BatchFacts | Promise<BatchFacts>): Promise<TrialFacts> {
  const { root, patienceMs } = looking;
  const { store, temporal } = root;
  const ask = <T>(work: () => Promise<T>): Promise<Answer<T>> => soon(patienceMs, work);
  const read = <T>(work: () => Promise<T>): Promise<Answer<T>> => soon(STORE_PATIENCE * patienceMs, work);
  // What did not answer a moment ago is not asked again.
  const known = asked instanceof Promise ? null : asked.temporalProblem;
  const [batch, attempts, standing, approvals, workflow] = await Promise.all([
    asked,
    read(() => store.attempts(trial.id)),
    read(() => store.trialStanding(trial.id)),
    trial.phase === 'drive' ? read(() => store.waitingApprovals({ batch: trial.batch })) : null,
    known === null ? ask(() => lookAtWorkflow(temporal, trial.id, Date.now() + patienceMs)) : null,
  ]);
  const look = workflow?.value ?? null;
  const runs = look?.status === 'RUNNING';
  const world = attempts.value?.findLast(({ attempt }) => attempt === trial.attempt)?.world ?? null;
  const converses = look?.activities.some(({ activity }) => activity === 'converse') ?? false;
  const answers = runs && look.task === null && batch.workforce.worker === true;
  const [locks, leased, status, queues, gateways] = await Promise.all([
    runs && world ? ask(() => root.worlds.lockWaits(world)) : null,
    // Without a world it may be that no server can give it one.
    runs && !world && trial.attempt > 0 ? ask(() => root.worlds.leased(trial.id)) : null,
    answers
      ? soon(ANSWER_MS, () => temporal.withDeadline(Date.now() + ANSWER_MS, () => temporal.workflow.getHandle(trial.id, look.run).query(statusQuery)))
      : null,
    Promise.all([...new Set(look?.activities.map(({ queue }) => queue))].map((queue) => batch.queues.ofActivity(queue, look?.queue ?? ''))),
    converses ? Promise.all(gatewaysOf(looking, standing.value).map(probe)) : [],
  ]);
  const lockedWorld = (locks?.value ?? []).map((lock) => ({ ...lock, server: world?.host ?? '' }));
  return {
    now: looking.now(),
    trial,
    batch,
    attempts: attempts.value ?? [],
    standing: standing.value,
    approvals: (approvals?.value ?? []).filter((one) => one.trial === trial.id && one.attempt === trial.attempt),
    workflow: look,
    temporalProblem: batch.temporalProblem ?? workflow?.problem ?? null,
    status: status?.value ?? null,
    queues,
    locks: [...lockedWorld, ...batch.locks.map((lock) => ({ ...lock, server: 'the store' }))],
    gateways,
    worldsProblem: locks?.problem ?? leased?.problem ?? null,
    worldsLate: (locks?.late ?? leased?.late) === true,
    storeProblem: attempts.problem ?? standing.problem ?? approvals?.problem ?? null,
  };
}

/** Where sessions are, and where agents are told to go. */
function gatewaysOf({ root: { config } }: Looking, standing: TrialStanding | null): readonly string[] {
  return standing && standing.gateways.length > 0 ? [...new Set([...(config.gateway.url === null ? [] : [config.gateway.url]), ...standing.gateways])] : [];
}

async function probe(url: string): Promise<TrialFacts['gateways'][number]> {
  const { problem } = await soon(GATEWAY_MS, async () => {
    try {
      const answer = await fetch(`${url.replace(/\/$/, '')}/health`, { redirect: 'manual', signal: AbortSignal.timeout(GATEWAY_MS) });
      await answer.body?.cancel();
    } catch (error) {
      throw new Error(connectionProblem(error));
    }
  });
  return { url, problem };
}

/** What a socket says, in words that name no service. */
function connectionProblem(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  const { code } = cause as { code?: unknown };
  if (code === 'ECONNREFUSED') return 'nobody listens there';
  return cause instanceof Error ? cause.message : String(cause);
}
