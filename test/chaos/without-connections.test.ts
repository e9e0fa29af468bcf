import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { freePort } from '../../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import { startTestbed } from '../harness/testbed.ts';
import { expectAllCounted, runStruck, WRITING } from './batch.ts';

const CONNECTIONS = 50;

test('PostgreSQL has no connection left: the batch waits, says so, and goes on, and no agent is blamed', { timeout: 300_000 }, async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres({
    dataFolder: join(folder, 'postgres'),
    logFile: join(folder, 'postgres.log'),
    port: await freePort(),
    password: 'chaos',
    fsync: false,
    connections: CONNECTIONS,
  });
  stack.defer(() => server.stop());
  const testbed = stack.use(await startTestbed({ postgresUrl: server.url, temporalAddress: inject('services').temporalAddress }));
  const request = { ...WRITING, keep: 'never' } as const;
  const struck = await runStruck(testbed, request, 2, (told) => holdAllConnections(server.url, told));
  await expectAllCounted(testbed, struck);
  expect(struck.outages.map((outage) => outage?.service ?? null)).toEqual(['PostgreSQL', null]);
  expect(struck.outages[0]?.reason).toMatch(/no free connection|lost the connection|was stopped/);
});

/** Takes every connection that there is, those of the batch too, and keeps them until that has been told. */
async function holdAllConnections(url: string, told: Promise<void>): Promise<void> {
  const held = await openSessions(url);
  let over = false;
  void told.then(() => {
    over = true;
  });
  try {
    for (; !over; await sleep(50)) {
      await held[0]?.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'trialbed%'");
      held.push(...(await openSessions(url)));
    }
  } finally {
    await Promise.all(held.map((client) => client.end().catch(() => undefined)));
  }
}

/** As many as there is room for. */
async function openSessions(url: string): Promise<pg.Client[]> {
  const opened = await Promise.all(Array.from({ length: CONNECTIONS }, () => openSession(url)));
  return opened.filter((client) => client !== null);
}

/** Null: there is no room. */
async function openSession(connectionString: string): Promise<pg.Client | null> {
  const client = new pg.Client({ connectionString, application_name: 'holder' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch {
    return null;
  }
}
