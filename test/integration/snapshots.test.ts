import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { RestoredSnapshot, Trialbed } from '../../src/client/api.ts';
import { trialbedOver } from '../../src/client/index.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { commandPlace } from './cli-process.ts';

let testbed: Testbed;
let client: Trialbed;
let folder: string;
/** Of one case: by the reference solution, and by an agent that gets it wrong. */
let right: string;
let wrong: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-snapshots-'));
  testbed = await startTestbed(inject('services'));
  client = trialbedOver(testbed.root, async () => {});
  const { trials } = await testbed.run({ suite: 'support-desk', agents: ['reference', 'hasty'], cases: ['refund-within-policy'], keep: 'always' });
  right = trials.find(({ agent }) => agent === 'reference')?.trial ?? '';
  wrong = trials.find(({ agent }) => agent === 'hasty')?.trial ?? '';
}, 120_000);

afterAll(async () => {
  await testbed?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function reading<T>(url: string, work: (sql: pg.Client) => Promise<T>): Promise<T> {
  const sql = new pg.Client({ connectionString: url });
  sql.on('error', () => undefined);
  await sql.connect();
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

test('snapshots are found by trial, by attempt and by a prefix; a wrong name gets the nearest', async () => {
  const { snapshots } = client;
  expect((await snapshots.list()).map(({ id }) => id).sort()).toEqual([`${right}.1`, `${wrong}.1`].sort());
  for (const name of [right, `${right}.1`, right.slice(0, -3), `${right.slice(0, -3)}.1`]) expect((await snapshots.show(name)).id).toBe(`${right}.1`);
  const view = await snapshots.show(right);
  expect(view).toMatchObject({ agent: 'reference', ending: 'completed', environment: { name: 'support-desk' }, rawMails: 1, restoredUntil: null });
  expect(view.world.effects.length).toBeGreaterThan(0);
  await expect(snapshots.show(`${right.slice(0, -1)}x.1`)).rejects.toThrow(`did you mean ${right}`);
  await expect(snapshots.show(`${right}.7`)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining(`has no snapshot ${right}.7; it has ${right}.1`),
  });
  await expect(snapshots.show('./nowhere.json')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('no file or folder ./nowhere.json'),
  });
  await expect(snapshots.list({ batch: 'nothing' })).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('no batch nothing') });
});

test('a restored world can be read and not written, is the same when asked again, and ends', async () => {
  const restored = await client.snapshots.restore(right, { forMs: 60_000 });
  expect(restored.inbox).toHaveLength(1);
  expect(await readFile(restored.inbox[0] ?? '', 'utf8')).toMatch(/^From: support@nordlicht\.example\r?\n/);
  const tickets = JSON.parse(await readFile(restored.tickets ?? '', 'utf8'));
  expect(tickets).toMatchObject({ tickets: expect.arrayContaining([expect.objectContaining({ id: expect.any(Number), subject: expect.any(String) })]) });
  await reading(restored.sqlUrl, async (sql) => {
    // What the trial did is there.
    const { world } = await client.snapshots.show(right);
    const inserted = world.effects.flatMap((effect): JsonObject[] =>
      effect.kind === 'row' && effect.table === 'refunds' && effect.after ? [effect.after] : [],
    );
    const refund: JsonObject = inserted[0] ?? {};
    const { rows } = await sql.query('select id, order_id, amount::float8 as amount from refunds where id = $1', [String(refund['id'])]);
    expect(rows.map((row) => String(row.order_id))).toEqual([String(refund['order_id'])]);
    await sql.query('set default_transaction_read_only = off');
    for (const write of [
      'insert into refunds select * from refunds limit 1',
      "update orders set status = 'x'",
      'delete from tickets',
      'truncate tickets',
      'create table mine (id int)',
      "select nextval('refunds_id_seq')",
    ])
      await expect(sql.query(write), write).rejects.toMatchObject({ code: '42501' });
    // Our own records are not the reader's.
    await expect(sql.query(`select * from w_${restored.world}_sys.operations`)).rejects.toThrow();
  });
  expect(await client.snapshots.open()).toEqual([{ snapshot: `${right}.1`, world: restored.world, until: restored.until }]);
  const again = await client.snapshots.restore(`${right}.1`, { forMs: 120_000 });
  expect(again).toMatchObject({ world: restored.world, sqlUrl: restored.sqlUrl });
  expect(Date.parse(again.until)).toBeGreaterThan(Date.parse(restored.until));
  expect((await client.snapshots.show(right)).restoredUntil).toBe(again.until);
  expect(await client.snapshots.end(right)).toBe(true);
  await expect(reading(restored.sqlUrl, (sql) => sql.query('select 1'))).rejects.toThrow();
  await expect(readFile(restored.inbox[0] ?? '')).rejects.toThrow();
  expect(await client.snapshots.end(right)).toBe(false);
});

test('the command holds a restored world until Ctrl-C, and then it is gone', { timeout: 90_000 }, async () => {
  await using place = await commandPlace(inject('services'), { TRIALBED_DATABASE_URL: testbed.config.store.url });
  const running = place.start('snapshot', 'restore', right, '--for', '10m', '--json');
  let printed = '';
  running.process.stdout?.on('data', (text: string) => {
    printed += text;
  });
  await running.lines(1);
  const restored: RestoredSnapshot = JSON.parse(printed);
  expect(await reading(restored.sqlUrl, async (sql) => (await sql.query('select count(*)::int as n from refunds')).rows[0].n)).toBeGreaterThan(0);
  const database = new URL(restored.sqlUrl).pathname.slice(1);
  const exists = () =>
    reading(inject('services').postgresUrl, async (sql) => (await sql.query('select 1 from pg_database where datname = $1', [database])).rowCount);
  expect(await exists()).toBe(1);
  running.process.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('the restored world has ended') });
  expect(await exists()).toBe(0);
  await expect(reading(restored.sqlUrl, (sql) => sql.query('select 1'))).rejects.toThrow();
  expect(existsSync(restored.folder)).toBe(false);
  const log = (await client.audit()).slice(0, 2).map(({ action, target, outcome, via }) => [action, target, outcome, via]);
  expect(log).toEqual([
    ['snapshot end', `${right}.1`, 'done', 'cli'],
    ['snapshot restore', right, 'done', 'cli'],
  ]);
});

