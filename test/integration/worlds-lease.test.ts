import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { defineEnvironment } from '../../src/environments/define.ts';
import type { LoadedEnvironment } from '../../src/environments/world.ts';
import { openShop, operate, type Shop, statements } from '../fixtures/packs/shop/kit.ts';

const { postgresUrl } = inject('services');
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(postgresUrl, 'lease');
});
afterAll(() => shop[Symbol.asyncDispose]());

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

describe('provisioning', () => {
  test.each(['schema', 'database'] as const)('by many at once for one owner gives one world (%s)', async (isolation) => {
    const request = shop.lease(undefined, { isolation });
    const refs = await Promise.all(Array.from({ length: 6 }, () => shop.worlds.provision(shop.environment, request)));
    expect(new Set(refs.map((ref) => JSON.stringify(ref))).size).toBe(1);
    const { rows } = await shop.admin.query('SELECT 1 FROM trialbed.worlds WHERE owner = $1', [request.owner]);
    expect(rows).toHaveLength(1);
    expect(await shop.worlds.leased(request.owner)).toBe(1);
    const world = await shop.worlds.open(refs[0] as (typeof refs)[0]);
    await world.release();
    expect(await shop.worlds.leased(request.owner)).toBe(0);
    expect(await world.release()).toBe('dropped');
  });

  test('by many owners at once gives as many worlds, with few connections', async () => {
    const worlds = await Promise.all(Array.from({ length: 24 }, () => shop.make()));
    expect(new Set(worlds.map((world) => world.ref.id)).size).toBe(24);
    await Promise.all(worlds.map((world, n) => statements(world, 'op1', `insert into notes values ('n', '${n}')`)));
    const { rows } = await shop.admin.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = 'trialbed_worlds' AND application_name = 'trialbed tools'",
    );
    expect(rows[0]?.n).toBeLessThanOrEqual(10);
    for (const [n, world] of worlds.entries()) expect((await world.observe()).effects).toMatchObject([{ after: { body: String(n) } }]);
    await Promise.all(worlds.map((world) => world.release()));
  });

  test('a world of isolation database has a login, is dropped on release, and leaves nothing', async () => {
    const world = await shop.make({ isolation: 'database', state: [{ update: 'orders', where: { id: 1 }, set: { status: 'sent' } }] });
    expect(world.ref).toMatchObject({ isolation: 'database' });
    const found = await operate(world, 'op1', (sql) => sql.query("update orders set status = 'new' where id = 1 and status = 'sent' returning id"));
    expect(found).toEqual([{ id: 1 }]);
    expect((await world.observe()).effects.map((effect) => effect.kind === 'row' && effect.table)).toEqual(['orders', 'audit']);
    const snapshot = await world.snapshot();
    expect(await world.release()).toBe('dropped');
    expect(await remains(world.ref.id)).toEqual([]);
    // A snapshot does not care where its world was.
    const again = await shop.worlds.open(await shop.worlds.restore(shop.environment, snapshot, shop.lease()));
    expect((await again.observe()).effects).toHaveLength(2);
    await again.release({ reuse: false });
    expect(await remains(again.ref.id)).toEqual([]);
  });

  test('fails by name of the table when a seed is not the same each time, and leaves nothing', async () => {
    const environment: LoadedEnvironment = {
      ...shop.environment,
      generation: `random-${process.pid}`,
      environment: defineEnvironment({
        ...shop.environment.environment,
        seed: [],
        tables: {},
        schema: [new URL('../fixtures/packs/shop/random.sql', import.meta.url)],
      }),
    };
    const first = await shop.worlds.open(await shop.worlds.provision(environment, shop.lease()));
    const request = shop.lease();
    await expect(shop.worlds.provision(environment, request)).rejects.toMatchObject({ code: 'fingerprint', differs: ['table dice'] });
    expect(await shop.worlds.leased(request.owner)).toBe(0);
    await first.release({ reuse: false });
  });

  test('a schema that the server refuses names file and line; one that ends the transaction is refused', async () => {
    const broken = (name: string): LoadedEnvironment => ({
      ...shop.environment,
      generation: `${name}-${process.pid}`,
      environment: defineEnvironment({
        ...shop.environment.environment,
        seed: [],
        tables: {},
        schema: [new URL(`../fixtures/packs/shop/${name}`, import.meta.url)],
      }),
    });
    await expect(shop.worlds.provision(broken('broken.sql'), shop.lease())).rejects.toThrow(/schema broken\.sql, line 4: type "colour" does not exist/);
    const schemas = async () =>
      (
        await shop.admin.query(
          "SELECT count(*)::int AS n FROM pg_namespace n WHERE nspname LIKE 'w\\_%' AND EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'committed')",
        )
      ).rows;
    await expect(shop.worlds.provision(broken('commits.sql'), shop.lease())).rejects.toThrow(/must not hold BEGIN, COMMIT or ROLLBACK/);
    expect(await schemas()).toEqual([{ n: 0 }]);
    await expect(shop.worlds.provision(broken('missing.sql'), shop.lease())).rejects.toThrow(/cannot read missing\.sql/);
  });
});

describe('a dump of a database', () => {
  test('makes worlds in databases, with its own schemas', async () => {
    const environment: LoadedEnvironment = {
      ...shop.environment,
      generation: `dump-${process.pid}`,
      environment: defineEnvironment({
        ...shop.environment.environment,
        seed: [{ csv: new URL('../fixtures/packs/shop/seed/dump.csv', import.meta.url), table: 'crm.people', header: ['id', 'name'] }],
        tables: { 'crm.people': { ignored: ['name'] } },
        schema: [new URL('../fixtures/packs/shop/dump.sql', import.meta.url)],
      }),
    };
    const world = await shop.worlds.open(await shop.worlds.provision(environment, shop.lease()));
    expect(world.ref.isolation).toBe('database');
    await statements(world, 'op1', "insert into crm.people (name) values ('New')", 'insert into items (owner) values (1)');
    const { effects, tables } = await world.observe();
    expect(effects).toMatchObject([
      { table: 'crm.people', key: { id: 6 } },
      { table: 'items', key: { id: 1 }, after: { label: 'item of New or old' } },
    ]);
    expect(Object.keys(tables)).toEqual(['items', 'crm.people']);
    // Asked for as a schema, it has no login.
    const { agentSecret } = await world.credentials();
    const client = new pg.Client({ connectionString: withDatabase(postgresUrl, `w_${world.ref.id}`, { user: `w_${world.ref.id}`, password: agentSecret }) });
    await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
    expect(await world.release()).toBe('dropped');
  });
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
