import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openShop, ownServer, type Shop } from '../fixtures/packs/shop/kit.ts';

let server: Awaited<ReturnType<typeof ownServer>>;
let shop: Shop;
beforeAll(async () => {
  server = await ownServer();
  shop = await openShop(server.url, 'sweep');
});
afterAll(async () => {
  await shop[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** What is left of a world in the server. */
async function remains(id: string): Promise<string[]> {
  const { rows } = await shop.admin.query<{ what: string }>(
    `SELECT 'schema ' || nspname AS what FROM pg_namespace WHERE nspname LIKE 'w\\_' || $1 || '%'
     UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE rolname = 'w_' || $1
     UNION ALL SELECT 'database ' || datname FROM pg_database WHERE datname = 'w_' || $1
     UNION ALL SELECT 'row ' || state FROM trialbed.worlds WHERE id = $1`,
    [id],
  );
  return rows.map((row) => row.what);
}

test('in a full pool the world that has been free for longest makes room, of whatever environment it is', async () => {
  await using own = await ownServer();
  await using other = await openShop(own.url, 'other', { pool: 2 });
  await using wanted = await openShop(own.url, 'wanted', { pool: 2 });
  const idle = await Promise.all([other.make(), other.make()]);
  for (const world of idle) expect(await world.release()).toBe('pooled');
  const used = await wanted.make();
  expect(await used.release()).toBe('pooled');
  const free = async () => (await other.admin.query<{ id: string }>("SELECT id FROM trialbed.worlds WHERE state = 'free' ORDER BY free_since")).rows;
  expect((await free()).map(({ id }) => id)).toEqual([idle[1]?.ref.id, used.ref.id]);
  const { rows } = await other.admin.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [`w_${idle[0]?.ref.id}`]);
  expect(rows).toEqual([]);
  expect((await wanted.make()).ref.id).toBe(used.ref.id);
});

describe('the sweeper', () => {
  const sweptIds = async (options: Parameters<Shop['worlds']['sweep']>[0] = {}) =>
    new Map((await shop.worlds.sweep(options)).swept.map((one) => [one.world, one.reason]));

  test('drops worlds whose lease has lapsed or whose workflow is closed, and no other', async () => {
    const lapsed = await shop.worlds.open(await shop.worlds.provision(shop.environment, shop.lease('lapsed', { leaseMs: -1 })));
    const lapsedDatabase = await shop.worlds.open(
      await shop.worlds.provision(shop.environment, shop.lease('lapsed-db', { leaseMs: -1, isolation: 'database' })),
    );
    const ended = await shop.worlds.open(await shop.worlds.provision(shop.environment, shop.lease('ended')));
    const live = await shop.worlds.open(await shop.worlds.provision(shop.environment, shop.lease('live')));
    const pooled = await shop.make();
    await pooled.release();
    const asked: string[] = [];
    const closed = async (ids: readonly string[]) => {
      asked.push(...ids);
      return new Set(ids.filter((id) => id === 'workflow ended'));
    };
    const planned = await sweptIds({ closed, dryRun: true });
    expect(planned.get(lapsed.ref.id)).toBe('lease_lapsed');
    expect((await lapsed.observe()).effects).toEqual([]);
    const swept = await sweptIds({ closed });
    expect([lapsed, lapsedDatabase, ended].map((world) => swept.get(world.ref.id))).toEqual(['lease_lapsed', 'lease_lapsed', 'workflow_closed']);
    expect(swept.has(live.ref.id) || swept.has(pooled.ref.id)).toBe(false);
    expect(asked).toContain('workflow live');
    for (const world of [lapsed, lapsedDatabase, ended]) {
      expect(await remains(world.ref.id)).toEqual([]);
      await expect(world.observe()).rejects.toMatchObject({ code: 'world_gone' });
      await expect(shop.worlds.open(world.ref)).rejects.toMatchObject({ code: 'world_gone' });
      expect(await world.release()).toBe('dropped');
    }
    expect(await live.observe()).toMatchObject({ effects: [] });
    expect(await remains(pooled.ref.id)).toContain('row free');
    const again = await sweptIds({ closed });
    expect(again.size).toBe(0);
    await live.release();
  });

  test('is not stopped by a session that idles in a transaction on the world', async () => {
    const world = await shop.worlds.open(await shop.worlds.provision(shop.environment, shop.lease('idle', { leaseMs: -1 })));
    const session = await shop.admin.connect();
    session.on('error', () => undefined);
    await session.query('BEGIN');
    await session.query(`SELECT * FROM w_${world.ref.id}.customers`);
    expect((await sweptIds()).get(world.ref.id)).toBe('lease_lapsed');
    expect(await remains(world.ref.id)).toEqual([]);
    session.release(true);
  });

  test('drops what carries our marker and is in no registry, and nothing that only has such a name', async () => {
    const id = 'orphan0123456789';
    await shop.admin.query(
      `CREATE SCHEMA w_${id}; COMMENT ON SCHEMA w_${id} IS 'trialbed world ${id}'; CREATE ROLE w_${id}; COMMENT ON ROLE w_${id} IS 'trialbed world ${id}';
       CREATE SCHEMA w_foreign; CREATE SCHEMA test_x; CREATE ROLE w_stranger; COMMENT ON SCHEMA test_x IS 'trialbed world ${id}'`,
    );
    await shop.admin.query(`CREATE DATABASE w_${id}db`);
    await shop.admin.query(`COMMENT ON DATABASE w_${id}db IS 'trialbed world ${id}db'`);
    await shop.admin.query('CREATE DATABASE w_foreigndb');
    try {
      const report = await shop.worlds.sweep({});
      const swept = report.swept.filter((one) => one.world.startsWith(id)).sort((a, b) => a.world.length - b.world.length);
      expect(swept).toEqual([
        { world: id, owner: '', reason: 'orphan' },
        { world: `${id}db`, owner: '', reason: 'orphan' },
      ]);
      expect(report.leaked).toBeGreaterThanOrEqual(2);
      expect(await remains(id)).toEqual([]);
      const { rows } = await shop.admin.query(
        "SELECT nspname AS name FROM pg_namespace WHERE nspname IN ('w_foreign', 'test_x') UNION ALL SELECT datname FROM pg_database WHERE datname LIKE 'w\\_%db' ORDER BY 1",
      );
      expect(rows.map((row: { name: string }) => row.name)).toEqual(['test_x', 'w_foreign', 'w_foreigndb']);
    } finally {
      await shop.admin.query('DROP SCHEMA w_foreign; DROP SCHEMA test_x; DROP ROLE w_stranger');
      await shop.admin.query('DROP DATABASE w_foreigndb');
    }
  });

  test('finishes what a crash left half made or half dropped', async () => {
    const half = await shop.make({ isolation: 'database' });
    await shop.admin.query("UPDATE trialbed.worlds SET state = 'making', lease_until = now() - interval '1 second' WHERE id = $1", [half.ref.id]);
    const dropping = await shop.make();
    await shop.admin.query("UPDATE trialbed.worlds SET state = 'dropping', owner = NULL, lease_until = now() - interval '1 second' WHERE id = $1", [
      dropping.ref.id,
    ]);
    const swept = await sweptIds();
    expect(swept.get(half.ref.id)).toBe('lease_lapsed');
    expect(await remains(half.ref.id)).toEqual([]);
    expect(await remains(dropping.ref.id)).toEqual([]);
  });

  test('an owner whose world was half made gets a new one', async () => {
    const request = shop.lease(undefined, { isolation: 'database' });
    const first = await shop.worlds.provision(shop.environment, request);
    await shop.admin.query("UPDATE trialbed.worlds SET state = 'making' WHERE id = $1", [first.id]);
    const second = await shop.worlds.provision(shop.environment, request);
    expect(second.id).not.toBe(first.id);
    expect(await remains(first.id)).toEqual([]);
    await (await shop.worlds.open(second)).release();
  });
});
