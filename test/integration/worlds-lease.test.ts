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
    await expect(shop.worlds.provision(broken('broken.sql'), shop.lease())).rejects.toThrow(
      /schema test\/fixtures\/packs\/shop\/broken\.sql:4: type "colour" does not exist/,
    );
    const schemas = async () =>
      (
        await shop.admin.query(
          "SELECT count(*)::int AS n FROM pg_namespace n WHERE nspname LIKE 'w\\_%' AND EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'committed')",
        )
      ).rows;
    await expect(shop.worlds.provision(broken('commits.sql'), shop.lease())).rejects.toThrow(/must not hold BEGIN, COMMIT or ROLLBACK/);
    expect(await schemas()).toEqual([{ n: 0 }]);
    await expect(shop.worlds.provision(broken('missing.sql'), shop.lease())).rejects.toThrow(/cannot read test\/fixtures\/packs\/shop\/missing\.sql/);
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
