import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { BatchEvent, BatchHandle, Trialbed } from '../../src/client/api.ts';
import { trialbedOver } from '../../src/client/index.ts';
import { prepareBatch } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { type BatchSettings, windowId } from '../../src/workflows/batch-messages.ts';
import { until } from '../chaos/until.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
let folder: string;
let client: Trialbed;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'batch-workflow');
  folder = await mkdtemp(join(tmpdir(), 'trialbed-batch-'));
  client = trialbedOver(testbed.root, async () => {});
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const never = new Promise<never>(() => {});

interface Wanted {
  readonly trials: number;
  readonly concurrency: number;
  readonly settings?: Partial<BatchSettings>;
  /** So many trials end at once; the others stay until the gate is opened. Absent: there is no gate. */
  readonly done?: number;
}

let count = 0;

async function begin({ trials, concurrency, settings = {}, done }: Wanted): Promise<BatchHandle & { readonly open: () => Promise<void> }> {
  const name = `b${++count}`;
  const gate = join(folder, `${name}-gate`);
  const agent = done === undefined ? { kind: 'do-nothing' } : moduleAgent('counts.ts', { folder, name, done, gate });
  const suite = await suites.write(agent, { budget: { wall: '5m' } });
  const { batch, maxCost } = await prepareBatch(testbed.root, { ...suite, trials, concurrency, keep: 'never', seed: name });
  const handle = startBatch(testbed.root, batch, false, never, testbed.root.config.taskQueue, maxCost, settings);
  return { ...handle, open: () => writeFile(gate, '') };
}

async function read(
  handle: BatchHandle,
  events: BatchEvent[] = [],
): Promise<{ readonly trials: readonly TrialSummary[]; readonly events: readonly BatchEvent[] }> {
  for await (const event of handle.events()) events.push(event);
  return { events, trials: events.filter((event): event is TrialSummary => event.type === 'trial') };
}

const underWay = async (batch: string) => (await testbed.root.store.trials(batch)).filter(({ phase, attempt }) => attempt > 0 && phase !== 'done');
const begun = async (batch: string) => (await testbed.root.store.trials(batch)).filter(({ attempt }) => attempt > 0);

/** The most trials that were seen under way at once, until the batch ends. */
async function mostUnderWay(handle: BatchHandle): Promise<number> {
  let most = 0;
  let over = false;
  const ended = handle.result().finally(() => {
    over = true;
  });
  while (!over) {
    most = Math.max(most, (await underWay(handle.id)).length);
    await sleep(20);
  }
  await ended;
  return most;
}

async function expectEachOnce(batch: string, trials: readonly TrialSummary[], count: number): Promise<void> {
  expect(trials.filter(({ ending, attempt }) => ending !== 'completed' || attempt !== 1)).toEqual([]);
  expect(new Set(trials.map(({ trial }) => trial)).size).toBe(count);
  expect(trials).toHaveLength(count);
  for (const { id } of await testbed.root.store.trials(batch)) expect(await testbed.root.store.attempts(id)).toHaveLength(1);
}

describe('the workflow of a batch', () => {
  it('keeps its window, goes on over several runs, and counts each trial once', async () => {
    const handle = await begin({ trials: 12, concurrency: 3, settings: { endsPerRun: 3 } });
    const [most, { trials }] = await Promise.all([mostUnderWay(handle), read(handle)]);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
    await expectEachOnce(handle.id, trials, 12);
    expect(await testbed.root.store.batch(handle.id)).toMatchObject({ state: 'finished', hold: null });
    const { raw } = await testbed.root.temporal.workflow.getHandle(handle.id).describe();
    expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(raw.workflowExecutionInfo?.execution?.runId);
  });

  it('has further windows where more may be in flight than one holds', async () => {
    const handle = await begin({ trials: 14, concurrency: 5, settings: { windowSize: 2, endsPerRun: 4 } });
    const [most, { trials }] = await Promise.all([mostUnderWay(handle), read(handle)]);
    expect(most).toBeLessThanOrEqual(5);
    await expectEachOnce(handle.id, trials, 14);
    for (const number of [1, 2]) {
      const window = testbed.root.temporal.workflow.getHandle(windowId(handle.id, number));
      expect((await window.describe()).status.name).toBe('COMPLETED');
    }
  });

  it('launched twice at a time it runs once', async () => {
    const { root } = testbed;
    const suite = await suites.write({ kind: 'do-nothing' });
    const { batch } = await prepareBatch(root, { ...suite, trials: 5, concurrency: 2, keep: 'never' });
    const handles = [1, 2].map(() => startBatch(root, batch, false, never));
    const [first, second] = await Promise.all(handles.map((handle) => read(handle)));
    await expectEachOnce(batch.id, first?.trials ?? [], 5);
    expect(second?.trials.length).toBeLessThanOrEqual(5);
    expect((await Promise.all(handles.map((handle) => handle.result()))).map(({ passed }) => passed)).toEqual([5, 5]);
  });

  it('counts a trial whose workflow was terminated, and goes on', async () => {
    const handle = await begin({ trials: 3, concurrency: 1, done: 0, settings: { reconcileMs: 200 } });
    const [victim] = await until('a trial is under way', async () => {
      const rows = await underWay(handle.id);
      return rows[0]?.phase === 'drive' && rows;
    });
    await testbed.root.temporal.workflow.getHandle(victim?.id ?? '').terminate('for the test');
    await handle.open();
    const { trials } = await read(handle);
    expect(trials.map(({ ending }) => ending).sort()).toEqual(['completed', 'completed', 'infra_error']);
    expect(trials.find(({ trial }) => trial === victim?.id)?.why).toContain('ended without a result');
  });

  it('that is terminated leaves its trials alone, and its command says so; the same command goes on', async () => {
    const handle = await begin({ trials: 3, concurrency: 2, done: 0 });
    await until('two are under way', async () => (await underWay(handle.id)).length === 2);
    await testbed.root.temporal.workflow.getHandle(handle.id).terminate('for the test');
    await expect(handle.result()).rejects.toMatchObject({ code: 'batch_broken' });
    const batch = await testbed.root.store.batch(handle.id);
    expect(batch?.state).toBe('interrupted');
    if (!batch) return;
    const again = startBatch(testbed.root, batch, true, never);
    await handle.open();
    const { trials } = await read(again);
    await expectEachOnce(handle.id, trials, 3);
  });
});

