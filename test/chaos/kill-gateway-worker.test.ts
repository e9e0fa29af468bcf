import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import type { BatchHandle, RunRequest } from '../../src/client/api.ts';
import { decide } from '../../src/client/approvals.ts';
import { run } from '../../src/client/run.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { startWorkerProcess, type WorkerProcess } from '../../src/client/worker-process.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { freePort } from '../../src/infra/ports.ts';
import type { Root } from '../../src/worker/root.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { type Start, startAgentServer } from '../harness/agent-server.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';
import { acting } from '../integration/core-trials.ts';
import { until } from './until.ts';

type Call = readonly [tool: string, args: JsonObject];

/** A trial of an agent on a server of its own, which makes its calls one after another and repeats each by its id until it hears of it. */
interface Elsewhere extends AsyncDisposable {
  readonly root: Root;
  readonly doomed: WorkerProcess;
  readonly batch: BatchHandle;
  /** What the agent was told, in order. */
  readonly heard: readonly Json[];
  /** Requests that nobody answered. */
  lost(): number;
  /** Starts the agent was given. */
  starts(): number;
  /** Lets the next worker take over, and waits for the end. */
  end(): Promise<{ readonly trial: TrialSummary | undefined; readonly record: TrialRecord | null }>;
}

async function elsewhere(
  name: string,
  calls: readonly Call[],
  kase: JsonObject = {},
  request: Partial<RunRequest> = {},
  places: { readonly own?: true } = {},
): Promise<Elsewhere> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const listening = places.own ? { port: 0, url: `http://127.0.0.1:${await freePort()}` } : { port: await freePort(), url: null };
  const { config, root } = stack.use(await startTestbed(inject('services'), { worker: false, config: { home, gateway: listening } }));
  // Of a worker that has nothing to do with the trial: a balancer may lead to any.
  if (listening.url) stack.use(await startGateway({ listen: '127.0.0.1', port: Number(new URL(listening.url).port), store: root.store, log: root.log }));

  const heard: Json[] = [];
  let lost = 0;
  const insist = async ({ gateway, token }: Start, [tool, args]: Call): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'call-id': randomUUID() };
    for (;;) {
      const response = await fetch(`${gateway}/tools/${tool}`, { method: 'POST', headers, body: JSON.stringify(args) }).catch(() => null);
      if (response && response.status !== 503) return void heard.push((await response.json()) as Json);
      lost++;
      await sleep(100);
    }
  };
  let answer: string | null = null;
  const server = stack.use(
    await startAgentServer({
      'POST works': async ({ response, start }) => {
        response.writeHead(202, { location: `/status/${start.turn}` }).end();
        for (const call of calls) await insist(start, call);
        answer = 'I noted it.';
      },
      'GET status': ({ response }) => (answer === null ? response.writeHead(202).end() : response.end(answer)),
    }),
  );
  const environment = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt: name } };
  const agent = { kind: 'http', url: `${server.url}/works`, timeouts: { poll: '200ms' } };
  const suite = await writeOneCaseSuite(home, 'works', { environment, agent, kase });
  const doomed = await startWorkerProcess(config);
  const batch = await run(root, { ...suite, keep: 'never', ...request }, new Promise(() => {}));
  const owned = stack.move();
  return {
    root,
    doomed,
    batch,
    heard,
    lost: () => lost,
    starts: () => server.seen.filter((line) => line === 'POST /works').length,
    async end() {
      const trials: TrialSummary[] = [];
      for await (const event of batch.events()) if (event.type === 'trial') trials.push(event);
      return { trial: trials[0], record: await root.store.record(trials[0]?.trial ?? '', 1) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function kill(worker: WorkerProcess): Promise<void> {
  process.kill(worker.pid, 'SIGKILL');
  await expect(worker.broken).rejects.toThrow('was ended by SIGKILL');
}

const bodies = (record: TrialRecord | null) => record?.effects.map((effect) => ('after' in effect ? effect.after?.['body'] : null));

describe.concurrent('kill -9 of the worker: an agent elsewhere hears the result from the next one, and nothing is done twice', () => {
  it('while its call is in flight', { timeout: 120_000 }, async () => {
    const calls: Call[] = [
      ['add_note', { body: 'before' }],
      ['wait', { ms: 4_000 }],
      ['add_note', { body: 'after' }],
    ];
    await using trialled = await elsewhere('in-flight', calls);
    const { root, heard } = trialled;
    await until('the first call was heard', async () => heard.length === 1);
    await acting(root, 1);
    await kill(trialled.doomed);
    await using _survivor = await startTrialWorker(root);
    const { trial, record } = await trialled.end();
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1, calls: 3 });
    expect(trialled.lost()).toBeGreaterThan(0);
    expect(heard).toMatchObject([1, 2, 3].map((n) => ({ operation: `op-${n}`, state: 'committed' })));
    expect(trialled.starts()).toBe(1);
    expect(record?.operations.map(({ id, tool, known }) => `${id} ${tool} ${known}`)).toEqual([
      'op-1 add_note committed',
      'op-2 wait committed',
      'op-3 add_note committed',
    ]);
    expect(bodies(record)).toEqual(['before', 'after']);
    expect(record?.messages.map(({ from, text }) => `${from}: ${text}`)).toEqual(['user: Do it.', 'agent: I noted it.']);
  });

  it('while its call waits for an approval, which a person gives meanwhile', { timeout: 120_000 }, async () => {
    const user = { name: 'mara', role: 'agent', approval: [{ tool: 'add_note' }] };
    await using trialled = await elsewhere('approval', [['add_note', { body: 'approved' }]], { user, approver: 'deny' }, { human: true });
    const { root, heard } = trialled;
    const asked = await until('the call waits', async () => (await root.store.waitingApprovals({ batch: trialled.batch.id }))[0] ?? null);
    await kill(trialled.doomed);
    await using _survivor = await startTrialWorker(root);
    expect(await decide(root, asked.id, { approved: true, by: 'petra' })).toMatchObject({ told: { state: 'committed' } });
    const { trial, record } = await trialled.end();
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1, calls: 1 });
    expect(trialled.lost()).toBeGreaterThan(0);
    expect(heard).toMatchObject([{ operation: 'op-1', state: 'committed' }]);
    expect(record?.operations).toMatchObject([{ told: 'committed', approval: { end: { outcome: 'approved', by: 'petra' } } }]);
    expect(bodies(record)).toEqual(['approved']);
  });
});

