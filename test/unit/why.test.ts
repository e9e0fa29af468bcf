import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { explainTrial } from '../../src/client/why/explain-trial.ts';
import { heldLocks } from '../../src/client/why/held-locks.ts';
import { fileIn } from '../../src/client/why/task-trouble.ts';
import type { TrialFacts } from '../../src/client/why/trial-facts.ts';
import type { WorkflowLook } from '../../src/client/why/workflow-look.ts';
import type { BatchWhy, TrialWhy } from '../../src/domain/why.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { TestHost } from './cli-support.ts';

const NOW = new Date('2026-03-02T10:00:00.000Z');
const at = (secondsBefore: number): string => new Date(NOW.getTime() - secondsBefore * 1000).toISOString();

const WORKER = { identity: '7@here', lastSeen: at(2), alive: true, version: null };
const QUEUE = { queue: 'q', serves: 'trials', workers: [WORKER], backlog: 0, problem: null } as const;
const RUNS: WorkflowLook = {
  ...{ status: 'RUNNING', run: 'r', startedAt: at(60), closedAt: null, queue: 'q', version: null, activities: [], task: null, end: null },
};
const CALL: WorkflowLook['activities'][number] = {
  ...{ activity: 'operate', summary: 'op-1 issue_refund', state: 'started', attempt: 1, maxAttempts: 1, scheduledAt: at(20), startedAt: at(20) },
  ...{ lastHeartbeatAt: at(1), nextTryAt: null, lastWorker: '7@here', lastFailure: null, queue: 'q' },
};
const ROW = { id: 'b-1', batch: 'b', caseId: 'c', agentName: 'a', schedule: 'none', phase: 'drive', attempt: 1, summary: null };
const BATCH = {
  ...{ batch: { id: 'b', state: 'running', hold: null, options: { concurrency: 8 } }, workforce: { state: 'running', launches: true, worker: true } },
  ...{ queue: QUEUE, workflow: null, temporalProblem: null, budget: null, outages: [], locks: [] },
};

function explained(workflow: WorkflowLook | null, more: object = {}, row: object = {}): TrialWhy {
  const facts = {
    ...{ now: NOW, trial: { ...ROW, ...row }, batch: BATCH, attempts: [], standing: { launched: true, settled: false, modelWaitUntil: null, gateways: [] } },
    ...{
      approvals: [],
      workflow,
      temporalProblem: null,
      status: null,
      queues: [QUEUE],
      locks: [],
      gateways: [],
      worldsProblem: null,
      worldsLate: false,
      storeProblem: null,
      ...more,
    },
  };
  return explainTrial(facts as unknown as TrialFacts);
}