describe('a batch that is steered', () => {
  it('is paused, changed, resumed, and each request says whether it counted', async () => {
    const handle = await begin({ trials: 6, concurrency: 1, done: 1 });
    const events: BatchEvent[] = [];
    const reading = read(handle, events);
    await until('the second is under way', async () => (await begun(handle.id)).length === 2);
    expect(await client.pause(handle.id)).toMatchObject({ batch: handle.id, state: 'running', hold: 'paused', inFlight: 1, served: true });
    await expect(client.pause(handle.id)).rejects.toMatchObject({ code: 'control_refused', message: expect.stringContaining('paused already') });
    const watching = await client.follow(handle.id);
    const seen: BatchEvent[] = [];
    const watched = (async () => {
      for await (const event of watching.events()) seen.push(event);
    })();
    await handle.open();
    await until('what was in flight has ended', async () => (await underWay(handle.id)).length === 0);
    expect(await begun(handle.id)).toHaveLength(2);
    expect(await client.setConcurrency(handle.id, 3)).toMatchObject({ concurrency: 3, hold: 'paused', inFlight: 0 });
    await expect(client.setConcurrency(handle.id, 0)).rejects.toMatchObject({ code: 'control_refused' });
    expect(await begun(handle.id)).toHaveLength(2);
    await until('its reader was told', async () => events.some((event) => event.type === 'stands' && event.hold === 'paused'));
    expect(await client.resume(handle.id)).toMatchObject({ hold: null, concurrency: 3 });
    const { trials } = await reading;
    await expectEachOnce(handle.id, trials, 6);
    const stands = events.flatMap((event) => (event.type === 'stands' ? [event] : []));
    expect(stands.map(({ hold }) => hold)).toContain('paused');
    expect(stands.at(-1)).toMatchObject({ state: 'finished', hold: null, concurrency: 3 });
    await watched;
    expect(seen[0]).toMatchObject({ type: 'batch', batch: handle.id, done: 1 });
    expect(seen.at(-1)).toMatchObject({ type: 'summary', passed: 6 });
    await expect(client.resume(handle.id)).rejects.toMatchObject({ code: 'control_refused', message: expect.stringContaining('finished') });
    const wrong = `${handle.id.slice(0, -1)}0`;
    await expect(client.pause(wrong)).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining(`did you mean ${handle.id}`) });
  });

  it('goes on after a resume, however close that follows on its pause', async () => {
    const handle = await begin({ trials: 8, concurrency: 1, done: 0 });
    const reading = read(handle);
    await until('the first is under way', async () => (await begun(handle.id)).length === 1);
    for (let room = 2; room <= 7; room++) {
      await client.pause(handle.id);
      await client.setConcurrency(handle.id, room);
      expect(await client.resume(handle.id)).toMatchObject({ hold: null, concurrency: room });
      await until('there is one more', async () => (await begun(handle.id)).length === room, 20_000);
    }
    await handle.open();
    const { trials } = await reading;
    await expectEachOnce(handle.id, trials, 8);
  });

  it('is cancelled, and so are single trials of it, whether they have begun or not', async () => {
    const handle = await begin({ trials: 8, concurrency: 2, done: 0 });
    const reading = read(handle);
    const [first] = await until('two act', async () => {
      const rows = (await underWay(handle.id)).filter(({ phase }) => phase === 'drive');
      return rows.length === 2 && rows;
    });
    const last = (await testbed.root.store.trials(handle.id)).at(-1);
    expect(await client.cancel(first?.id ?? '')).toMatchObject({ what: 'trial', summary: { trial: first?.id, ending: 'cancelled', attempt: 1 } });
    expect(await client.cancel(last?.id ?? '')).toMatchObject({ what: 'trial', summary: { trial: last?.id, ending: 'cancelled' } });
    await expect(client.cancel(last?.id ?? '')).rejects.toMatchObject({ code: 'control_refused' });
    await until('another took its place', async () => (await begun(handle.id)).length === 4);
    expect(await client.cancel(handle.id)).toMatchObject({ what: 'batch', state: 'cancelled', hold: null });
    const { trials } = await reading;
    expect(trials.map(({ ending }) => ending)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
    expect(await testbed.root.worlds.leased(`${handle.id}-`)).toBe(0);
    await expect(client.cancel(handle.id)).rejects.toMatchObject({ code: 'control_refused', message: expect.stringContaining('cancelled') });
  });
});
