import { printable } from '../../domain/text/bounded.ts';
import type { LockSession, WhyEvidence, WorkflowTaskEvidence } from '../../domain/why.ts';
import type { AskedApproval, AttemptRow } from '../../store/store.ts';
import type { Queue } from './queues.ts';
import { ago, since, until } from './times.ts';
import type { TrialFacts } from './trial-facts.ts';
import type { WorkflowLook } from './workflow-look.ts';

const MAX_PROBLEM = 300;

type Of<K extends WhyEvidence['kind']> = Extract<WhyEvidence, { kind: K }>;

/** What an activity does, for people: `op-3 issue_refund (operate)`. */
export function activityName({ activity, summary }: Pick<WorkflowLook['activities'][number], 'activity' | 'summary'>): string {
  return summary === null ? activity : `${summary} (${activity})`;
}

export function activityEvidence(now: Date, { queue: _, ...activity }: WorkflowLook['activities'][number]): Of<'activity'> {
  const { attempt, maxAttempts, state, scheduledAt, startedAt, lastHeartbeatAt, nextTryAt, lastFailure, lastWorker } = activity;
  const parts = [
    `activity ${activityName(activity)}: ${state}, attempt ${attempt}${maxAttempts === null ? '' : ` of ${maxAttempts}`}`,
    ...(startedAt === null ? (scheduledAt === null ? [] : [`scheduled ${ago(now, scheduledAt)}`]) : [`started ${ago(now, startedAt)}`]),
    ...(startedAt === null ? [] : [lastHeartbeatAt === null ? 'no heartbeat' : `last heartbeat ${ago(now, lastHeartbeatAt)}`]),
    ...(nextTryAt === null ? [] : [`next try in ${until(now, nextTryAt)}`]),
    ...(lastFailure === null ? [] : [`last failure ${lastFailure.type}: ${lastFailure.message}`]),
    ...(lastWorker === null ? [] : [`worker ${lastWorker}`]),
  ];
  return { kind: 'activity', ...activity, text: parts.join(', ') };
}

export function taskEvidence(now: Date, task: Omit<WorkflowTaskEvidence, 'kind'>): Of<'workflow_task'> {
  const { failure, after, attempt, since: from, state } = task;
  const parts = [
    `workflow task: ${state}, attempt ${attempt}${from === null ? '' : `, due for ${since(now, from)}`}`,
    ...(failure === null
      ? []
      : [
          `failed at event ${failure.event} with ${failure.cause}: ${failure.message}${failure.file === null ? '' : ` at ${failure.file}`}${failure.worker === null ? '' : ` (worker ${failure.worker})`}`,
        ]),
    ...(after === null ? [] : [`after ${after.kind} ${after.name} (event ${after.event})`]),
  ];
  return { kind: 'workflow_task', ...task, text: parts.join(', ') };
}

export function queueEvidence(now: Date, { problem, workers, ...queue }: Queue): Of<'queue'> {
  const known = workers.map(({ identity, lastSeen, alive, version }) => {
    const seen = lastSeen === null ? '' : `, last seen ${ago(now, lastSeen)}`;
    return `${identity}${version === null ? '' : ` of version ${version}`}${seen}${alive ? '' : ', gone'}`;
  });
  const who = problem ?? (known.length === 0 ? 'no worker asks it for work' : `workers: ${known.join('; ')}`);
  const waiting = queue.backlog ? `, ${queue.backlog} task${queue.backlog === 1 ? ' waits' : 's wait'} there` : '';
  return { kind: 'queue', ...queue, workers, text: `queue ${queue.queue} (${queue.serves}): ${who}${waiting}` };
}

export function approvalEvidence(now: Date, { id, operation, approval }: AskedApproval): Of<'approval'> {
  const { tool, requestedAt, expiresAt } = approval;
  const text = `request ${id}: ${tool}, asked ${ago(now, requestedAt)}, expires in ${until(now, expiresAt)}`;
  return { kind: 'approval', request: id, operation, tool, requestedAt, expiresAt, text };
}

export function lockEvidence(now: Date, { server, on, waits, holders }: TrialFacts['locks'][number]): Of<'lock'> {
  const name = ({ pid, application, user, state, since: from }: LockSession): string =>
    `session ${pid} (${application === '' ? user : application}, ${state}${from === null ? '' : ` for ${since(now, from)}`})`;
  const where = on === null ? null : `${on.schema}.${on.table}`;
  const held = holders.length === 0 ? 'somebody' : holders.map(name).join(' and ');
  return {
    kind: 'lock',
    server,
    on: where,
    waits,
    holders,
    text: `${name(waits)} waits for a lock${where === null ? '' : ` on ${where}`} of ${server} that ${held} holds`,
  };
}

export function attemptEvidence(now: Date, row: AttemptRow, pass: Of<'attempt'>['pass']): Of<'attempt'> {
  const { attempt, ending, startedAt, endedAt } = row;
  const problem = row.problem && { code: row.problem.code, message: printable(row.problem.message, MAX_PROBLEM) };
  const end = ending === null ? `began ${ago(now, startedAt)}` : `ended ${ending}${endedAt === null ? '' : ` ${ago(now, endedAt)}`}`;
  const text = `attempt ${attempt}: ${end}${problem === null ? '' : `: ${problem.message} (${problem.code})`}`;
  return { kind: 'attempt', attempt, ending, pass, problem, startedAt, endedAt, text };
}

export function workflowEvidence(now: Date, { status, closedAt, startedAt, run, end }: WorkflowLook): Of<'workflow'> {
  const at = closedAt ?? startedAt;
  return {
    kind: 'workflow',
    status,
    since: at,
    run,
    text: `workflow: ${status}${at === null ? '' : ` since ${ago(now, at)}`}${end === null ? '' : `: ${end}`}`,
  };
}

export function gatewayEvidence({ url, problem }: TrialFacts['gateways'][number]): Of<'gateway'> {
  return { kind: 'gateway', url, problem, text: `gateway ${url}: ${problem ?? 'answers'}` };
}
