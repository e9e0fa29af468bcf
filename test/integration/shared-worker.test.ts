import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { BatchHandle } from '../../src/client/api.ts';
import { trialbedOver, work } from '../../src/client/index.ts';
import { Control } from '../../src/client/control.ts';
import { Pollers } from '../../src/client/pollers.ts';
import { prepareBatch } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import { runSharedWorker } from '../../src/worker/shared-worker.ts';
import { queueOf } from '../../src/workflows/messages.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'), {
    worker: false,
    config: { worker: { activities: 2, cachedWorkflows: 300, modelCalls: 2, modelCallsPerSecond: null } },
  });
  suites = await blobs(testbed, 'shared-worker');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const never = new Promise<never>(() => {});

async function begin(trials: number, concurrency: number): Promise<BatchHandle> {
  const { root } = testbed;
  const suite = await suites.write({ kind: 'script', steps: Array.from({ length: 3 }, () => ({ call: 'wait', with: { ms: 60 } })), answer: 'Done.' });
  const { batch } = await prepareBatch(root, { ...suite, trials, concurrency, keep: 'never' });
  return startBatch(root, batch, false, never, queueOf(root.config.taskQueue, batch));
}

it('two batches share a worker: the large one, which came first and has every slot, leaves the small one its part', { timeout: 120_000 }, async () => {
  const { root } = testbed;
  const large = await begin(40, 20);
  const small = await begin(4, 2);
  const stop = new AbortController();
  const working = runSharedWorker(testbed.config, { signal: stop.signal });
  const summary = await small.result();
  expect(summary).toMatchObject({ trials: 4, infraErrors: 0, undetermined: 0 });
  // By the order in which they settled, and by no clock: when the last of four was done, the large one had most of its own before it.
  const [last] = (await root.store.settledAfter(small.id, 0, [])).slice(-1);
  const before = (await root.store.settledAfter(large.id, 0, [])).filter(({ place }) => place < (last?.place ?? 0));
  expect(before.length).toBeLessThan(20);
  expect((await root.store.batch(large.id))?.state).toBe('running');
  // A worker that serves a batch works on it, whoever follows it.
  expect(await root.store.driven([large.id])).toContain(large.id);
  const control = new Control(root, {
    taskQueueOf: (batch) => queueOf(root.config.taskQueue, batch),
    pollers: new Pollers(root.temporal, root.config.taskQueue),
    worker: () => never,
  });
  expect(await control.cancel(large.id)).toMatchObject({ what: 'batch', state: 'cancelled' });
  stop.abort();
  await working;
});

it('the gateway of a worker serves the console where it is told to, to whoever has a key of its own, and a command of the same home finds it', async () => {
  const { config, root } = testbed;
  const env = {
    TRIALBED_DATABASE_URL: config.store.url,
    TRIALBED_WORLDS_URL: `test=${inject('services').postgresUrl}`,
    TRIALBED_TASK_QUEUE: `${config.taskQueue}-console`,
    TRIALBED_CONSOLE: '1',
    TEMPORAL_ADDRESS: config.temporal.address,
  };
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const said: string[] = [];
  const working = work({ env, home: config.home, signal: stop.signal, onReady: () => ready.resolve(), log: (line) => said.push(line) });
  working.catch(ready.reject);
  await ready.promise;
  const client = trialbedOver(root, async () => {});
  const served = await client.console();
  expect(served.ours).toBe(false);
  expect(said).toContainEqual(expect.stringContaining(`the console is served at ${served.url}`));
  const { origin, port, hostname } = new URL(served.url);
  expect(hostname).toBe('127.0.0.1');

  const page = await fetch(await served.link(['viewer']));
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const form = await page.text();
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(form)?.[1] ?? '';
  const signedIn = await fetch(`${origin}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, cookie: cookieOf(page, `trialbed_${port}_form`) },
    body: new URLSearchParams({ form: field('form'), key: field('key') }),
  });
  expect(signedIn.headers.get('location')).toBe('/console/batches');
  const cookie = cookieOf(signedIn, `trialbed_${port}`);
  const batches = await fetch(`${origin}/console/batches`, { headers: { cookie } });
  expect(await batches.text()).toContain((await root.store.batches({ limit: 1 }))[0]?.id);
  expect((await fetch(`${origin}/console/batches`, { redirect: 'manual' })).headers.get('location')).toBe('/console/sign-in');

  // It is the server of the door, and the keys of the one open nothing of the other.
  expect(await (await fetch(`${origin}/health`)).json()).toEqual({ state: 'ready' });
  const secret = cookie.slice(cookie.indexOf('=') + 1);
  expect((await fetch(`${origin}/tools`, { headers: { cookie, authorization: `Bearer ${secret}` } })).status).toBe(401);

  stop.abort();
  await working;
  await using after = await client.console();
  expect(after.ours).toBe(true);
});

function cookieOf(answer: Response, name: string): string {
  return (
    answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0] ?? '')
      .find((cookie) => cookie.startsWith(`${name}=`)) ?? ''
  );
}
