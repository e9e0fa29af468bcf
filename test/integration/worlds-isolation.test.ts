import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import type { World } from '../../src/environments/world.ts';
import { openShop, operate, type Shop, sqlStateOf, statements } from '../fixtures/packs/shop/kit.ts';

// What an agent may try to get out of its world. Each attempt is made in both ways that SQL can reach a world: by a tool's transaction in a shared database,
// and by a login of the agent's own in a database of its own.

const { postgresUrl } = inject('services');
let shop: Shop;
let neighbour: World;
let neighbourDatabase: World;
beforeAll(async () => {
  shop = await openShop(postgresUrl, 'isolation', { hosts: [{ name: 'test', kind: 'embedded', adminUrl: postgresUrl }] });
  neighbour = await shop.make();
  neighbourDatabase = await shop.make({ isolation: 'database' });
});
afterAll(async () => {
  await neighbour.release({ reuse: false });
  await neighbourDatabase.release();
  await shop[Symbol.asyncDispose]();
});

async function login(world: World, database = `w_${world.ref.id}`): Promise<pg.Client> {
  const { agentSecret } = await world.credentials();
  const client = new pg.Client({ connectionString: withDatabase(postgresUrl, database, { user: `w_${world.ref.id}`, password: agentSecret }) });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** SQL, and the SQLSTATE that refuses it. `$neighbour` is the schema of another world. */
const ATTEMPTS: readonly (readonly [what: string, sql: string, state: string])[] = [
  ['read another schema', 'select * from "$neighbour".customers', '42501'],
  ['write another schema', `insert into "$neighbour".notes values ('x', 'y')`, '42501'],
  ['read its own ledger', 'select * from "$sys".operations', '42501'],
  ['write its own journal', 'delete from "$sys".journal', '42501'],
  ['open its own fence', 'update "$sys".fence set closed = false', '42501'],
  ['move its own clock', 'update "$sys".clock set now = now()', '42501'],
  ['call a function of the harness', `select "$sys".claim('x', 1, 1)`, '42501'],
  ['read the registry', 'select * from trialbed.worlds', '42501'],
  ['become another world', 'set role "$neighbour"', '42501'],
  ['become the administrator', 'set role postgres', '42501'],
  ['change who it is', 'set session authorization postgres', '42501'],
  ['read a file of the server', `select pg_read_file('/etc/passwd')`, '42501'],
  ['list files of the server', `select pg_ls_dir('.')`, '42501'],
  ['run a program', `copy notes to program 'id'`, '42501'],
  ['write a file of the server', `copy notes to '/tmp/trialbed-escape'`, '42501'],
  ['load dblink', 'create extension dblink', '42501'],
  ['make a temporary table', 'create temporary table t (a int)', '42501'],
  ['make a table', 'create table t (a int)', '42501'],
  ['make a table in public', 'create table public.t (a int)', '42501'],
  ['make a schema', 'create schema s', '42501'],
  ['make a function in its schema', `create function f() returns int language sql as 'select 1'`, '42501'],
  ['truncate', 'truncate notes', '42501'],
  ['alter a table', 'alter table notes add column z int', '42501'],
  ['switch the journal off', 'alter table notes disable trigger user', '42501'],
  ['fire no triggers', `set session_replication_role = 'replica'`, '42501'],
  ['drop a table', 'drop table notes', '42501'],
  ['make a large object', `select lo_from_bytea(0, '\\x00')`, '42501'],
  ['make a large object, another way', 'select lo_create(0)', '42501'],
  ['end another session', 'select pg_terminate_backend(pg_backend_pid())', '42501'],
  ['cancel another session', 'select pg_cancel_backend(pg_backend_pid())', '42501'],
  ['write to the log of changes', `select pg_logical_emit_message(false, 'a', 'b')`, '42501'],
  ['change a setting of the server', "set log_statement = 'all'", '42501'],
  ['make a role', 'create role r', '42501'],
  ['read passwords', 'select * from pg_authid', '42501'],
];

function filled(sql: string, sys: string): string {
  return sql.replaceAll('$neighbour', `w_${neighbour.ref.id}`).replaceAll('$sys', sys);
}

describe('SQL of a tool, in a schema of a shared database', () => {
  let world: World;
  let n = 0;
  beforeAll(async () => {
    world = await shop.make();
  });
  afterAll(() => world.release());

  const tries = (sql: string) => {
    n += 1;
    return sqlStateOf(statements(world, `op${n}`, filled(sql, `w_${world.ref.id}_sys`)));
  };

  test.each(ATTEMPTS)('cannot %s', async (what, sql, state) => {
    // The session is the tool role, which is a member of every world: the statement passes, and the transaction is refused for it.
    expect(await tries(sql)).toBe(what === 'become another world' ? 'ledger' : state);
  });

  test.each([
    ['a lock that other worlds would wait for', 'select pg_advisory_xact_lock(1)'],
    ['one that outlives the transaction', 'select pg_try_advisory_lock(1)'],
  ])('cannot take %s', async (_what, sql) => {
    expect(await tries(sql)).toBe('42501');
  });

  test('cannot give privileges away: the server only warns, and nobody has them', async () => {
    await tries('grant select on notes to public');
    const { rows } = await shop.admin.query("SELECT has_table_privilege('public', $1, 'SELECT') AS may", [`w_${world.ref.id}.notes`]);
    expect(rows).toEqual([{ may: false }]);
  });

  test('cannot be more than one statement, so a value cannot smuggle one in', async () => {
    expect(await tries("insert into notes values ('a', 'b'); reset role")).toBe('42601');
  });

  test('cannot claim another operation, attempt or epoch', async () => {
    expect(await tries("select set_config('trialbed.operation', 'other', true)")).toBe('ledger');
    expect(await tries("select set_config('trialbed.attempt', '99', true)")).toBe('ledger');
    await world.ledger.propose({ id: 'forger', tool: 'x', args: {}, idempotencyKey: null, refusal: null });
    const forged = world.transact({ id: 'forger', attempt: 1 }, async (sql) => {
      await sql.query("select set_config('trialbed.epoch', '999', true)");
      await sql.query("insert into notes values ('a', 'b')");
      return { value: null, result: null };
    });
    await expect(forged).rejects.toMatchObject({ code: 'fenced' });
    expect((await world.observe()).effects).toEqual([]);
  });

  test('finds no setting of an earlier operation on the connection', async () => {
    expect(await tries("select set_config('search_path', 'pg_catalog', false)")).toBe(null);
    for (let i = 0; i < 8; i += 1) {
      const [row] = await operate(world, `clean${i}`, (sql) =>
        sql.query("select current_setting('search_path') as path, current_user::text as me, current_setting('trialbed.operation') as op"),
      );
      expect(row).toEqual({ path: `"w_${world.ref.id}"`, me: `w_${world.ref.id}`, op: `clean${i}` });
    }
  });

  test('cannot log in: the role has no login in a shared database', async () => {
    await expect(login(world, 'trialbed_worlds')).rejects.toMatchObject({ code: '28P01' });
  });
});

describe('a login of the agent, in a database of its own', () => {
  let world: World;
  let client: pg.Client;
  beforeAll(async () => {
    world = await shop.make({ isolation: 'database' });
    client = await login(world);
  });
  afterAll(async () => {
    await client.end();
    await world.release();
  });

  test.each(ATTEMPTS)('cannot %s', async (_what, sql, state) => {
    // Other worlds and the registry are in other databases: there, nothing of that name exists.
    const elsewhere = /\$neighbour"\.|trialbed\.worlds/.test(sql) ? ['3F000', '42P01'] : [state];
    expect(elsewhere).toContain(await sqlStateOf(client.query(filled(sql, 'trialbed_world_sys'))));
  });

  test.each([
    ['another world', () => `w_${neighbourDatabase.ref.id}`],
    ['all shared worlds', () => 'trialbed_worlds'],
    ['the administrator', () => 'postgres'],
    ['templates', () => 'template1'],
  ])('cannot connect to the database of %s', async (_what, database) => {
    await expect(login(world, database())).rejects.toMatchObject({ code: '42501' });
  });

  test('is a tool role to nobody: RESET ROLE leaves it what it is', async () => {
    await client.query('RESET ROLE');
    await client.query('RESET SESSION AUTHORIZATION');
    const { rows } = await client.query('SELECT current_user::text AS current, session_user::text AS session');
    expect(rows).toEqual([{ current: `w_${world.ref.id}`, session: `w_${world.ref.id}` }]);
  });

  test('writes unattributed, whatever it claims', async () => {
    await client.query(
      `SET trialbed.operation = 'op-forged'; SET trialbed.attempt = '1'; SET trialbed.epoch = '${world.ref.epoch}'; SET trialbed.phase = 'state'`,
    );
    await client.query("SET search_path = pg_catalog; INSERT INTO trialbed_world.notes VALUES ('mine', 'x')");
    const { effects } = await world.observe();
    expect(effects).toMatchObject([{ table: 'notes', change: 'insert', operation: null, after: { about: 'mine' } }]);
  });

  test('has its tables, and a bounded number of connections', async () => {
    const { rows } = await client.query('SELECT count(*)::int AS n FROM trialbed_world.customers');
    expect(rows).toEqual([{ n: 4 }]);
    const more: pg.Client[] = [];
    let refused: string | null = null;
    while (refused === null && more.length < 20) refused = await sqlStateOf(login(world).then((one) => more.push(one)));
    expect(refused).toBe('53300');
    await Promise.all(more.map((one) => one.end()));
  });
});

describe('two worlds side by side', () => {
  test.each(['schema', 'database'] as const)('of isolation %s: each sees its own rows and its own journal only', async (isolation) => {
    const [a, b] = await Promise.all([shop.make({ isolation }), shop.make({ isolation })]);
    await Promise.all(
      [a, b].map((world, index) =>
        statements(world, 'op1', `update customers set name = 'world ${index}' where id = 1`, `insert into notes values ('world', '${index}')`),
      ),
    );
    for (const [index, world] of [a, b].entries()) {
      const names = await operate(world, 'look', (sql) => sql.query('select name from customers where id = 1'));
      expect(names).toEqual([{ name: `world ${index}` }]);
      const { effects } = await world.observe();
      expect(effects.map((effect) => (effect.kind === 'row' ? effect.after : null))).toMatchObject([{ name: `world ${index}` }, { body: String(index) }]);
    }
    // Credentials of one are nothing to the other.
    const { toolSecret } = await a.credentials();
    expect(await shop.worlds.authenticate(b.ref.id, toolSecret)).toBe(null);
    expect(await shop.worlds.authenticate(a.ref.id, toolSecret)).toMatchObject({ worldId: a.ref.id, trusted: true });
    expect(await shop.worlds.authenticate('nosuchworld', toolSecret)).toBe(null);
    await Promise.all([a.release(), b.release()]);
  });
});

test('operations one after another share a session, which each leaves as it found it', async () => {
  const world = await shop.make();
  const sessions = new Set<number>();
  for (let n = 1; n <= 5; n++) {
    const [row] = await operate(world, `op-${n}`, async (sql) => {
      const seen = await sql.query<{ pid: number; left: string | null }>(`select pg_backend_pid() as pid, current_setting('trialbed.left', true) as left`);
      await sql.query(`select set_config('trialbed.left', 'something', false)`);
      return seen;
    });
    sessions.add(row?.pid ?? 0);
    expect(row?.left || null).toBeNull();
  }
  expect(sessions.size).toBe(1);
  await world.release({ reuse: false });
});
