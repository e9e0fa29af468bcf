import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunRequest, Trialbed } from '../../src/client/api.ts';
import { StoreLockedError, trialbedOver } from '../../src/client/index.ts';
import { prepareBatch } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { BatchWhy, TrialWhy, WhyCause } from '../../src/domain/why.ts';
import { freePort } from '../../src/infra/ports.ts';
import { createRoot } from '../../src/worker/root.ts';
import { startTrialServices, type TrialServices } from '../../src/worker/trial-worker.ts';
import { until } from '../chaos/until.ts';
import { type AgentServer, startAgentServer } from '../harness/agent-server.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { sendPoisonedSignal } from '../harness/poisoned-signal.ts';
import { says, startProvider } from '../harness/provider.ts';
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

const services = inject('services');
const stack = new AsyncDisposableStack();
/** The longest that an answer took. */
let slowest = 0;
let testbed: Testbed;
let suites: Blobs;
let client: Trialbed;
let folder: string;
let agents: AgentServer;
let wayToGateway: TcpProxy;
/** As they were deployed before, and as they are after a deploy that went wrong. */
let sound: TrialServices;
let broken: TrialServices;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-why-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  wayToGateway = stack.use(await startTcpProxy(`127.0.0.1:${port}`));
  testbed = stack.use(await startTestbed(services, { config: { gateway: { port, url: `http://${wayToGateway.address}` } } }));
  suites = stack.use(await blobs(testbed, 'why'));
  client = trialbedOver(testbed.root, async () => {});
  agents = stack.use(await startAgentServer({ 'POST hangs': () => undefined }));
  const config = { ...testbed.config, gateway: { port: 0, url: null } };
  const brokenHome = join(folder, 'broken');
  await mkdir(brokenHome);
  const [bundle = ''] = (await readdir(config.home)).filter((name) => name.startsWith('workflow-bundle-'));
  const { code } = await bundleWorkflowCode({ workflowsPath: resolve('test/fixtures/stuck/workflows.ts') });
  await writeFile(join(brokenHome, bundle), code);
  sound = stack.use(await startTrialServices({ ...testbed.root, config }));
  broken = stack.use(await startTrialServices({ ...testbed.root, config: { ...config, home: brokenHome } }));
});
afterAll(() => stack.disposeAsync());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Between two questions. */
const PAUSE_MS = 300;
const never = new Promise<never>(() => {});
const REFUND = { order_id: 5003, amount: 60, reason: 'damaged' };
const refunds = (file: string): JsonObject => ({ name: file, kind: 'script', steps: [{ call: 'issue_refund', with: REFUND }], answer: 'Done.' });
const ASKS = { user: { name: 'mara', role: 'agent', approval: [{ tool: 'issue_refund' }] }, approver: 'deny' };

/** Starts a batch, and goes away. */
async function begin(request: RunRequest, taskQueue = testbed.config.taskQueue): Promise<string> {
  const { batch, maxCost } = await prepareBatch(testbed.root, { keep: 'never', ...request });
  startBatch(testbed.root, batch, false, never, taskQueue, maxCost)
    .result()
    .catch(() => {});
  return batch.id;
}

async function trialOf(batch: string, kase?: string): Promise<string> {
  const trial = (await testbed.root.store.trials(batch)).find(({ caseId }) => kase === undefined || caseId === kase);
  if (!trial) throw new Error('the batch has no trial');
  return trial.id;
}

async function ask<T extends TrialWhy | BatchWhy = TrialWhy>(id: string, asked: Trialbed = client): Promise<T> {
  const startedAt = performance.now();
  const answer = await asked.why(id);
  slowest = Math.max(slowest, performance.now() - startedAt);
  return answer as T;
}

/** The answer, once it names the cause in such words. */
function named<T extends TrialWhy | BatchWhy = TrialWhy>(id: string, cause: WhyCause, words = /./): Promise<T> {
  return until(
    `${id} is said to wait for ${cause}`,
    async () => {
      const answer = await ask<T>(id);
      if (answer.cause === cause && words.test(answer.sentence)) return answer;
      await pause(PAUSE_MS);
      throw new Error(`${answer.cause}: ${answer.sentence}`);
    },
    40_000,
  );
}

