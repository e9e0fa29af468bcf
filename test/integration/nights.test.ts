import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import type { Trialbed } from '../../src/client/api.ts';
import { trialbedOver, work } from '../../src/client/index.ts';
import { findMissed } from '../../src/client/nights/watch.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { NightRow } from '../../src/store/nights.ts';
import { nightQueue } from '../../src/workflows/night-messages.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { acting, type Blobs, blobs } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
let bed: Trialbed;
let hook: Server;
let webhook: string;
const told: { readonly kind: string; readonly night: string; readonly text: string }[] = [];
const stop = new AbortController();
let working: Promise<void>;

beforeAll(async () => {
  testbed = await startTestbed(inject('services'), { worker: false });
  suites = await blobs(testbed, 'nights');
  bed = trialbedOver(testbed.root, async () => {});
  hook = createServer(async (request, response) => {
    told.push(JSON.parse(await text(request)));
    response.end();
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  webhook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
  const { config } = testbed;
  const env = {
    TRIALBED_DATABASE_URL: config.store.url,
    TRIALBED_WORLDS_URL: `test=${inject('services').postgresUrl}`,
    TRIALBED_TASK_QUEUE: config.taskQueue,
    TEMPORAL_ADDRESS: config.temporal.address,
  };
  const ready = Promise.withResolvers<void>();
  working = work({ env, home: config.home, signal: stop.signal, onReady: () => ready.resolve() });
  working.catch(ready.reject);
  await ready.promise;
});
afterAll(async () => {
  stop.abort();
  await working;
  for (const { name } of await bed.schedules.list()) await bed.schedules.remove(name);
  hook.close();
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const script = (calls: readonly JsonObject[]) => ({ kind: 'script', steps: calls, answer: 'Done.' });

/** The newest night of a schedule, once it has ended in whatever way, and is another one than before. */
async function ended(name: string, before: NightRow | null = null): Promise<NightRow> {
  for (const end = Date.now() + 50_000; Date.now() < end; await new Promise((done) => setTimeout(done, 200))) {
    const [newest] = await testbed.root.store.nights.of(name, 1);
    if (newest && newest.id !== before?.id && newest.state !== 'running' && (newest.body.told || newest.state === 'held')) return newest;
  }
  throw new Error(`no night of ${name} has ended: ${JSON.stringify(await testbed.root.store.nights.of(name, 3))}`);
}

it('a schedule begins a night for real; one that was killed is cleaned up by the next, which tells what became another version', {
  timeout: 120_000,
}, async () => {
  const { suite, agents } = await suites.write(script([{ call: 'wait', with: { ms: 30_000 } }]));
  const made = await bed.schedules.nightly({ suite, agents, at: '02:00', timezone: 'Europe/Berlin', name: 'killed', webhook });
  expect(made).toMatchObject({ name: 'killed', suite, at: '02:00', timezone: 'Europe/Berlin', paused: false });
  const described = await testbed.root.temporal.schedule.getHandle(`${nightQueue(testbed.config.taskQueue)}-killed`).describe();
  expect(described.policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 3_600_000, pauseOnFailure: true });

  await bed.schedules.trigger('killed');
  const trial = await acting(testbed.root, 1);
  const [first] = await testbed.root.store.nights.of('killed', 1);
  const batch = first?.batch ?? '';
  expect(first?.state).toBe('running');
  expect(await testbed.root.worlds.leased(`${batch}-`)).toBe(1);
  // As where its machine dies: nothing of it runs any clean-up.
  for (const id of [first?.workflow ?? '', batch, trial]) await testbed.root.temporal.workflow.getHandle(id).terminate('killed by a test');

  await writeFile(agents[0], stringify({ name: 'agent', version: '2', ...script([]) }));
  await bed.schedules.trigger('killed');
  const second = await ended('killed', first);
  expect(second).toMatchObject({
    state: 'held',
    why: null,
    body: { trials: { planned: 1, ended: 1 }, cleaned: { nights: [first?.id], batches: [batch], worlds: 1, problems: [] } },
  });
  expect(await testbed.root.worlds.leased(`${batch}-`)).toBe(0);
  expect((await testbed.root.store.batch(batch))?.state).toBe('cancelled');
  expect((await testbed.root.store.nights.read(first?.id ?? ''))?.state).toBe('lost');
  await expect
    .poll(() => told.filter(({ night }) => night === second.id), { timeout: 20_000 })
    .toEqual([expect.objectContaining({ kind: 'failure', text: expect.stringContaining(`night ${first?.id} was lost`) })]);
  expect(second.body.versions).toMatchObject({
    trialbed: expect.any(String),
    Temporal: expect.any(String),
    PostgreSQL: expect.any(String),
    'environment blob-nights': expect.any(String),
  });

  await writeFile(agents[0], stringify({ name: 'agent', version: '3', ...script([]) }));
  await bed.schedules.trigger('killed');
  const third = await ended('killed', second);
  expect(third.body.changes).toEqual([{ what: 'agent agent', before: second.body.versions?.['agent agent'], now: third.body.versions?.['agent agent'] }]);
  await expect
    .poll(() => told.find(({ night }) => night === third.id), { timeout: 20_000 })
    .toMatchObject({ kind: 'drift', text: expect.stringContaining('agent agent') });

  await expect.poll(async () => (await testbed.root.store.nights.read(third.id))?.body.report, { timeout: 20_000 }).toBeTruthy();
  const folder = (await testbed.root.store.nights.read(third.id))?.body.report ?? '';
  const [page, series] = [await readFile(join(folder, `${third.id}.md`), 'utf8'), await readFile(join(folder, 'series.md'), 'utf8')];
  expect(page).toContain('1 of 1 trials have ended');
  expect(series).toContain('**another version**');
  // What a night counts must not be read as how good an agent is.
  expect(`${page}${series}`).not.toMatch(/\d\s?%(?! within)/);
});

it('a night in which something forbidden was done fails, is told, and pauses its schedule; what a night needs for itself no other has', {
  timeout: 90_000,
}, async () => {
  const { suite, agents } = await suites.write(script([{ call: 'add_note', with: { body: 'nobody asked for this' } }]));
  await bed.schedules.nightly({ suite, agents, at: '23:59', name: 'forbidden', webhook });
  const { nights } = testbed.root.store;
  await bed.schedules.trigger('forbidden');
  const night = await ended('forbidden');
  expect(night).toMatchObject({ state: 'broken', body: { findings: [{ invariant: 'effects' }], told: [{ problem: null }] } });
  expect(told.find((one) => one.night === night.id)).toMatchObject({ kind: 'failure' });
  await expect.poll(async () => (await bed.schedules.show('forbidden')).schedule, { timeout: 30_000 }).toMatchObject({ paused: true });

  await nights.begin({ id: 'other', schedule: 'other', due: new Date(), workflow: 'w' });
  expect(await nights.lock(['a', 'b'], { night: night.id, workflow: 'v' })).toBe(null);
  expect(await nights.lock(['b', 'c'], { night: 'other', workflow: 'w' })).toEqual({ night: night.id, workflow: 'v' });
  await nights.unlock(night.id);
  expect(await nights.lock(['b', 'c'], { night: 'other', workflow: 'w' })).toBe(null);
  await nights.set('other', { state: 'held' });

  // The next day: it was due, and nothing began.
  const next = Date.parse((await bed.schedules.show('forbidden')).schedule.next ?? '');
  const root = { ...testbed.root, temporal: aDayOn(testbed) };
  const missed = await findMissed(root, async (_, { id }) => [{ to: id, problem: null }], new Date(next + 2 * 3_600_000));
  expect(missed.filter((id) => id.startsWith('forbidden-'))).toHaveLength(1);
  expect((await nights.of('forbidden', 1))[0]?.body.told).toMatchObject([{ problem: null }]);
  const again = await findMissed(root, async () => [], new Date(next + 2 * 3_600_000));
  expect(again.filter((id) => id.startsWith('forbidden-'))).toEqual([]);
  expect((await nights.of('forbidden', 1))[0]).toMatchObject({ state: 'missed', why: expect.stringContaining('paused') });
});

it('says what is wrong with a request, and which name was meant', async () => {
  const { suite } = await suites.write(script([]));
  await expect(bed.schedules.nightly({ suite, at: '26:00' })).rejects.toThrow(/expected a time of day such as 02:00/);
  await expect(bed.schedules.nightly({ suite, at: '02:00', timezone: 'Mars' })).rejects.toThrow(/Europe\/Berlin/);
  await expect(bed.schedules.nightly({ suite, at: '02:00', webhook: 'http://example.com/x' })).rejects.toThrow(/https/);
  await expect(bed.schedules.show('forbiden')).rejects.toThrow(/did you mean forbidden/);
  await expect(bed.schedules.nightly({ suite, at: '02:00', name: 'forbidden' })).rejects.toThrow(/there is a schedule forbidden already/);
});

/** The same client, for which every schedule was made a day ago and is due a day later. */
function aDayOn({ root }: Testbed): Testbed['root']['temporal'] {
  const { temporal } = root;
  const day = 24 * 3_600_000;
  const later = <T extends { readonly info: { readonly createdAt: Date; readonly nextActionTimes: readonly Date[] } }>(description: T): T => ({
    ...description,
    info: {
      ...description.info,
      createdAt: new Date(description.info.createdAt.getTime() - day),
      nextActionTimes: description.info.nextActionTimes.map((time) => new Date(time.getTime() + day)),
    },
  });
  const schedule = {
    list: () => temporal.schedule.list(),
    getHandle: (id: string) => ({ describe: async () => later(await temporal.schedule.getHandle(id).describe()) }),
  };
  return { schedule } as unknown as Testbed['root']['temporal'];
}
