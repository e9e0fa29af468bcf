import { type ChildProcess, spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { startMark } from '../../src/infra/process.ts';
import { acquireServices, down, status, up } from '../../src/infra/services.ts';
import { SEARCH_ATTRIBUTES } from '../../src/infra/temporal-ready.ts';
import { readSettings, type ServiceSettings } from '../../src/worker/config.ts';

let home: string;
let settings: ServiceSettings;
const holders: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trialbed-infra-'));
  settings = { ...readSettings(process.env, { home }), postgres: 'embedded', databaseUrl: null, worldsUrls: null, temporal: null };
});

afterEach(async () => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
  await down({ home }, { force: true });
  await rm(home, { recursive: true, force: true });
});

async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Repeats until it holds; fails by the test's own time limit. */
async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(50);
}

/** Another process that holds the services until it is killed. */
async function holder(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../harness/hold-services.ts', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] });
  holders.push(child);
  child.stdin?.end(JSON.stringify(settings));
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) if (line === 'ready') break;
  return child;
}

/** Process ids of the supervisor and of all that it runs. */
async function processes(): Promise<number[]> {
  const now = await status({ home });
  return now === null ? [] : [now.pid, ...now.services.map((service) => Number(service.id))];
}

async function alive(pids: readonly number[]): Promise<number[]> {
  const marks = await Promise.all(pids.map(startMark));
  return pids.filter((_, index) => marks[index] !== null);
}

test('two that start at once share the services, and the last release leaves no process', async () => {
  const [first, second] = await Promise.all([acquireServices(settings), acquireServices(settings)]);
  expect(second.endpoints).toEqual(first.endpoints);
  const pids = await processes();
  expect(pids).toHaveLength(3);
  await expect(status({ home })).resolves.toMatchObject({ users: [process.pid, process.pid], pinned: false });
  await first.release();
  expect(await alive(pids)).toEqual(pids);
  await query(second.endpoints.storeUrl, 'SELECT 1');
  await second.release();
  expect(await alive(pids)).toEqual([]);
  expect(await status({ home })).toBeNull();
});

test('processes that start at once share one supervisor', async () => {
  await Promise.all([holder(), holder(), holder()]);
  const now = await status({ home });
  expect(new Set(now?.users)).toEqual(new Set(holders.map((child) => child.pid)));
  const log = await readFile(join(home, 'logs', 'supervisor.log'), 'utf8');
  expect(log.match(/all services run/g)).toHaveLength(1);
});

/** Of worlds; this home has had none. */
const NO_CONTAINERS = { ended: 0, left: 0 };

test('a holder that is killed leaves no process behind', async () => {
  const child = await holder();
  const pids = await processes();
  expect(await alive(pids)).toEqual(pids);
  child.kill('SIGKILL');
  await eventually(async () => (await alive(pids)).length === 0);
});

test('up keeps the services without a user, and down ends them', async () => {
  const { endpoints } = await up(settings);
  const pids = await processes();
  await sleep(500);
  expect(await alive(pids)).toEqual(pids);
  await using lease = await acquireServices(settings);
  expect(lease.endpoints).toEqual(endpoints);
  await expect(down({ home })).resolves.toEqual({ result: 'users', users: [process.pid], containers: NO_CONTAINERS });
  expect(await alive(pids)).toEqual(pids);
  await lease.release();
  expect(await alive(pids)).toEqual([]);
  await expect(down({ home })).resolves.toEqual({ result: 'not running', users: [], containers: NO_CONTAINERS });
});

