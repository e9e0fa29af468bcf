import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { World } from '../../src/environments/world.ts';
import { openShop, ownServer, type Shop } from '../fixtures/packs/shop/kit.ts';

// A process of ours dies at a named point; another one goes on as a retried activity would, or as the sweeper.

let server: Awaited<ReturnType<typeof ownServer>>;
let shop: Shop;
beforeAll(async () => {
  server = await ownServer();
  shop = await openShop(server.url, 'crash');
});
afterAll(async () => {
  await shop[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

let n = 0;
async function dieAt(failpoint: string, isolation: 'schema' | 'database' = 'schema'): Promise<string> {
  n += 1;
  const owner = `crash-${process.pid}-${n}`;
  const child = spawn(process.execPath, [fileURLToPath(new URL('../fixtures/packs/shop/crash.ts', import.meta.url)), server.url, failpoint, owner, isolation], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const signal = await new Promise((resolve) => child.once('exit', (_code, ended) => resolve(ended)));
  expect(signal, `the process was to die at ${failpoint}`).toBe('SIGKILL');
  return owner;
}

const ids = async (owner: string) =>
  (await shop.admin.query<{ id: string }>('SELECT id FROM trialbed.worlds WHERE owner = $1', [owner])).rows.map((row) => row.id);
const again = async (owner: string, isolation: 'schema' | 'database' = 'schema'): Promise<World> =>
  shop.worlds.open(await shop.worlds.provision(shop.environment, shop.lease(owner, { isolation })));
const things = async () =>
  (
    await shop.admin.query<{ n: number }>(
      `SELECT ((SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'w\\_%' AND obj_description(oid, 'pg_namespace') LIKE 'trialbed world %')
             + (SELECT count(*) FROM pg_roles WHERE shobj_description(oid, 'pg_authid') LIKE 'trialbed world %' AND NOT EXISTS (SELECT 1 FROM trialbed.worlds WHERE 'w_' || id = rolname)))::int AS n`,
    )
  ).rows[0]?.n;

describe('a process that dies', () => {
  test.each(['world_made_before_leased', 'world_leased_before_reply'])('at %s: its owner gets one world, and none is left over', async (failpoint) => {
    const owner = await dieAt(failpoint);
    const [before] = await ids(owner);
    const world = await again(owner);
    expect(await ids(owner)).toEqual([world.ref.id]);
    if (before !== undefined) expect(world.ref.id).toBe(before);
    expect((await world.observe()).effects).toEqual([]);
    expect(await world.release()).toBe('pooled');
  });

  test('at database_made_before_leased: the half made world is replaced', async () => {
    const owner = await dieAt('database_made_before_leased', 'database');
    const [half] = await ids(owner);
    const world = await again(owner, 'database');
    expect(world.ref.id).not.toBe(half);
    const { rows } = await shop.admin.query('SELECT datname FROM pg_database WHERE datname = $1', [`w_${half}`]);
    expect(rows).toEqual([]);
    await world.release();
  });

  test('at effects_written_before_commit: nothing is there, and the next attempt has its effect once', async () => {
    const world = await again(await dieAt('effects_written_before_commit'));
    expect(await world.ledger.recover('op1', 1)).toMatchObject({ row: { state: 'proposed' }, effects: 0 });
    await world.transact({ id: 'op1', attempt: 2 }, async (sql) => ({ value: await sql.query("insert into notes values ('once', 'x')"), result: null }));
    expect((await world.observe()).effects).toMatchObject([{ operation: 'op1' }]);
    await world.release();
  });

  test('at effects_committed_before_reply: the ledger tells the reply', async () => {
    const world = await again(await dieAt('effects_committed_before_reply'));
    expect(await world.ledger.recover('op1', 1)).toMatchObject({ row: { state: 'committed', result: [] }, effects: 1 });
    expect((await world.observe()).effects).toHaveLength(1);
    await world.release();
  });

  test.each(['fence_locked_before_epoch', 'fence_closed_before_sessions_ended'])('at %s: fencing again closes it once', async (failpoint) => {
    const world = await again(await dieAt(failpoint));
    expect(await world.fence({ drainMs: 100 })).toEqual({ epoch: world.ref.epoch + 1 });
    expect((await world.observe()).effects).toHaveLength(1);
    await world.release();
  });

  test("at world_reset_before_free: the world is still its owner's, with its effects, and is reset again", async () => {
    const world = await again(await dieAt('world_reset_before_free'));
    expect((await world.observe()).effects).toHaveLength(1);
    expect(await world.release()).toBe('pooled');
  });

  test('at world_dropped_before_forgotten: the sweeper finishes', async () => {
    await dieAt('world_dropped_before_forgotten', 'database');
    await shop.admin.query("UPDATE trialbed.worlds SET lease_until = now() - interval '1 second' WHERE state = 'dropping' AND generation = $1", [
      shop.environment.generation,
    ]);
    const before = await things();
    await shop.worlds.sweep({});
    const { rows } = await shop.admin.query("SELECT 1 FROM trialbed.worlds WHERE state = 'dropping' AND generation = $1", [shop.environment.generation]);
    expect(rows).toEqual([]);
    expect(await things()).toBeLessThanOrEqual(before ?? 0);
  });
});