describe('SIGTERM to the worker: it ends what is short, and an agent elsewhere goes on with the next one', () => {
  it('whose address it never learns: any gateway passes its calls on', { timeout: 120_000 }, async () => {
    const calls: Call[] = [
      ['add_note', { body: 'before' }],
      // Longer than the worker has to end what is short.
      ['wait', { ms: 6_000 }],
      ['add_note', { body: 'after' }],
    ];
    await using trialled = await elsewhere('handed-over', calls, {}, {}, { own: true });
    const { root, heard, doomed } = trialled;
    const { url } = root.config.gateway;
    await until('the first call was heard', async () => heard.length === 1);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ state: 'ready' });
    await acting(root, 1);
    process.kill(doomed.pid, 'SIGTERM');
    await using _survivor = await startTrialWorker(root);
    await expect(doomed.broken).rejects.toThrow('ended with status 0');
    const { trial, record } = await trialled.end();
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1, calls: 3 });
    expect(heard).toMatchObject([1, 2, 3].map((n) => ({ operation: `op-${n}`, state: 'committed' })));
    expect(trialled.lost()).toBeGreaterThan(0);
    expect(trialled.starts()).toBe(1);
    expect(record?.operations.map(({ id, tool, known }) => `${id} ${tool} ${known}`)).toEqual([
      'op-1 add_note committed',
      'op-2 wait committed',
      'op-3 add_note committed',
    ]);
    expect(bodies(record)).toEqual(['before', 'after']);
  });
});
