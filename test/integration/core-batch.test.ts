import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { trialbedOver } from '../../src/client/index.ts';
import { run } from '../../src/client/run.ts';
import { validate } from '../../src/client/validate.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs } from './core-trials.ts';

const never = new Promise<never>(() => {});

/** Without a worker of its own. */
let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'), { worker: false });
  suites = await blobs(testbed, 'core-batch');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const idle = { kind: 'do-nothing' };
const until = async (what: () => Promise<boolean>) => {
  while (!(await what())) await sleep(50);
};

it('a batch that ends by an error starts no more trials', async () => {
  const { root } = testbed;
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => {});
  const handle = await run(root, { ...(await suites.write(idle)), trials: 4, concurrency: 1, keep: 'never' }, broken);
  const workflow = root.temporal.workflow.getHandle(handle.id);
  await until(async () =>
    workflow.describe().then(
      () => true,
      () => false,
    ),
  );
  reject(new Error('the worker ended'));
  await expect(handle.result()).rejects.toThrow('the worker ended');
  await using _worker = await startTrialWorker(root);
  expect(await workflow.result()).toBe('interrupted');
  for (const { id } of await root.store.trials(handle.id)) await expect(root.temporal.workflow.getHandle(id).describe()).rejects.toThrow('not found');
});

describe('with a worker', () => {
  let worker: Awaited<ReturnType<typeof startTrialWorker>>;
  beforeAll(async () => {
    worker = await startTrialWorker(testbed.root);
  });
  afterAll(() => worker[Symbol.asyncDispose]());

  it('an agent that is named twice is run once', async () => {
    const { suite } = await suites.write(idle);
    const { trials } = await testbed.run({ suite, agents: ['reference', 'reference'], keep: 'never' });
    expect(trials).toHaveLength(1);
  });

  it('an interruption that comes as the batch ends is no error, and the batch stays finished', async () => {
    const handle = await run(testbed.root, { ...(await suites.write(idle)), keep: 'never' }, never);
    await handle.result();
    await handle.interrupt();
    expect(await testbed.root.store.batch(handle.id)).toMatchObject({ state: 'finished' });
  });

  it('a validation that is stopped leaves no batch that seems to run', async () => {
    const stop = new AbortController();
    const options = { concurrency: 1, signal: stop.signal, onProgress: () => stop.abort(new Error('stopped')) };
    const { suite } = await suites.write(idle, {
      reference: { steps: Array.from({ length: 10 }, () => ({ call: 'add_note', with: { body: 'x' } })), answer: 'Done.' },
    });
    await expect(validate(testbed.root, suite, options, async () => ({ taskQueue: testbed.config.taskQueue, broken: never }))).rejects.toThrow('stopped');
    const [batch] = await testbed.root.store.batches({ limit: 1 });
    expect(batch).toMatchObject({ state: 'cancelled' });
    expect(batch?.suite).toContain('(validation)');
    expect(await trialbedOver(testbed.root, async () => {}).batches({ running: true })).not.toContainEqual(expect.objectContaining({ id: batch?.id }));
  });

  it('trials that are under way are listed without those that wait or are done', async () => {
    const script = { kind: 'script', steps: [{ call: 'wait', with: { ms: 2_000 } }], answer: 'Done.' };
    const handle = await run(testbed.root, { ...(await suites.write(script)), trials: 3, concurrency: 1, keep: 'never' }, never);
    const underWay = () => testbed.root.store.trials(handle.id, { underWay: true });
    await until(async () => (await underWay()).length > 0);
    const [one, ...others] = await underWay();
    expect(one).toMatchObject({ batch: handle.id });
    expect(['waiting', 'done']).not.toContain(one?.phase);
    expect(others).toEqual([]);
    await handle.result();
    expect(await underWay()).toEqual([]);
  });
});

it('a worker that something ends again and again is not started for ever', { timeout: 180_000 }, async () => {
  await using bed = await startTestbed(inject('services'), { worker: false });
  await using own = await blobs(bed, 'core-poison');
  await using worker = await startWorkerProcess({ ...bed.config, failpoints: [{ name: 'entered_provision', hit: 1 }] }, { restart: true });
  const handle = await run(bed.root, { ...(await own.write(idle)), keep: 'never' }, worker.broken);
  await expect(handle.result()).rejects.toThrow('4 times in a row');
});

it('a worker that is killed while it starts again is started once more', { timeout: 120_000 }, async () => {
  await using bed = await startTestbed(inject('services'), { worker: false });
  await using worker = await startWorkerProcess(bed.config, { restart: true });
  const first = worker.pid;
  process.kill(first, 'SIGKILL');
  let second = 0;
  await until(async () => {
    second = (await workersOfOurs()).find((pid) => pid !== first) ?? 0;
    return second > 0;
  });
  expect(worker.pid).toBe(first);
  process.kill(second, 'SIGKILL');
  await until(async () => worker.pid !== first);
  expect(worker.pid).not.toBe(second);
});

async function workersOfOurs(): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent] = /^\s*(\d+)\s+(\d+)\s.*worker\/child/.exec(line) ?? [];
    return Number(parent) === process.pid ? [Number(pid)] : [];
  });
}