/** A trial that waits for people. */
async function asking(name: string, taskQueue?: string, more: { readonly [name: string]: JsonObject } = {}): Promise<string> {
  const written = await writeOneCaseSuite(folder, name, { environment: 'support-desk', agent: refunds(name), kase: ASKS, more });
  return begin({ ...written, human: true }, taskQueue);
}

describe.concurrent('why a trial is stuck', () => {
  it('worker gone: names the queue that nobody asks, and who asked it last', async () => {
    const taskQueue = `${testbed.config.taskQueue}-gone`;
    await using worker = await startWorkerProcess({ ...testbed.config, gateway: { port: 0, url: null }, taskQueue });
    const batch = await begin(await suites.write(moduleAgent('hangs.ts')), taskQueue);
    const trial = await trialOf(batch);
    await named(trial, 'activity');
    process.kill(worker.pid, 'SIGKILL');
    const why = await named(trial, 'worker');
    expect(why.sentence).toContain(`none asks for work on the queue ${taskQueue}`);
    expect(why.evidence[0]).toMatchObject({ kind: 'queue', queue: taskQueue, workers: [{ alive: false }] });
    expect(await ask<BatchWhy>(batch)).toMatchObject({ cause: 'worker', groups: [{ cause: 'worker', trials: 1, examples: [{ trial }] }] });
  });

  it('a deploy that changed the workflow, one that throws, and one that hands over too much: with exception, file and event', async () => {
    const taskQueue = `${testbed.config.taskQueue}-deployed`;
    await using before = await sound.serve(taskQueue);
    const changed = await trialOf(await asking('changed', taskQueue, { changed: ASKS }), 'changed');
    expect((await named(changed, 'approval')).sentence).toMatch(/op-1 issue_refund was asked for .* ago/);
    await before[Symbol.asyncDispose]();
    await using _after = await broken.serve(taskQueue);
    await testbed.root.temporal.workflow.getHandle(changed).signal('approve', { operation: 'op-7', digest: 'x' });
    const why = await named(changed, 'workflow_changed');
    expect(why.evidence[0]).toMatchObject({
      kind: 'workflow_task',
      failure: { cause: 'NON_DETERMINISTIC_ERROR', message: expect.stringMatching(/nondeterminism/i) },
    });
    const agent = { kind: 'do-nothing' };
    const written = await writeOneCaseSuite(folder, 'deployed', { environment: 'support-desk', agent, more: { throws: {}, oversized: {} } });
    const batch = await begin({ ...written, cases: ['throws', 'oversized'] }, taskQueue);
    const thrown = await named(await trialOf(batch, 'throws'), 'workflow_error');
    expect(thrown.evidence[0]).toMatchObject({ failure: { type: 'TypeError', file: expect.stringMatching(/fixtures\/stuck\/workflows\.ts:\d+:\d+$/) } });
    expect(thrown.sentence).toMatch(/wedged.*TypeError: Cannot read properties of undefined.*workflows\.ts:\d+/);
    const large = await named(await trialOf(batch, 'oversized'), 'payload_too_large');
    expect(large.sentence).toMatch(/larger than Temporal takes/);
    const both = await ask<BatchWhy>(batch);
    expect(both.groups.map(({ cause, trials }) => [cause, trials]).sort()).toEqual([
      ['payload_too_large', 1],
      ['workflow_error', 1],
    ]);
    // Temporal's own reset: the code that is there now goes on where nothing was admitted since, in the world that there is.
    expect(await client.reset(changed, { to: 'op-1' })).toMatchObject({ how: 'temporal', attempt: 1, calls: 1, ended: false });
    // That code does something else first, and takes no decision meanwhile.
    const decided = await until('the decision is taken', () => client.decide(`${changed}.1.op-1`, { approved: false, by: 'petra' }));
    expect(decided).toMatchObject({ told: { state: 'denied' } });
    await named(changed, 'done');
    expect((await testbed.root.store.trial(changed))?.summary).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1 });
  });

  it('a poisoned message: names the signal that cannot be taken', async () => {
    const trial = await trialOf(await asking('poisoned'));
    await named(trial, 'approval');
    await sendPoisonedSignal(testbed.root.temporal, trial);
    const why = await named(trial, 'message');
    expect(why.evidence[0]).toMatchObject({ kind: 'workflow_task', after: { kind: 'signal', name: 'approve' } });
    expect(why.sentence).toMatch(/cannot take the signal approve of event \d+: .*JSON/);
  });

  it('approval pending, then a database lock that somebody else holds', async () => {
    const batch = await asking('locked');
    const trial = await trialOf(batch);
    const why = await named(trial, 'approval');
    expect(why.evidence[0]).toMatchObject({ kind: 'approval', request: `${trial}.1.op-1`, tool: 'issue_refund' });
    expect(why.next).toContain(`trialbed approve ${trial}.1.op-1`);
    expect(await ask<BatchWhy>(batch)).toMatchObject({ cause: 'approval', groups: [{ cause: 'approval', trials: 1 }] });
    const [attempt] = await testbed.root.store.attempts(trial);
    const other = new pg.Client({ connectionString: services.postgresUrl.replace(/\/[^/]*$/, '/trialbed_worlds'), application_name: 'somebody' });
    await other.connect();
    try {
      await other.query('begin');
      await other.query(`lock table w_${attempt?.world?.id}.refunds in access exclusive mode`);
      const decided = client.decide(`${trial}.1.op-1`, { approved: true, by: 'petra' });
      const locked = await named(trial, 'lock');
      expect(locked.evidence[0]).toMatchObject({
        kind: 'lock',
        on: `w_${attempt?.world?.id}.refunds`,
        holders: [{ application: 'somebody', state: 'idle in transaction' }],
      });
      await other.query('rollback');
      expect(await decided).toMatchObject({ told: { state: 'committed' } });
    } finally {
      await other.end();
    }
    await named(trial, 'done');
  });

  it('an activity that hangs with a heartbeat, then the gateway by which its agent acts is lost', async () => {
    const trial = await trialOf(await begin(await suites.write({ kind: 'http', url: `${agents.url}/hangs` })));
    const hangs = await named(trial, 'activity');
    expect(hangs.evidence[0]).toMatchObject({ kind: 'activity', activity: 'converse', state: 'started', attempt: 1 });
    await until('it gives a sign of life', async () => (await ask(trial)).evidence.some((one) => one.kind === 'activity' && one.lastHeartbeatAt !== null));
    wayToGateway.cut('refuses');
    const why = await named(trial, 'gateway');
    expect(why.sentence).toContain(`http://${wayToGateway.address}`);
    expect(why.evidence[0]).toMatchObject({ kind: 'gateway', url: `http://${wayToGateway.address}`, problem: expect.any(String) });
  });

  it('an activity that hangs without a heartbeat', async () => {
    const faults = { silence: { title: 'No reply', faults: [{ on: 'issue_refund', call: 1, fault: 'timeout_before_commit', after: '60s' }] } };
    const written = await writeOneCaseSuite(folder, 'silent', { environment: 'support-desk', agent: refunds('silent'), faults });
    const why = await named(await trialOf(await begin({ ...written, faults: ['silence'] })), 'silent_activity');
    expect(why.evidence[0]).toMatchObject({ activity: 'operate', summary: 'op-1 issue_refund (timeout_before_commit)', lastHeartbeatAt: null });
  });

  it('an endless rate limit: the attempt, when it is tried again, what the provider said', async () => {
    await using provider = await startProvider(() => ({ status: 429, headers: { 'retry-after': '5' }, text: 'slow down' }));
    const route = { name: 'tiny', url: provider.url, model: 'tiny', retries: 20 };
    const batch = await begin(await suites.write({ kind: 'model', prompt: 'Be brief.', route }));
    const why = await named(await trialOf(batch), 'model', /Model call 1 .*tried again in .*429/);
    expect(why.evidence[0]).toMatchObject({ kind: 'activity', activity: 'callModel', lastFailure: { type: 'ModelUnavailable' } });
    await client.cancel(batch).catch(() => {});
  });

  it("an exhausted budget: the trial's own, and that of its batch", async () => {
    const note = { tool: 'slow_read', args: {} };
    const written = await suites.write(moduleAgent('tells-problems.ts', { calls: [note, note] }), { budget: { calls: 1 } });
    const why = await named(await trialOf(await begin(written)), 'budget');
    expect(why.sentence).toMatch(/ended: budget_exhausted.*The budget of 1 calls is used up/);
    await using provider = await startProvider(() => says('Done.'));
    const route = { name: 'tiny', url: provider.url, model: 'tiny', prices: { input: 1, output: 10 } };
    const agent = await suites.write({ kind: 'model', prompt: 'Be brief.', route });
    const batch = await begin({ ...agent, trials: 2, concurrency: 1, maxCost: { amount: 0.0001, currency: 'USD' } });
    const spent = await named<BatchWhy>(batch, 'budget');
    expect(spent.sentence).toMatch(/The budget of the batch is used up: models have cost 0.0003 USD of at most 0.0001 USD/);
    expect(spent.groups).toContainEqual({ cause: 'budget', trials: 1, examples: [] });
    const left = (await testbed.root.store.trials(batch)).find(({ phase }) => phase === 'waiting');
    expect((await named(left?.id ?? '', 'budget')).sentence).toMatch(/not been launched: the budget of the batch is used up/);
  });

  it('infrastructure: a Temporal that does not answer, and what the store knows meanwhile; a workflow that is gone', async () => {
    const batch = await asking('away');
    const trial = await trialOf(batch);
    await named(trial, 'approval');
    const address = `127.0.0.1:${await freePort()}`;
    await using root = await createRoot({ ...testbed.config, temporal: { address, namespace: 'default' } }, { lazy: true });
    const away = trialbedOver(root, async () => {});
    const why = await ask(trial, away);
    expect(why).toMatchObject({ cause: 'infrastructure', temporalProblem: expect.any(String), phase: 'drive' });
    expect(why.sentence).toMatch(/by the store, attempt 1 was in phase drive and waited for an approval/);
    expect(await ask<BatchWhy>(batch, away)).toMatchObject({ cause: 'infrastructure', groups: [{ cause: 'infrastructure', trials: 1 }] });
    await testbed.root.temporal.workflow.getHandle(trial).terminate('by hand');
    expect((await named(trial, 'lost')).sentence).toMatch(/its workflow is terminated \(by hand\)/i);
  });
});

