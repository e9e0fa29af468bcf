import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { freePort } from '../../src/infra/ports.ts';
import { type EmbeddedPostgresServer, startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createStore } from '../../src/store/postgres-store.ts';
import { DOCUMENTS, makeDatabase, planOf } from './store-fixture.ts';

let folder: string;
let port: number;
let server: EmbeddedPostgresServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-store-'));
  await chmod(folder, 0o755);
  port = await freePort();
  server = await start();
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(): Promise<EmbeddedPostgresServer> {
  return startEmbeddedPostgres({ dataFolder: join(folder, 'data'), port, password: 'secret-word', logFile: join(folder, 'log'), fsync: false });
}

function failure(work: Promise<unknown>): Promise<Error & { code?: string }> {
  return work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error as Error,
  );
}

test('a server that is killed and comes back: clear errors while it is away, nothing lost, the same store goes on', async () => {
  await using store = await createStore({ url: server.url, connections: 4 });
  await store.migrate();
  await store.putDocuments(DOCUMENTS);
  await store.createBatch(planOf('b1', 3));
  // All connections are open when the server goes.
  await Promise.all(Array.from({ length: 8 }, () => store.trials('b1')));

  await server.stop(); // idle connections are ended by the server
  const away = await failure(store.trials('b1'));
  expect(away).toMatchObject({ name: 'StoreUnavailableError', code: 'store_unavailable' });
  expect(away.message).toContain(`127.0.0.1:${port}`);
  expect(away.message).not.toContain('secret-word');
  expect(await failure(store.createBatch(planOf('b2', 1)))).toMatchObject({ code: 'store_unavailable' });

  server = await start();
  expect(await store.trials('b1')).toHaveLength(3);
  await store.createBatch(planOf('b2', 1));

  await server.process.stop(['SIGKILL'], 5_000);
  // Its backends notice within a moment.
  await expect.poll(() => failure(store.batch('b2')), { timeout: 20_000 }).toMatchObject({ code: 'store_unavailable' });
  server = await start();
  expect((await store.batch('b2'))?.trials).toBe(1);
});

test('a connection that is lost under a query, within a transaction and between two statements of it', async () => {
  await using database = await makeDatabase(inject('services').postgresUrl);
  await using db = openDatabase(database.url, 2);
  const killOthers = () =>
    database.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'trialbed-store'`);

  const sleeping = failure(db.query('select pg_sleep(30)'));
  await expect
    .poll(async () => (await database.query(`select 1 from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'`)).length)
    .toBe(1);
  await killOthers();
  expect(await sleeping).toMatchObject({ code: 'store_unavailable' });

  await db.query('create table kept (id int)');
  const between = await failure(
    db.transaction(async (sql) => {
      await sql.query('insert into kept values (1)');
      await killOthers();
      // Long enough for the client to notice while no statement runs.
      await new Promise((resolve) => setTimeout(resolve, 200));
      await sql.query('insert into kept values (2)');
    }),
  );
  expect(between).toMatchObject({ code: 'store_unavailable' });
  expect(await db.query('select id from kept')).toEqual([]);
});

test('a wrong password and a missing database are refusals, not absences', async () => {
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await using denied = await createStore({ url: wrong.href });
  expect(await failure(denied.migrate())).toMatchObject({ name: 'StoreAccessError', code: 'store_access' });
  const missing = new URL(server.url);
  missing.pathname = '/nowhere';
  await using lost = await createStore({ url: missing.href });
  expect(await failure(lost.batches())).toMatchObject({ code: 'store_access' });
});