describe('what a trial waits for', () => {
  it('an activity is silent once it has given no sign of life for longer than it takes to give one', () => {
    const heard = (lastHeartbeatAt: string | null) => explained({ ...RUNS, activities: [{ ...CALL, lastHeartbeatAt }] });
    expect(heard(at(1))).toMatchObject({
      cause: 'activity',
      sentence: 'It waits for op-1 issue_refund (operate), which runs for 20 s (attempt 1, last heartbeat 1 s ago).',
    });
    expect(heard(at(7))).toMatchObject({ cause: 'silent_activity', sentence: expect.stringContaining('has given no sign of life since 7 s ago') });
    expect(heard(null)).toMatchObject({ cause: 'silent_activity', sentence: expect.stringContaining('has given no sign of life: it may hang') });
  });

  it('of several activities the one that fails says the most, and an agent that converses the least', () => {
    const converse = { ...CALL, activity: 'converse', summary: 'The agent acts' };
    const fails = {
      ...CALL,
      activity: 'release',
      summary: null,
      attempt: 4,
      state: 'scheduled' as const,
      nextTryAt: at(-5),
      lastFailure: { type: 'Infrastructure', message: 'no.' },
    };
    expect(explained({ ...RUNS, activities: [converse] })).toMatchObject({
      cause: 'activity',
      sentence: expect.stringMatching(/^It waits for its agent, which acts for 20 s/),
    });
    expect(explained({ ...RUNS, activities: [converse, CALL] }).sentence).toContain('op-1 issue_refund');
    const why = explained({ ...RUNS, activities: [converse, CALL, fails] });
    expect(why).toMatchObject({ cause: 'failing_activity', evidence: [{ kind: 'activity', activity: 'release', attempt: 4 }, {}, {}, {}] });
    expect(why.sentence).toBe('It waits for release, which failed and is tried again in 5 s (attempt 4); the last failure was Infrastructure: no.');
  });

  it('a worker of another version, one that is gone, and those that take nothing are no workers for it', () => {
    const pinned = explained({ ...RUNS, version: 'v1', task: { state: 'scheduled', attempt: 1, since: at(1), failure: null, after: null } });
    expect(pinned).toMatchObject({ cause: 'worker', sentence: expect.stringContaining('none of version v1, on which it began') });
    const gone = { ...QUEUE, workers: [{ ...WORKER, alive: false }] };
    expect(explained(RUNS, { batch: { ...BATCH, queue: gone } })).toMatchObject({
      cause: 'worker',
      sentence: expect.stringContaining('the last one was seen 2 s ago'),
    });
    const models = { ...gone, queue: 'q-models', serves: 'models' };
    const due = { ...CALL, activity: 'callModel', state: 'scheduled' as const, queue: 'q-models' };
    expect(explained({ ...RUNS, activities: [due] }, { queues: [models] })).toMatchObject({ cause: 'worker', evidence: [{ queue: 'q-models' }, {}, {}] });
    const task = { state: 'scheduled', attempt: 1, since: at(20), failure: null, after: null } as const;
    expect(explained({ ...RUNS, task })).toMatchObject({ cause: 'worker', sentence: expect.stringContaining('has taken its workflow task for 20 s') });
    expect(explained({ ...RUNS, task: { ...task, state: 'started' } })).toMatchObject({ cause: 'step' });
  });

  it('what comes before it acts, and after it has ended', () => {
    const failed = {
      trial: 'b-1',
      attempt: 1,
      ending: 'infra_error',
      counts: false,
      problem: { code: 'WorldGone', message: 'gone' },
      startedAt: at(90),
      endedAt: at(60),
      world: null,
    };
    expect(explained(RUNS, { attempts: [failed] }, { phase: 'provision', attempt: 2 })).toMatchObject({
      cause: 'retry',
      sentence: expect.stringContaining('attempt 1 ended infra_error: gone'),
    });
    expect(explained(RUNS, {}, { phase: 'provision' })).toMatchObject({ cause: 'world' });
    const summary = { attempt: 1, ending: 'infra_error', pass: null, why: 'no room.' } as unknown as TrialSummary;
    const ended = { phase: 'done', summary };
    const settled = { launched: true, settled: true, modelWaitUntil: null, gateways: [] };
    expect(explained(null, { standing: settled }, ended)).toMatchObject({
      cause: 'infrastructure',
      sentence: 'It waits for nothing, it has ended: infra_error, which is no result: no room.',
    });
    expect(explained(null, {}, ended)).toMatchObject({ cause: 'retry', sentence: expect.stringContaining('which its batch launches when there is room') });
    expect(explained(null, {})).toMatchObject({ cause: 'lost', sentence: expect.stringContaining('Temporal knows nothing of its workflow') });
  });

  it('a lock counts that is waited for long, or again and again while one holds it for long', () => {
    const session = (since: string) => ({ pid: 1, application: 'a', user: 'u', state: 'active', since });
    const held = (waits: string, holds: string) => heldLocks(NOW, [{ server: 's', on: null, waits: session(waits), holders: [session(holds)] }]).length;
    expect([held(at(0.2), at(0.3)), held(at(3), at(0.3)), held(at(0.2), at(60))]).toEqual([0, 1, 1]);
  });

  it('the place of an exception is the first of our own files', () => {
    expect(fileIn('TypeError: x\n    at a (/app/node_modules/@temporalio/workflow/lib/a.js:1:2)\n    at run (file:///app/src/workflows/trial.ts:7:9)')).toBe(
      '/app/src/workflows/trial.ts:7:9',
    );
    expect(fileIn('TypeError: x\n    at /app/node_modules/lib/a.js:1:2')).toBe('/app/node_modules/lib/a.js:1:2');
    expect(fileIn('no stack')).toBeNull();
  });
});

describe('trialbed why', () => {
  const hostile = { type: 'Error', message: 'no\u001b[2J\r\nworker: forged \u202egnorw' };
  const activities = [{ ...CALL, attempt: 2, lastFailure: hostile }];

  it('prints sentence, evidence and next step; what others wrote commands no terminal and forges no line', async () => {
    const host = new TestHost({ client: { why: async () => explained({ ...RUNS, activities }) } });
    expect(await runCommandLine(['why', 'b-1', '--home', '/h'], host)).toBe(0);
    const lines = host.stdout.split('\n');
    expect(lines[0]).toMatch(
      /^It waits for op-1 issue_refund \(operate\), which failed and is being tried again \(attempt 2\); the last failure was Error: no/,
    );
    expect(host.stdout).toContain('trial b-1: c with a, phase drive, attempt 1\ncause: failing_activity\n');
    expect(host.stdout).not.toMatch(/[\u001b\r\u202e]/);
    expect(lines.filter((line) => line.startsWith('worker'))).toEqual([]);
  });

  it('--json is the answer on one line; of a batch its groups are printed with examples', async () => {
    const answer = explained({ ...RUNS, activities });
    const host = new TestHost({ client: { why: async () => answer } });
    await runCommandLine(['why', 'b-1', '--json'], host);
    expect(JSON.parse(host.stdout)).toEqual(answer);
    expect(host.stdout.trim().split('\n')).toHaveLength(1);
    const groups = [
      { cause: 'approval', trials: 12, examples: [{ trial: 'b-1', case: 'c', agent: 'a', sentence: 'It waits for an approval.' }] },
      { cause: 'turn', trials: 3, examples: [] },
    ] as const;
    const batch: BatchWhy = {
      ...({ type: 'why', what: 'batch', batch: 'b', suite: 's', state: 'running', trials: 20, done: 5, cause: 'approval', looked: 12 } as const),
      ...{ sentence: 'The batch goes on.', evidence: [], next: 'Look at `trialbed approvals`', groups, temporalProblem: null },
    };
    const second = new TestHost({ client: { why: async () => batch } });
    await runCommandLine(['why', 'b', '--home', '/h'], second);
    expect(second.stdout).toContain('batch b of s: running, 5 of 20 trials done');
    expect(second.stdout).toContain('  12  approval\n      b-1: It waits for an approval.\n   3  turn\n');
    expect(second.stdout).toContain('next: Look at `trialbed approvals --home /h`');
  });
});