describe('why trials stand still that one cause holds up', () => {
  it('a rate limit that is met by an agent that asks models through the gateway', async () => {
    wayToGateway.mend();
    await using provider = await startProvider(() => ({ status: 429, headers: { 'retry-after': '20' }, text: 'slow down' }));
    const route = { name: 'tiny', url: provider.url, model: 'tiny', retries: 20 };
    const batch = await begin(await suites.write({ ...moduleAgent('asks-model.ts', { times: 1 }), route, provider_variables: true }));
    const trial = await trialOf(batch);
    expect((await named(trial, 'model')).sentence).toMatch(/waits for a model: The agent acts .*waits for the rate limit for/);
    await client.cancel(trial);
  });

  it('a server of worlds that is away, and a table of the store that somebody locked', async () => {
    const trial = await trialOf(await asking('held'));
    await named(trial, 'approval');
    const adminUrl = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    await using root = await createRoot({ ...testbed.config, worldHosts: [{ name: 'test', kind: 'embedded', adminUrl }] }, { lazy: true });
    const asked = trialbedOver(root, async () => {});
    expect(await ask(trial, asked)).toMatchObject({ cause: 'infrastructure', sentence: expect.stringContaining('the server of its world cannot be asked') });
    const other = new pg.Client({ connectionString: testbed.config.store.url, application_name: 'somebody' });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('lock table trialbed.attempts in access exclusive mode');
      const locked = until('the lock is named', () =>
        ask(trial, asked).then(
          () => false,
          (error: unknown) => (error instanceof StoreLockedError ? error.message : false),
        ),
      );
      expect(await locked).toMatch(/on trialbed\.attempts of the store that session \d+ \(somebody, idle in transaction/);
    } finally {
      await other.end();
    }
    await named(trial, 'approval');
  });
});

it('each was named in two seconds, or twice that where other tests take the machine and the trials of these run in this process', () => {
  process.stderr.write(`why: the slowest answer took ${Math.round(slowest)} ms\n`);
  expect(slowest).toBeLessThan(4_000);
});
