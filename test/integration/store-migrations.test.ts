import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { migrate, migrationOf, ownMigrations } from '../../src/store/migrate.ts';
import { createStore } from '../../src/store/postgres-store.ts';
import { makeDatabase, planOf, type TestDatabase } from './store-fixture.ts';

let adminUrl: string;
beforeAll(() => {
  adminUrl = inject('services').postgresUrl;
});

const opened: AsyncDisposable[] = [];
afterAll(async () => {
  for (const one of opened.reverse()) await one[Symbol.asyncDispose]();
});

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await makeDatabase(adminUrl);
  opened.push(database);
  return database;
}

async function code(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof Error && 'code' in error ? `${String(error.code)}: ${error.message}` : String(error);
}

test('an empty database gets every migration once, also when several processes begin together', async () => {
  const database = await emptyDatabase();
  const stores = await Promise.all(Array.from({ length: 5 }, () => createStore({ url: database.url, connections: 2 })));
  opened.push(...stores);
  const results = await Promise.all(stores.map((store) => store.migrate()));
  const names = (await ownMigrations()).map((migration) => migration.name);
  expect(results.filter((result) => result.applied.length > 0)).toEqual([{ applied: names }]);
  expect(await stores[0]?.migrate()).toEqual({ applied: [] });
});

test('before the first migration the store says what to do', async () => {
  const database = await emptyDatabase();
  const store = await createStore({ url: database.url });
  opened.push(store);
  expect(await code(store.batches())).toMatch(/^store_not_migrated: .*call migrate\(\) first/);
});

test('a database of a newer version, a changed file and a file out of order are refused', async () => {
  const database = await emptyDatabase();
  const db = openDatabase(database.url, 2);
  opened.push(db);
  const first = migrationOf('0001_first.sql', 'create table trialbed.one (id int);\n');
  const third = migrationOf('0003_third.sql', 'create table trialbed.three (id int)');
  expect(await migrate(db, [first])).toEqual(['0001_first.sql']);
  expect(await migrate(db, [first, third])).toEqual(['0003_third.sql']);
  expect(await code(migrate(db, [first]))).toMatch(/^store_newer: .*0003_third\.sql.*install that version or a later one/);
  expect(await code(migrate(db, [migrationOf('0001_first.sql', 'create table trialbed.one (id bigint);\n'), third]))).toMatch(
    /^store_migration_changed: .*0001_first/,
  );
  expect(await code(migrate(db, [first, migrationOf('0002_second.sql', 'select 1'), third]))).toMatch(/^store_migration_order: .*0002_second/);
});

test('line ends of a checkout do not count as a change', () => {
  expect(migrationOf('0001_a.sql', 'select 1;\r\nselect 2;\r\n').checksum).toBe(migrationOf('0001_a.sql', 'select 1;\nselect 2;\n').checksum);
});

test('a migration that fails leaves nothing of itself', async () => {
  const database = await emptyDatabase();
  const db = openDatabase(database.url, 2);
  opened.push(db);
  const broken = migrationOf('0001_broken.sql', 'create table trialbed.half (id int); select 1/0;');
  await expect(migrate(db, [broken])).rejects.toThrow(/division by zero/);
  expect(await database.query(`select to_regclass('trialbed.half') as t`)).toEqual([{ t: null }]);
  expect(await migrate(db, [migrationOf('0001_broken.sql', 'create table trialbed.half (id int)')])).toEqual(['0001_broken.sql']);
});

test('a store of before there were fault schedules keeps its rows, and takes schedules', async () => {
  const database = await emptyDatabase();
  const db = openDatabase(database.url, 2);
  opened.push(db);
  const [initial, ...later] = await ownMigrations();
  if (initial === undefined) throw new Error('there is no migration');
  await migrate(db, [initial]);
  await db.query(`
    insert into trialbed.cases values ('c1', 'refund', '{"id":"refund"}');
    insert into trialbed.agents values ('a1', 'reference', '{"kind":"reference","name":"reference","version":"1"}');
    insert into trialbed.batches (id, suite, suite_file, manifest_hash, state, environment, seed, options, sources, created_at)
      values ('old', 'desk', '/suite.yaml', 'm1', 'interrupted', '{}', 's', '{}', '{}', '2026-01-01Z');
    insert into trialbed.trials (id, batch, ordinal, case_id, case_hash, agent_name, agent_hash, schedule, repetition)
      values ('old-1', 'old', 1, 'refund', 'c1', 'reference', 'a1', 'none', 1);
  `);
  const store = await createStore({ url: database.url });
  opened.push(store);
  expect(await store.migrate()).toEqual({ applied: later.map(({ name }) => name) });
  expect(await store.trials('old')).toMatchObject([{ id: 'old-1', caseHash: 'c1', schedule: 'none', scheduleHash: null, phase: 'waiting' }]);

  const schedule = { name: 'lost', title: 'Lost', cases: ['*'], rules: [{ on: { tool: 't' }, fault: { kind: 'malformed_reply' as const } }] };
  await store.putDocuments({ cases: [], agents: [], schedules: [{ hash: 's1', schedule }] });
  await store.putDocuments({ cases: [], agents: [], schedules: [{ hash: 's1', schedule }] });
  expect(await store.scheduleDocument('s1')).toEqual({ hash: 's1', schedule });
  expect(await store.scheduleDocument('s2')).toBeNull();
  const trial = { id: 'new-1', caseId: 'refund', caseHash: 'c1', agentName: 'reference', agentHash: 'a1', schedule: 'lost', scheduleHash: 's1', repetition: 1 };
  await store.createBatch(planOf('new', 1, { trials: [trial] }));
  expect(await store.trial('new-1')).toMatchObject({ schedule: 'lost', scheduleHash: 's1' });
  const unstored = planOf('newer', 1, { trials: [{ ...trial, id: 'newer-1', scheduleHash: 's2' }] });
  await expect(store.createBatch(unstored)).rejects.toThrow(/case, agent or schedule whose document is not stored.*s2/);
});
