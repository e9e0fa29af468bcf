import { waitReason } from '../../domain/progress.ts';
import type { WhyEvidence } from '../../domain/why.ts';
import { activityEvidence, activityName, approvalEvidence, attemptEvidence, gatewayEvidence, lockEvidence, queueEvidence, taskEvidence } from './evidence.ts';
import { explainActivity } from './explain-activity.ts';
import { failingTask } from './failing-task.ts';
import type { Found } from './found.ts';
import { heldLocks } from './held-locks.ts';
import { ago, secondsBetween, since } from './times.ts';
import type { TrialFacts } from './trial-facts.ts';
import type { WorkflowLook } from './workflow-look.ts';

/** A worker that has a free place takes what is due at once. */
const UNTAKEN_SECONDS = 5;

/** What a trial waits for whose workflow runs: the first of these that is so. */
export function explainRunning(facts: TrialFacts, workflow: WorkflowLook): Found {
  const again = `\`trialbed requeue ${facts.trial.id} --force\``;
  const first =
    failingTask(facts.now, workflow, { what: 'it', replay: `\`trialbed replay ${facts.trial.id}\``, again }) ??
    withoutWorker(facts, workflow) ??
    locked(facts) ??
    away(facts, { late: false }) ??
    asked(facts) ??
    explainActivity(facts, workflow) ??
    untaken(facts, workflow) ??
    away(facts, { late: true }) ??
    begins(facts, workflow) ??
    steps(facts, workflow);
  return { ...first, evidence: withRest(facts, workflow, first.evidence) };
}

/** Everything else that was found, behind what tells the most. */
function withRest(facts: TrialFacts, workflow: WorkflowLook, first: readonly WhyEvidence[]): readonly WhyEvidence[] {
  const { now, trial, attempts, approvals, queues, gateways, batch } = facts;
  const row = attempts.findLast(({ attempt }) => attempt === trial.attempt);
  const all: readonly WhyEvidence[] = [
    ...first,
    ...(workflow.task && workflow.task.attempt > 1 ? [taskEvidence(now, workflow.task)] : []),
    ...workflow.activities.map((activity) => activityEvidence(now, activity)),
    ...approvals.map((one) => approvalEvidence(now, one)),
    ...(row ? [attemptEvidence(now, row, null)] : []),
    ...[batch.queue, ...queues].map((queue) => queueEvidence(now, queue)),
    ...gateways.map(gatewayEvidence),
    ...(facts.storeProblem === null ? [] : [storeSlow(facts.storeProblem)]),
  ];
  return all.filter(({ text }, index) => all.findIndex((one) => one.text === text) === index);
}

/** Nobody asks the queue for work from which what is due would come. */
function withoutWorker({ now, batch, queues, trial }: TrialFacts, workflow: WorkflowLook): Found | null {
  const serving = (queue: TrialFacts['queues'][number]) =>
    queue.problem !== null || queue.workers.some(({ alive, version }) => alive && (workflow.version === null || version === workflow.version));
  const due = workflow.activities.filter(({ state, nextTryAt }) => state === 'scheduled' && (nextTryAt === null || Date.parse(nextTryAt) <= now.getTime()));
  const empty = serving(batch.queue) ? queues.find((queue) => !serving(queue) && due.some((activity) => activity.queue === queue.queue)) : batch.queue;
  if (!empty) return null;
  const of = workflow.version === null ? '' : ` of version ${workflow.version}, on which it began`;
  const waiting = due.length > 0 ? `${activityName(due[0] ?? { activity: '', summary: null })} waits there` : 'nothing of it goes on';
  const last = empty.workers[0]?.lastSeen;
  const seen = last ? `, the last one was seen ${ago(now, last)}` : '';
  return {
    cause: 'worker',
    sentence: `it waits for a worker: none${of} asks for work on the queue ${empty.queue}${seen}; attempt ${trial.attempt} is in phase ${trial.phase}, and ${waiting}`,
    evidence: [queueEvidence(now, empty)],
    next:
      batch.batch.options.deployment === undefined
        ? `\`trialbed watch ${trial.batch}\` starts one, or \`trialbed worker\``
        : 'Start a worker of the deployment with the content that the batch was made with: `trialbed worker`',
  };
}

function locked({ now, locks }: TrialFacts): Found | null {
  const [lock] = heldLocks(now, locks);
  if (!lock) return null;
  const evidence = lockEvidence(now, lock);
  const holder = lock.holders[0];
  return {
    cause: 'lock',
    sentence: `it waits for a lock of the database: ${evidence.text}`,
    evidence: [evidence],
    next: holder ? `End that transaction, or its session: \`select pg_terminate_backend(${holder.pid})\` on that server` : null,
  };
}

