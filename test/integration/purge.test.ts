import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Trialbed } from '../../src/client/api.ts';
import { trialbedOver } from '../../src/client/index.ts';
import { KeyRing, newKey } from '../../src/keys/key-ring.ts';
import { Sealing } from '../../src/keys/sealing.ts';
import { placeOf, SEALED_COLUMNS, type SealedTable } from '../../src/store/sealed-columns.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { blobs } from './core-trials.ts';
import { heldModel } from './held-model.ts';

const key = newKey('purge');
const DAY_MS = 86_400_000;

let testbed: Testbed;
let client: Trialbed;
let sql: pg.Client;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-purge-'));
  testbed = await startTestbed(inject('services'), { config: { keys: [key] } });
  client = trialbedOver(testbed.root, async () => {});
  sql = new pg.Client({ connectionString: testbed.config.store.url });
  await sql.connect();
}, 60_000);

afterAll(async () => {
  await sql?.end();
  await testbed?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs trials that ended so many days ago. */
async function ended(days: number, seed: string): Promise<{ readonly batch: string; readonly trial: string }> {
  const { trials, summary } = await testbed.run({ suite: 'support-desk', agents: ['reference'], cases: ['refund-within-policy'], keep: 'always', seed });
  const [trial] = trials;
  if (!trial) throw new Error('nothing ran');
  const at = new Date(Date.now() - days * DAY_MS);
  await sql.query('update trialbed.attempts set ended_at = $2 where trial = $1', [trial.trial, at]);
  await sql.query('update trialbed.batches set finished_at = $2 where id = $1', [summary.batch, at]);
  return { batch: summary.batch, trial: trial.trial };
}

/** What the store holds of a trial, opened. */
async function opened(trial: string): Promise<string> {
  const sealing = new Sealing(new KeyRing([key]));
  const parts: string[] = [];
  for (const table of Object.keys(SEALED_COLUMNS) as SealedTable[])
    for (const row of (await sql.query(`select * from trialbed.${table} where trial = $1`, [trial])).rows) {
      const why = row.summary?.why;
      const raw = SEALED_COLUMNS[table].map((column) => sealing.open(column === 'summary' ? why : row[column], placeOf(table, column as never, trial)));
      parts.push(JSON.stringify([row, raw]));
      for (const mail of raw.flatMap((value) => (Array.isArray(value) ? value : []))) parts.push(Buffer.from(String(mail.raw), 'base64').toString());
    }
  return parts.join('\n');
}

async function settings(text: string): Promise<string> {
  const file = join(folder, `${Math.random()}.yaml`);
  await writeFile(file, text);
  return file;
}

test('each class goes at its own age, a dry run removes nothing, and a second run finds nothing', async () => {
  const [old, young] = [await ended(50, 'old'), await ended(5, 'young')];
  const settingsFile = await settings('retention:\n  snapshots: 40d\n  raw_mail: 3d\n  conversation: 30d\n  ledger: forever\n');
  const before = await opened(old.trial);
  expect((await client.purge({ dryRun: true, settingsFile })).map(({ count }) => count)).toEqual([1, 2, 1, 0, 0]);
  expect(await opened(old.trial)).toBe(before);
  // Snapshots are gone before their mails are looked for.
  expect((await client.purge({ settingsFile })).map(({ class: name, count }) => [name, count])).toEqual([
    ['snapshots', 1],
    ['raw_mail', 1],
    ['conversation', 1],
    ['ledger', 0],
    ['verdicts', 0],
  ]);
  expect((await client.purge({ settingsFile })).map(({ count }) => count)).toEqual([0, 0, 0, 0, 0]);
  const view = await client.show(old.trial);
  expect(view.messages).toEqual([]);
  expect(view.record).toMatchObject({ messages: [], removed: ['conversation'], operations: expect.arrayContaining([expect.anything()]) });
  expect(view.verdicts).toHaveLength(1);
  // What cannot be graded any more is not graded.
  expect(await client.regrade(old.batch)).toMatchObject({ regraded: 0, skipped: 1 });
  const kept = await client.snapshots.show(young.trial);
  expect(kept.rawMails).toBe(0);
  // A world without its raw mails is still one.
  expect((await client.snapshots.restore(young.trial, { forMs: 60_000 })).inbox).toEqual([]);
  await client.snapshots.end(young.trial);
  expect((await client.show(young.trial)).messages).not.toHaveLength(0);
  // The batch goes as a whole.
  const all = await settings('retention:\n  verdicts: 20d\n');
  expect((await client.purge({ settingsFile: all })).at(-1)).toMatchObject({ class: 'verdicts', count: 1 });
  await expect(client.show(old.trial)).rejects.toMatchObject({ code: 'not_found' });
  expect(await opened(old.trial)).toBe('');
  expect((await client.batches()).map(({ id }) => id)).toEqual([young.batch]);
  expect((await client.audit()).map(({ action }) => action)).toContain('purge');
});

test('a trial that is to run again, or runs, is left alone', async () => {
  const { trial } = await ended(50, 'running');
  await client.requeue(trial);
  const before = await opened(trial);
  const settingsFile = await settings('retention: { snapshots: 1d, raw_mail: 1d, conversation: 1d, ledger: 1d, verdicts: 10d }\n');
  await client.purge({ settingsFile });
  expect(await opened(trial)).toBe(before);
  const address = (await client.snapshots.show(trial)).world.effects.flatMap((effect) => (effect.kind === 'mail' ? effect.recipients : []))[0]?.address ?? '';
  expect(await client.purgeSubject(address)).toMatchObject({ running: [trial] });
  expect(await opened(trial)).toBe(before);
});

test("one person's data goes everywhere, what is of others stays, and it is told what stays", async () => {
  const { trial } = await ended(0, 'subject');
  const view = await client.show(trial);
  const address = view.record?.effects.flatMap((effect) => (effect.kind === 'mail' ? effect.recipients : []))[0]?.address ?? '';
  expect(address).toContain('@');
  expect(await opened(trial)).toContain(address);
  const dry = await client.purgeSubject(address.toUpperCase(), { dryRun: true });
  expect(dry.values).toMatchObject({ snapshots: expect.any(Number), records: 1 });
  expect(await opened(trial)).toContain(address);
  const report = await client.purgeSubject(address, { histories: true });
  expect(report.trials).toContain(trial);
  expect(report.histories).toMatchObject({ namespace: 'default', days: expect.any(Number), kept: report.trials.length, deleted: report.trials.length });
  expect(report.cases).toEqual(['refund-within-policy']);
  const left = await opened(trial);
  expect(left.toLowerCase()).not.toContain(address);
  await expect(client.snapshots.show(trial)).rejects.toMatchObject({ code: 'not_found' });
  const after = await client.show(trial);
  expect(after.record).toMatchObject({ removed: ['subject'], ending: 'completed' });
  expect(after.record?.operations.map(({ id, tool }) => [id, tool])).toEqual(view.record?.operations.map(({ id, tool }) => [id, tool]));
  expect(after.verdicts.map(({ pass }) => pass)).toEqual(view.verdicts.map(({ pass }) => pass));
  expect(await client.purgeSubject(address)).toMatchObject({ values: {}, trials: [] });
  expect(JSON.stringify(await client.audit())).not.toContain(address);
  await expect(client.purgeSubject('Sofia <sofia@example.org>')).rejects.toMatchObject({
    code: 'purge',
    message: expect.stringContaining('the address alone'),
  });
  // What was mistyped is not in the log either.
  expect(JSON.stringify(await client.audit())).not.toContain('sofia@');
});

test('a trial that waits loses nothing by a purge, neither by age nor of a person that it names', async () => {
  const address = 'mara.held@example.org';
  await using suites = await blobs(testbed, 'purge');
  await using model = await heldModel(`${address} called`);
  const files = await suites.write(model.agent, model.kase);
  const [over] = (await testbed.run({ ...files, keep: 'always' })).trials;
  model.hold();
  const running = testbed.run({ ...files, keep: 'always' });
  await expect.poll(() => model.waiting(), { timeout: 30_000 }).toBe(1);
  const [batch] = await testbed.root.store.batches({});
  const [{ id: held } = { id: '' }] = await testbed.root.store.trials(batch?.id ?? '');
  // Both are old enough, and one of them runs.
  await sql.query(`update trialbed.attempts set started_at = now() - interval '60 days', ended_at = ended_at - interval '50 days' where trial = any ($1)`, [
    [over?.trial, held],
  ]);
  const before = await opened(held);
  expect(before).toContain(address);
  await client.purge({ settingsFile: await settings('retention: { snapshots: 1d, raw_mail: 1d, conversation: 1d }\n') });
  expect(await client.show(over?.trial ?? '')).toMatchObject({ messages: [], record: { removed: ['conversation'] } });
  expect(await opened(held)).toBe(before);
  expect(await client.purgeSubject(address)).toMatchObject({ running: [held], trials: [over?.trial] });
  expect(await opened(over?.trial ?? '')).not.toContain(address);
  expect(await opened(held)).toBe(before);
  model.letGo();
  expect((await running).trials).toMatchObject([{ trial: held, ending: 'completed', pass: 'pass', attempt: 1 }]);
  const { record, messages } = await client.show(held);
  expect(record?.removed).toBeUndefined();
  expect(messages.map(({ text }) => text)).toEqual([`Note this: ${address} called`, `I noted: ${address} called`]);
  // Now that it has ended, it is its turn.
  expect(await client.purgeSubject(address)).toMatchObject({ running: [], trials: [held] });
  expect(await opened(held)).not.toContain(address);
});

test('a case goes with the last batch that names it, and stays while somebody plans another one', async () => {
  const run = async (seed: string) => (await testbed.run({ suite: 'support-desk', agents: ['reference'], cases: ['price-question'], seed })).summary.batch;
  const kept = async (table: string) =>
    (
      await sql.query(`select count(*)::int as n from trialbed.${table} where ${table === 'cases' ? 'case_id' : 'name'} = $1`, [
        table === 'cases' ? 'price-question' : 'reference',
      ])
    ).rows[0].n;
  const settingsFile = await settings('retention:\n  verdicts: 20d\n');
  const age = (batch: string) => sql.query(`update trialbed.batches set finished_at = now() - interval '30 days' where id = $1`, [batch]);
  const forget = () => sql.query(`update trialbed.cases set named_at = now() - interval '30 days' where case_id = 'price-question'`);
  const [one, two] = [await run('one'), await run('two')];
  await age(one);
  await forget();
  await client.purge({ settingsFile });
  expect(await kept('cases')).toBe(1);
  await age(two);
  // It has just been named, by somebody whose batch is not there yet.
  await testbed.root.store.putDocuments({ cases: [await caseOf(two)], agents: [] });
  await client.purge({ settingsFile });
  await expect(client.results(two)).rejects.toMatchObject({ code: 'not_found' });
  expect(await kept('cases')).toBe(1);
  await forget();
  await client.purge({ settingsFile });
  expect(await kept('cases')).toBe(0);
  // Others name the agent.
  expect(await kept('agents')).toBeGreaterThan(0);

  async function caseOf(batch: string) {
    const [trial] = await testbed.root.store.trials(batch);
    const found = await testbed.root.store.caseDocument(trial?.caseHash ?? '');
    if (!found) throw new Error('the case is not there');
    return found;
  }
});

test('what a fork goes on from stays until that has ended, by age and for a person, and it is told', async () => {
  const { store } = testbed.root;
  const source = await ended(60, 'forked');
  const fork = await client.fork(source.trial, { at: 'start' });
  const settingsFile = await settings('retention: { snapshots: 55d, raw_mail: 55d, conversation: 55d, ledger: 55d, verdicts: 55d }\n');
  const before = await opened(source.trial);
  const { world } = await client.snapshots.show(source.trial);
  const address = world.effects.flatMap((effect) => (effect.kind === 'mail' ? effect.recipients : []))[0]?.address ?? '';
  const stays = [0, 1];
  for (const dryRun of [true, false])
    expect((await client.purge({ dryRun, settingsFile })).map(({ count, needed }) => [count, needed])).toEqual([stays, stays, stays, stays, stays]);
  const left = await client.purgeSubject(address);
  expect(left.running).toContain(fork.trial);
  expect(left.trials).not.toContain(source.trial);
  expect(await opened(source.trial)).toBe(before);
  await store.settle([fork.trial]);
  expect((await client.purge({ settingsFile })).map(({ count, needed }) => [count, needed])).toEqual([
    [1, 0],
    [0, 0],
    [1, 0],
    [1, 0],
    [1, 0],
  ]);
  expect(await opened(source.trial)).toBe('');
});

test('a wrong settings file is told with line and nearest name, and nothing is removed', async () => {
  await expect(client.purge({ settingsFile: await settings('retention:\n  conversations: 30d\n') })).rejects.toThrow(/:2:3.*conversation/s);
  await expect(client.purge({ settingsFile: await settings('retention:\n  ledger: soon\n') })).rejects.toThrow('30d');
  await expect(client.purge({ settingsFile: await settings('retention:\n  ledger: 50d\n  verdicts: 20d\n') })).rejects.toThrow('verdicts');
  expect((await client.purge({ settingsFile: join(folder, 'none.yaml') })).every(({ days, count }) => days === null && count === 0)).toBe(true);
});