test('a killed PostgreSQL comes back where it was, with what it had committed', async () => {
  await using lease = await acquireServices(settings);
  const { storeUrl } = lease.endpoints;
  await query(storeUrl, 'CREATE TABLE kept AS SELECT 42 AS answer');
  const before = (await status({ home }))?.services.find((service) => service.name === 'postgres');
  process.kill(Number(before?.id), 'SIGKILL');
  await eventually(async () => ((await status({ home }))?.services.find((service) => service.name === 'postgres')?.restarts ?? 0) === 1);
  await eventually(() =>
    query(storeUrl, 'SELECT 1').then(
      () => true,
      () => false,
    ),
  );
  expect(await query(storeUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
});

test('a killed Temporal server comes back where it was', async () => {
  await using lease = await acquireServices(settings);
  const before = (await status({ home }))?.services.find((service) => service.name === 'temporal');
  process.kill(Number(before?.id), 'SIGKILL');
  await eventually(async () => (await status({ home }))?.services.find((service) => service.name === 'temporal')?.id !== before?.id);
  const connection = Connection.lazy({ address: lease.endpoints.temporal.address });
  await eventually(() =>
    connection.workflowService.describeNamespace({ namespace: 'default' }).then(
      () => true,
      () => false,
    ),
  );
  await connection.close();
});

test('when the supervisor is killed, a holder gets another on the same data, and nothing of the old one stays', async () => {
  await using lease = await acquireServices(settings);
  await query(lease.endpoints.storeUrl, 'CREATE TABLE kept AS SELECT 42 AS answer');
  const old = await processes();
  process.kill(old[0] ?? Number.NaN, 'SIGKILL');
  await eventually(async () => {
    const now = await status({ home }).catch(() => null);
    return now !== null && now.pid !== old[0] && now.started !== null;
  });
  expect(await query(lease.endpoints.storeUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  expect(await alive(old)).toEqual([]);
});

test('the search attributes are registered, and a second start finds ports, data and histories where they were', async () => {
  const first = await acquireServices(settings);
  await query(first.endpoints.worldHosts[0]?.adminUrl ?? '', 'CREATE TABLE kept AS SELECT 1 AS one');
  await first.release();
  await using second = await acquireServices(settings);
  expect(second.endpoints).toEqual(first.endpoints);
  expect(await query(second.endpoints.worldHosts[0]?.adminUrl ?? '', 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  const connection = Connection.lazy({ address: second.endpoints.temporal.address });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
  await connection.close();
  expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTES]));
});

test('given servers are used, and then nothing is started', async () => {
  const { postgresUrl, temporalAddress } = inject('services');
  const databaseUrl = postgresUrl.replace(/postgres$/, `infra_${process.pid}`);
  await using lease = await acquireServices({ ...settings, postgres: 'auto', databaseUrl, temporal: { address: temporalAddress, namespace: 'default' } });
  expect(lease.endpoints).toMatchObject({ storeUrl: databaseUrl, temporal: { address: temporalAddress }, worldHosts: [{ kind: 'external' }] });
  expect(await query(databaseUrl, 'SELECT current_database()')).toEqual([{ current_database: `infra_${process.pid}` }]);
  expect(await query(lease.endpoints.worldHosts[0]?.adminUrl ?? '', 'SELECT current_database()')).toEqual([{ current_database: 'trialbed_worlds' }]);
  expect(await status({ home })).toBeNull();
});

test('a Temporal CLI that is none is a matter of configuration that says what to do, and nothing is started', async () => {
  const [text, folder] = [join(home, 'text'), join(home, 'folder')];
  await writeFile(text, 'not a program', { mode: 0o755 });
  await mkdir(folder);
  for (const temporalCli of ['/nowhere/temporal', text, folder, process.execPath]) {
    const wrong = expect.stringContaining(`TEMPORAL_CLI_PATH: ${temporalCli}`);
    await expect(acquireServices({ ...settings, temporalCli })).rejects.toMatchObject({ code: 'config', message: wrong });
  }
  expect(await status({ home })).toBeNull();
  await expect(access(join(home, 'logs'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a home that forgot the password of its data says so at once', async () => {
  await (await acquireServices(settings)).release();
  await rm(join(home, 'services.json'));
  await expect(acquireServices(settings)).rejects.toMatchObject({ code: 'postgres_start', message: expect.stringContaining(join(home, 'postgres')) });
});

test('a command with other settings is refused while services run', async () => {
  await using lease = await acquireServices(settings);
  expect(lease.notes).toEqual([]);
  await expect(acquireServices({ ...settings, postgres: 'container' })).rejects.toMatchObject({ code: 'services_differ' });
});

test('a container that cannot be had, where it was demanded, leaves no embedded server behind', async () => {
  const demanded = { ...settings, postgres: 'container', postgresImage: 'trialbed.invalid/none:1' } as const;
  await expect(acquireServices(demanded)).rejects.toThrow(/container/);
  expect(await status({ home })).toBeNull();
  // PostgreSQL removes this file when it ends.
  await expect(access(join(home, 'postgres', 'postmaster.pid'))).rejects.toMatchObject({ code: 'ENOENT' });
  await (await acquireServices(settings)).release();
});

test('what a supervisor had begun to start when it was killed is ended by the next', async () => {
  const lease = acquireServices(settings);
  let begun: readonly { readonly name: string; readonly pid: number }[] = [];
  await eventually(async () => {
    const state = JSON.parse(await readFile(join(home, 'services.json'), 'utf8').catch(() => '{}')) as { readonly running?: typeof begun };
    begun = state.running ?? [];
    return begun.some(({ name }) => name === 'postgres');
  });
  const supervisor = await status({ home });
  expect(supervisor?.started).toBeNull();
  process.kill(supervisor?.pid ?? Number.NaN, 'SIGKILL');
  await using _ = await lease;
  expect(await alive(begun.map(({ pid }) => pid))).toEqual([]);
});

test('a home that cannot be written is a matter of configuration, and nothing is started', async () => {
  const file = join(home, 'file');
  await writeFile(file, '');
  await expect(acquireServices({ ...settings, home: join(file, 'home') })).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining('TRIALBED_HOME'),
  });
});

test.runIf(process.platform === 'linux')('a home below a folder in which nothing can be made is refused at once', async () => {
  await expect(acquireServices({ ...settings, home: '/proc/trialbed/home' })).rejects.toMatchObject({ code: 'config' });
  const given = { ...settings, databaseUrl: 'postgres://127.0.0.1:1/x', postgres: 'auto', temporal: { address: '127.0.0.1:1', namespace: 'default' } } as const;
  await expect(acquireServices({ ...given, home: '/proc/trialbed/home' })).rejects.toMatchObject({ code: 'config' });
});

test('an initdb that is killed with its supervisor leaves neither its password nor half a cluster behind', async () => {
  const lease = acquireServices(settings);
  const making = async (): Promise<readonly string[]> => (await readdir(home)).filter((name) => name.startsWith('postgres.making-'));
  await eventually(async () => (await making()).length > 0);
  process.kill((await status({ home }))?.pid ?? Number.NaN, 'SIGKILL');
  await using _ = await lease;
  expect(await making()).toEqual([]);
});