/** A server that it needs does not answer; `late`: and may only be slow. */
function away({ batch, worldsProblem, worldsLate }: TrialFacts, { late }: { readonly late: boolean }): Found | null {
  const [outage = null] = batch.outages;
  const evidence = outage ?? (worldsProblem === null || worldsLate !== late ? null : worldsAway(worldsProblem));
  if (evidence === null) return null;
  return {
    cause: 'infrastructure',
    sentence: `it waits for ${evidence.service}: ${evidence.text}`,
    evidence: [evidence],
    next: '`trialbed doctor` shows what was found of the services; the trial goes on by itself when that is mended',
  };
}

function worldsAway(reason: string): Extract<WhyEvidence, { kind: 'outage' }> {
  return { kind: 'outage', service: 'PostgreSQL', reason, text: `the server of its world cannot be asked: ${reason}` };
}

function storeSlow(reason: string): Extract<WhyEvidence, { kind: 'outage' }> {
  return { kind: 'outage', service: 'PostgreSQL', reason, text: `the store was not read whole: ${reason}` };
}

function asked({ now, approvals }: TrialFacts): Found | null {
  const [first] = approvals;
  if (!first) return null;
  const more = approvals.length > 1 ? `, and ${approvals.length - 1} more` : '';
  return {
    cause: 'approval',
    sentence: `it waits for an approval: ${first.operation} ${first.approval.tool} was asked for ${ago(now, first.approval.requestedAt)}${more}, and nobody has decided`,
    evidence: approvals.map((one) => approvalEvidence(now, one)),
    next: `\`trialbed approvals\` shows what is asked; \`trialbed approve ${first.id}\` or \`trialbed deny ${first.id}\` decides`,
  };
}

/** There are workers by what Temporal remembers, and none of them takes what is due. */
function untaken({ now, batch }: TrialFacts, { task }: WorkflowLook): Found | null {
  if (task?.state !== 'scheduled' || task.since === null || secondsBetween(task.since, now) < UNTAKEN_SECONDS) return null;
  return {
    cause: 'worker',
    sentence: `it waits for a worker: none of those that ask for work on the queue ${batch.queue.queue} has taken its workflow task for ${since(now, task.since)}; they are busy, or hang`,
    evidence: [taskEvidence(now, task), queueEvidence(now, batch.queue)],
    next: 'More workers take more: `trialbed worker`; one that hangs has to be ended',
  };
}

/** Its attempt has not begun to act. */
function begins(facts: TrialFacts, workflow: WorkflowLook): Found | null {
  const { now, trial, attempts } = facts;
  const attempt = trial.attempt === 0 ? 'launched' : trial.attempt === 1 ? 'first' : 'further';
  const reason = waitReason({ phase: trial.phase === 'done' ? 'waiting' : trial.phase, attempt, asks: false, waits: null }, facts.batch.workforce);
  if (reason === null || (reason !== 'world' && reason !== 'retry' && reason !== 'worker')) return null;
  const before = attempts.findLast((row) => row.ending === 'infra_error' || row.ending === 'cancelled');
  const from = workflow.task?.since ?? workflow.startedAt;
  const lasts = from === null ? '' : ` for ${since(now, from)}`;
  const ended = before ? `; attempt ${before.attempt} ended ${before.ending}${before.problem ? `: ${before.problem.message}` : ''}` : '';
  const sentence = {
    worker: `it was launched, and a worker is to take its first step${lasts}`,
    world: `it waits for a world: attempt ${trial.attempt} is in phase ${trial.phase}${lasts}`,
    retry: `it waits for another attempt to begin${lasts}${ended}`,
  }[reason];
  return { cause: reason, sentence, evidence: before ? [attemptEvidence(now, before, null)] : [], next: null };
}

/** Nothing of it is with a worker but short steps, or nothing at all. */
function steps({ now, trial, status }: TrialFacts, workflow: WorkflowLook): Found {
  const { task } = workflow;
  if (task) {
    const lasts = task.since === null ? '' : ` for ${since(now, task.since)}`;
    return { cause: 'step', sentence: `a worker carries out its steps of phase ${trial.phase}${lasts}`, evidence: [taskEvidence(now, task)], next: null };
  }
  const inFlight = status && status.inFlight.length > 0 ? `; in flight: ${status.inFlight.join(', ')}` : '';
  const waiting = status?.waiting && status.waiting.length > 0 ? `; waiting for the approver of its case: ${status.waiting.join(', ')}` : '';
  return {
    cause: 'step',
    sentence: `nothing of it is with a worker now: its workflow waits in phase ${trial.phase}${inFlight}${waiting}`,
    evidence: [],
    next: null,
  };
}