test('a restored world whose time is over is refused to its reader and swept', async () => {
  const restored = await client.snapshots.restore(wrong, { forMs: 1 });
  await expect(reading(restored.sqlUrl, (sql) => sql.query('select 1'))).rejects.toMatchObject({ code: '28P01' });
  const report = await client.sweep();
  // Other tests have worlds on this server.
  expect(report.swept).toContainEqual(expect.objectContaining({ world: restored.world, reason: 'lease_lapsed' }));
  expect(await client.snapshots.open()).toEqual([]);
});

test('two worlds are compared row by row and mail by mail, and one with what its case accepts', async () => {
  expect(await client.snapshots.compare(right, right)).toMatchObject({ sameStart: true, differences: [] });
  const { differences } = await client.snapshots.compare(right, wrong);
  const refunds = differences.filter((one) => one.kind === 'row' && one.table === 'refunds');
  expect(refunds).toEqual([expect.objectContaining({ columns: expect.arrayContaining(['amount']) })]);
  // The other way round it is the mirror image.
  const back = (await client.snapshots.compare(wrong, right)).differences;
  expect(back.filter((one) => one.kind === 'row' && one.table === 'refunds')).toEqual(
    refunds.map((one) => (one.kind === 'row' ? { ...one, first: one.second, second: one.first } : one)),
  );
  expect(await client.snapshots.compareWithExpected(right)).toMatchObject({ case: 'refund-within-policy', findings: [] });
  const { findings, reached } = await client.snapshots.compareWithExpected(wrong);
  expect(reached).toBeNull();
  expect(findings.map(({ code }) => code)).toContain('wrong_value');
});

test('an exported snapshot is restored and compared where the store does not have it; a damaged file is told', async () => {
  const out = join(folder, 'kept');
  const files = await client.snapshots.export(right, out);
  expect(files.map((file) => file.slice(out.length + 1))).toEqual(['snapshot.json', 'inbox/0001.eml']);
  expect(await client.snapshots.export(right, out)).toEqual(files);
  await expect(client.snapshots.export(wrong, out)).rejects.toMatchObject({ code: 'snapshot' });
  const [single = ''] = await client.snapshots.export(wrong, join(folder, 'wrong.json'));
  await using other = await startTestbed(inject('services'), { worker: false });
  const elsewhere = trialbedOver(other.root, async () => {});
  expect(await elsewhere.snapshots.list()).toEqual([]);
  expect((await elsewhere.snapshots.compare(out, single)).differences).toEqual((await client.snapshots.compare(right, wrong)).differences);
  expect((await elsewhere.snapshots.compareWithExpected(single)).findings).toEqual((await client.snapshots.compareWithExpected(wrong)).findings);
  const restored = await elsewhere.snapshots.restore(out, { suite: 'support-desk', forMs: 60_000 });
  expect((await reading(restored.sqlUrl, (sql) => sql.query('select count(*)::int as n from refunds'))).rows[0].n).toBeGreaterThan(0);
  expect(await elsewhere.snapshots.end(`${right}.1`)).toBe(true);
  const text = await readFile(single, 'utf8');
  await writeFile(single, text.replace('"amount": ', '"amount": 1'));
  await expect(elsewhere.snapshots.show(single)).rejects.toThrow('changed or cut');
  await writeFile(single, text.slice(0, 100));
  await expect(elsewhere.snapshots.show(single)).rejects.toMatchObject({ code: 'snapshot', message: expect.stringContaining('not JSON') });
  await writeFile(single, '{"format":"other"}');
  await expect(elsewhere.snapshots.show(single)).rejects.toThrow('not a snapshot of format trialbed.snapshot/1: at format');
});

test('one from which a fork goes on that has not ended is not deleted, and whoever asks is told which', async () => {
  const { store } = testbed.root;
  const { trial } = await client.fork(right, { at: 'start' });
  await expect(client.snapshots.delete(`${right}.1`)).rejects.toMatchObject({
    code: 'snapshot',
    message: expect.stringMatching(new RegExp(`^${trial} went on from snapshot ${right}\\.1 and has not ended.*trialbed cancel ${trial}`)),
  });
  expect((await client.snapshots.show(right)).id).toBe(`${right}.1`);
  await store.settle([trial]);
  expect(await client.snapshots.delete(`${right}.1`)).toBe(true);
  await expect(client.fork(right, { at: 'start' })).rejects.toMatchObject({ code: 'point_refused' });
});

test('deleting is for good, and repeated changes nothing; it is in the audit log', async () => {
  expect(await client.snapshots.delete(`${wrong}.1`)).toBe(true);
  expect(await client.snapshots.delete(`${wrong}.1`)).toBe(false);
  await expect(client.snapshots.show(wrong)).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.snapshots.delete('nothing.1')).rejects.toMatchObject({ code: 'not_found' });
  expect((await client.show(wrong)).record).not.toBeNull();
  const actions = (await client.audit()).map(({ action, outcome }) => `${action} ${outcome}`);
  expect(actions.slice(0, 3)).toEqual(['snapshot delete refused', 'snapshot delete done', 'snapshot delete done']);
  expect(actions).toContain('snapshot restore done');
});
