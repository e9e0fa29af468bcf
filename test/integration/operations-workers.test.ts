import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { OperationsBench, until } from './operations-bench.ts';

/** Workers that are lost with a call in flight: killed, paused, shut down. Each runs in a process or under a task queue of its own. */
let bench: OperationsBench;
beforeAll(async () => {
  bench = await OperationsBench.start(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

const heartbeat = (taskQueue: string) => ({ taskQueue, heartbeatTimeout: '2 seconds' }) as const;
const LOST = { cause: 'TimeoutFailure', type: 'HEARTBEAT' };

describe.concurrent('a worker that is killed', () => {
  it.each([
    ['before the call wrote', 'gate_before', []],
    ['after the call wrote', 'gate_after', [1]],
  ] as const)('%s: heartbeat missed, unknown', async (_when, behaviour, effects) => {
    const taskQueue = bench.queue();
    const doomed = await bench.activityProcess(taskQueue);
    const { id, result } = await bench.begin([behaviour], { activity: heartbeat(taskQueue) });
    await bench.wrote(id, effects.length);
    doomed.kill('SIGKILL');
    const { outcome, reported } = await result;
    expect(reported).toMatchObject([LOST]);
    expect(outcome).toMatchObject({ state: 'unknown', reason: 'heartbeat', disturbed: false });
    expect(await bench.book.of(id)).toMatchObject({ effects, starts: 1 });
  });

  it('after the call wrote, and the system of record can be asked: committed, and not dispatched again', async () => {
    const taskQueue = bench.queue();
    const doomed = await bench.activityProcess(taskQueue);
    const { id, result } = await bench.begin(['gate_after'], { activity: heartbeat(taskQueue), recover: true });
    await bench.wrote(id, 1);
    doomed.kill('SIGKILL');
    const { outcome, states } = await result;
    expect(outcome).toMatchObject({ state: 'committed', disturbed: true });
    expect(states).toEqual(['dispatched', 'committed']);
    expect(await bench.book.of(id)).toMatchObject({ effects: [1], starts: 1 });
  });

  it('before the call wrote, and the system of record can be asked: dispatched again', async () => {
    const taskQueue = bench.queue();
    const doomed = await bench.activityProcess(taskQueue);
    const { id, result } = await bench.begin(['gate_before', 'commit'], { activity: heartbeat(taskQueue), recover: true });
    await bench.wrote(id, 0);
    doomed.kill('SIGKILL');
    await using _next = await bench.activityWorker(taskQueue);
    expect((await result).outcome).toMatchObject({ state: 'committed', disturbed: true });
    expect(await bench.book.of(id)).toMatchObject({ effects: [2], starts: 2 });
  });

  it('again and again, each time before the call wrote: failed, since nothing was changed', async () => {
    const taskQueue = bench.queue();
    const first = await bench.activityProcess(taskQueue);
    const { id, result } = await bench.begin(['gate_before'], { activity: heartbeat(taskQueue), recover: true, redispatches: 1 });
    await bench.wrote(id, 0);
    first.kill('SIGKILL');
    await once(first, 'exit');
    const second = await bench.activityProcess(taskQueue);
    await bench.started(id, 2);
    second.kill('SIGKILL');
    expect((await result).outcome).toMatchObject({ state: 'failed', reason: 'absent', disturbed: true });
    expect(await bench.book.of(id)).toMatchObject({ effects: [], starts: 2 });
  });
});

describe.concurrent('a worker that is merely paused', () => {
  it('unknown; and once it goes on, its write is there all the same', async () => {
    const taskQueue = bench.queue();
    const paused = await bench.activityProcess(taskQueue);
    const { id, result } = await bench.begin(['gate_before'], { activity: heartbeat(taskQueue) });
    await bench.wrote(id, 0);
    paused.kill('SIGSTOP');
    const { outcome, reported } = await result;
    expect(reported).toMatchObject([LOST]);
    expect(outcome).toMatchObject({ state: 'unknown', reason: 'heartbeat' });
    expect((await bench.book.of(id)).effects).toEqual([]);
    await bench.book.openGate(id);
    paused.kill('SIGCONT');
    await bench.wrote(id, 1);
  });

  it('where the system of record can fence it: dispatched again, and its late write is refused', async () => {
    const taskQueue = bench.queue();
    const paused = await bench.activityProcess(taskQueue);
    const { id, result } = await bench.begin(['gate_before', 'commit'], { activity: heartbeat(taskQueue), recover: true });
    await bench.wrote(id, 0);
    paused.kill('SIGSTOP');
    await using _next = await bench.activityWorker(taskQueue);
    expect((await result).outcome).toMatchObject({ state: 'committed', disturbed: true });
    expect(await bench.book.of(id)).toMatchObject({ effects: [2], late: [] });
    await bench.book.openGate(id);
    paused.kill('SIGCONT');
    await until(async () => (await bench.book.of(id)).late.length > 0);
    expect(await bench.book.of(id)).toMatchObject({ effects: [2], late: [1], starts: 2 });
  });
});

describe.concurrent('a worker that shuts down', () => {
  it.each([
    ['before the call wrote', 'stop_before', []],
    ['after the call wrote', 'stop_after', [1]],
  ] as const)('%s: unknown', async (_when, behaviour, effects) => {
    const taskQueue = bench.queue();
    const worker = await bench.activityWorker(taskQueue);
    const { id, result } = await bench.begin([behaviour], { activity: { taskQueue } });
    await bench.wrote(id, effects.length);
    await worker[Symbol.asyncDispose]();
    const { outcome, reported } = await result;
    expect(reported).toMatchObject([{ cause: 'ApplicationFailure', type: 'WorkerShutdown', retryState: 'MAXIMUM_ATTEMPTS_REACHED' }]);
    expect(outcome).toMatchObject({ state: 'unknown', reason: 'worker_shutdown', problem: { code: 'interrupted' } });
    expect((await bench.book.of(id)).effects).toEqual(effects);
  });

  it.each([
    ['before the call wrote: dispatched again', 'stop_before', [2], 2],
    ['after the call wrote: committed, and not dispatched again', 'stop_after', [1], 1],
  ] as const)('where the system of record can be asked, %s', async (_when, behaviour, effects, starts) => {
    const taskQueue = bench.queue();
    const worker = await bench.activityWorker(taskQueue);
    const { id, result } = await bench.begin([behaviour, 'commit'], { activity: { taskQueue }, recover: true });
    await bench.wrote(id, behaviour === 'stop_after' ? 1 : 0);
    await worker[Symbol.asyncDispose]();
    await using _next = await bench.activityWorker(taskQueue);
    expect((await result).outcome).toMatchObject({ state: 'committed', disturbed: true });
    expect(await bench.book.of(id)).toMatchObject({ effects, starts });
  });
});
