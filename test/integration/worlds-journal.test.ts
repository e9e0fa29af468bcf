import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RowEffect } from '../../src/domain/effect.ts';
import { netChanges } from '../../src/domain/grading/net.ts';
import { ToolFailure } from '../../src/environments/define.ts';
import type { World } from '../../src/environments/world.ts';
import { dump, openShop, operate, type Shop, statements } from '../fixtures/packs/shop/kit.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop(inject('services').postgresUrl, 'journal');
});
afterAll(() => shop[Symbol.asyncDispose]());

const rows = async (world: World): Promise<RowEffect[]> => (await world.observe()).effects.filter((effect) => effect.kind === 'row');
const schemaOf = (world: World) => `w_${world.ref.id}`;

describe('the journal', () => {
  test('has table, change, key, images, operation and world time of every change, in the order of events', async () => {
    const world = await shop.make();
    await statements(world, 'op1', "insert into orders (customer_id, net, tax) values (2, '12.50', '0.001')");
    const effects = await rows(world);
    // The pack's own trigger writes an audit row and then changes the order it fired for.
    expect(effects.map((effect) => `${effect.table} ${effect.change}`)).toEqual(['orders insert', 'audit insert', 'orders update', 'audit insert']);
    expect(effects[0]).toMatchObject({ key: { id: 10 }, before: null, operation: 'op1', at: '2026-03-02T08:30:00.000Z' });
    expect(effects[0]?.after).toEqual({
      id: 10,
      customer_id: 2,
      status: 'new',
      net: 12.5,
      tax: 0.001,
      gross: 12.501,
      discount: null,
      reference: null,
      due: null,
      noted_at: null,
    });
    expect(effects[2]).toMatchObject({ before: { discount: null }, after: { discount: 5 } });
    await world.release();
  });

  test('keeps what a number cannot hold, arrays, JSON, times and special values', async () => {
    const world = await shop.make();
    await statements(
      world,
      'op1',
      "set local timezone = 'Asia/Tokyo'",
      "update orders set reference = 9007199254740995, noted_at = '2026-05-01 12:00' where id = 1",
      `update customers set tags = '{"a,b",NULL}', preferences = '{"n": 12345678901234567890}', raw = '{"z": 1, "a": [2.50]}', joined_at = '2026-01-01 00:00+09' where id = 1`,
      "update order_lines set weight = 'Infinity' where order_id = 2",
      "update receipts set span = '3 mons', scan = '\\xdead'",
    );
    const images = (await rows(world)).filter((effect) => effect.table !== 'audit').map((effect) => effect.after);
    expect(images[0]).toMatchObject({ reference: '9007199254740995', noted_at: '2026-05-01T12:00:00' });
    expect(images[1]).toMatchObject({
      tags: ['a,b', null],
      preferences: { n: '12345678901234567890' },
      raw: { z: 1, a: [2.5] },
      joined_at: '2025-12-31T15:00:00+00:00',
    });
    expect(images[2]).toMatchObject({ weight: 'Infinity' });
    expect(images[3]).toMatchObject({ span: '3 mons', scan: '\\xdead' });
    await world.release();
  });

  test('follows cascades, composite keys, changed keys, tables without a key, and partitions', async () => {
    const world = await shop.make();
    await statements(
      world,
      'op1',
      'delete from customers where id = 1',
      "update notes set body = 'counted' where about is null",
      'update customers set id = 70 where id = 7',
      "update events set at = '2026-02-02' where id = 1",
    );
    const effects = await rows(world);
    const summary = effects.map((effect) => `${effect.table} ${effect.change} ${JSON.stringify(effect.key)}`);
    expect(summary.filter((line) => line.startsWith('order_lines')).sort()).toEqual([
      'order_lines delete {"line":1,"order_id":1}',
      'order_lines delete {"line":1,"order_id":2}',
      'order_lines delete {"line":2,"order_id":1}',
    ]);
    expect(summary[0]).toBe('customers delete {"id":1}');
    expect(summary.filter((line) => line.startsWith('orders'))).toHaveLength(2);
    expect(summary).toContain('notes update {"body":"counted","about":null}');
    expect(summary).toContain('customers update {"id":70}');
    expect(summary.filter((line) => line.startsWith('events'))).toEqual([
      'events delete {"at":"2025-05-05","id":1}',
      'events insert {"at":"2026-02-02","id":1}',
    ]);
    const { tables } = await world.observe();
    expect(tables.notes?.key).toEqual(['about', 'body']);
    expect(tables.orders?.scale).toEqual({ net: 2 });
    expect(tables.customers?.ignored).toEqual(['updated_at']);
    const net = netChanges(effects, tables).effects.map((effect) => (effect.kind === 'row' ? `${effect.table} ${effect.change}` : 'mail'));
    expect(net.filter((line) => line === 'customers update')).toHaveLength(1);
    await world.release();
  });

  test('shows a write of nobody: an operation that a session only claims to be is not believed', async () => {
    const world = await shop.make();
    const client = await shop.admin.connect();
    try {
      await client.query("SELECT set_config('trialbed.operation', 'op-forged', false), set_config('trialbed.epoch', $1, false)", [String(world.ref.epoch)]);
      await client.query(`INSERT INTO "${schemaOf(world)}".notes VALUES ('by hand', 'x')`);
    } finally {
      client.release(true);
    }
    expect(await rows(world)).toMatchObject([{ table: 'notes', operation: null }]);
    await world.release();
  });
});

describe('an operation', () => {
  test('writes its effects and its ledger row together, or neither', async () => {
    const world = await shop.make();
    const value = await operate(world, 'op1', (sql) => sql.query("insert into notes values ('a', 'b') returning about"));
    expect(value).toEqual([{ about: 'a' }]);
    expect(await world.ledger.read('op1')).toMatchObject({ state: 'committed', attempt: 1, result: [{ about: 'a' }], at: '2026-03-02T08:30:00.000Z' });
    const failure = operate(world, 'op2', async (sql) => {
      await sql.query("insert into notes values ('gone', 'gone')");
      throw new ToolFailure('out_of_stock', 'None is left.', { retryAfterSeconds: 3 });
    });
    await expect(failure).rejects.toThrow(ToolFailure);
    expect(await world.ledger.read('op2')).toMatchObject({
      state: 'failed',
      problem: { code: 'out_of_stock', message: 'None is left.', retryAfterSeconds: 3 },
    });
    await expect(operate(world, 'op3', (sql) => sql.query('insert into nowhere values (1)'))).rejects.toMatchObject({ code: '42P01' });
    expect(await world.ledger.read('op3')).toMatchObject({ state: 'proposed' });
    expect((await rows(world)).map((effect) => effect.operation)).toEqual(['op1']);
    await world.release();
  });

  test('does not commit when its work swallowed a failed statement', async () => {
    const world = await shop.make();
    const work = operate(world, 'op1', async (sql) => {
      await sql.query("insert into notes values ('half', 'done')");
      await sql.query('select 1 / 0').catch(() => undefined);
      return null;
    });
    await expect(work).rejects.toMatchObject({ code: '25P02' });
    expect(await rows(world)).toEqual([]);
    await world.release();
  });

  test('commits once: a second dispatch of what has committed is refused, and one that was never proposed too', async () => {
    const world = await shop.make();
    await statements(world, 'op1', "insert into notes values ('once', 'x')");
    await expect(world.transact({ id: 'op1', attempt: 2 }, async () => ({ value: null, result: null }))).rejects.toMatchObject({ code: 'ledger' });
    await expect(world.transact({ id: 'nobody', attempt: 1 }, async () => ({ value: null, result: null }))).rejects.toMatchObject({ code: 'ledger' });
    await world.ledger.settle('op1', 3, { state: 'failed', durationMs: 1 });
    expect(await world.ledger.read('op1')).toMatchObject({ state: 'committed', attempt: 1 });
    await world.release();
  });

  test('sees values exactly and plainly', async () => {
    const world = await shop.make();
    const found = await operate(world, 'op1', (sql) =>
      sql.query(
        `select o.net, o.tax, o.reference, o.due, o.noted_at, o.status, c.joined_at, c.tags, c.preferences, r.scan, r.span, array[o.net] as nets, array[c.joined_at] as times, l.weight, count(*) over () as n
           from orders o join customers c on c.id = o.customer_id join receipts r on r.order_id = o.id join order_lines l on l.order_id = o.id and l.line = 1 where o.id = $1`,
        [1],
      ),
    );
    expect(found).toEqual([
      {
        net: '100.00',
        tax: '19.000',
        reference: '9007199254740993',
        due: '2026-03-01',
        noted_at: '2026-02-01T10:00:00',
        status: 'paid',
        joined_at: '2000-01-01T00:00:00Z',
        tags: ['vip', 'two words'],
        preferences: { lang: 'de' },
        scan: '\\x00ff',
        span: '1 day 02:00:00',
        nets: ['100.00'],
        times: ['2000-01-01T00:00:00Z'],
        weight: 2.5,
        n: '1',
      },
    ]);
    await world.release();
  });

  test('reads the world clock in SQL', async () => {
    const world = await shop.make();
    const [row] = await operate(world, 'op1', (sql) => sql.query('select world_now() as now'));
    expect(row).toEqual({ now: '2026-03-02T08:30:00Z' });
    expect(await world.clock()).toEqual({ now: new Date('2026-03-02T08:30:00Z'), timezone: 'Europe/Berlin' });
    await world.release();
  });
});

describe('seed and state', () => {
  test('a seed keeps the null rules of its files and moves sequences past its keys', async () => {
    const world = await shop.make();
    const found = await operate(world, 'op1', (sql) =>
      sql.query('select id, name, preferences, raw::text as raw, preferences is null as none from customers where id < 8 order by id'),
    );
    expect(found).toEqual([
      { id: 1, name: 'Anna Berg', preferences: { lang: 'de' }, raw: '{"b":1,"a":2.5}', none: false },
      { id: 2, name: 'Bo, the Younger', preferences: null, raw: null, none: true },
      { id: 7, name: '', preferences: null, raw: '[]', none: true },
    ]);
    const ids = await operate(world, 'op2', (sql) => sql.query("insert into customers (name, email) values ('New', 'new@example.org') returning id"));
    expect(ids).toEqual([{ id: 9 }]);
    await world.release();
  });

  test('state is there and is no effect', async () => {
    const world = await shop.make({
      state: [
        { insert: 'customers', rows: [{ id: 40, name: 'Dora', email: 'dora@example.org', tags: ['x'] }] },
        { update: 'orders', where: { id: 1 }, set: { status: 'sent', discount: null } },
        { delete: 'order_lines', where: { order_id: 1, line: 2 } },
      ],
    });
    expect((await world.observe()).effects).toEqual([]);
    const found = await operate(world, 'op1', (sql) =>
      sql.query(
        'select (select status from orders where id = 1) as status, (select joined_at from customers where id = 40) as joined, (select count(*) from order_lines) as lines',
      ),
    );
    expect(found).toEqual([{ status: 'sent', joined: '2026-03-02T08:30:00Z', lines: '2' }]);
    const ids = await operate(world, 'op2', (sql) => sql.query("insert into customers (name, email) values ('New', 'new@example.org') returning id"));
    expect(ids).toEqual([{ id: 41 }]);
    expect(await world.release()).toBe('pooled');
  });

  test.each([
    [{ insert: 'nowhere', rows: [{}] }, 'state[0]: there is no table nowhere'],
    [{ update: 'orders', where: { id: 1 }, set: { colour: 'red' } }, 'state[0]: table orders has no column colour'],
    [{ update: 'orders', where: { id: 404 }, set: { net: 1 } }, 'state[0]: no row of orders is like {"id":404}'],
    [{ delete: 'orders', where: {} }, 'state[0]: where names no column'],
    [{ update: 'orders', where: { id: 1 }, set: { status: 'lost' } }, 'state[0]: invalid input value for enum'],
  ])('a state that does not fit is refused and leaves no world: %j', async (change, message) => {
    const request = shop.lease(undefined, { state: [change] });
    await expect(shop.worlds.provision(shop.environment, request)).rejects.toThrow(message);
    const { rows: found } = await shop.admin.query('SELECT 1 FROM trialbed.worlds WHERE owner = $1', [request.owner]);
    expect(found).toEqual([]);
  });
});

/** Everything that the journal has to take back, in one operation. */
const UPHEAVAL = [
  'insert into orders (customer_id, net, tax) values (2, 1, 1)',
  'delete from customers where id = 1',
  "update customers set name = 'Renamed', id = 71 where id = 7",
  "insert into customers (name, email) values ('Eve', 'eve@example.org')",
  "update notes set body = 'changed'",
  'delete from notes where about is null',
  "insert into notes values ('stock', 'count it')",
  "update events set at = '2026-02-02' where id = 1",
  'delete from events where id = 2',
];

describe('reset, snapshot and restore', () => {
  test('a reused world is the same world, holding exactly its seed, sequences included', async () => {
    const first = await shop.make({ state: [{ update: 'orders', where: { id: 9 }, set: { tax: '4.0000' } }] });
    const fresh = await shop.make();
    await statements(first, 'op1', ...UPHEAVAL);
    expect(await first.release()).toBe('pooled');
    expect(await dump(shop.admin, schemaOf(first))).toEqual(await dump(shop.admin, schemaOf(fresh)));
    const again = await shop.make();
    expect(again.ref.id).toBe(first.ref.id);
    expect(again.ref.epoch).toBeGreaterThan(first.ref.epoch);
    expect(await again.observe()).toMatchObject({ effects: [], lateAttempts: [] });
    expect(await again.ledger.all()).toEqual([]);
    expect(await again.credentials()).not.toEqual(await first.credentials());
    await expect(first.observe()).rejects.toMatchObject({ code: 'world_gone' });
    await again.release();
    await fresh.release();
  });

  test('a world that was changed behind the journal is dropped, not reused', async () => {
    const world = await shop.make();
    await statements(world, 'op1', "update customers set name = 'x' where id = 2");
    await shop.admin.query(
      `BEGIN; SET LOCAL search_path = "${schemaOf(world)}"; SET LOCAL session_replication_role = 'replica'; DELETE FROM customers WHERE id = 2; COMMIT;`,
    );
    expect(await shop.worlds.unlike('')).toBe(0);
    expect(await world.release()).toBe('dropped');
    // Reports of its batch count it.
    expect(await shop.worlds.unlike('')).toBe(1);
    expect(await shop.worlds.unlike('no owner of ours')).toBe(0);
    expect(shop.logged.some((line) => line.includes('a world is dropped instead of reused') && line.includes(world.ref.id))).toBe(true);
    const { rows: left } = await shop.admin.query('SELECT 1 FROM pg_namespace WHERE nspname LIKE $1 UNION ALL SELECT 1 FROM pg_roles WHERE rolname = $2', [
      `w_${world.ref.id}%`,
      `w_${world.ref.id}`,
    ]);
    expect(left).toEqual([]);
  });

  test.each([
    ['a row that nobody touched since, at the full check', "INSERT INTO notes VALUES ('planted', 'x')", 99],
    ['an index', 'CREATE INDEX planted ON notes (body)', 0],
    ['a trigger switched off', 'ALTER TABLE orders DISABLE TRIGGER a_note', 0],
    ['a privilege', 'GRANT TRUNCATE ON notes TO PUBLIC', 0],
    ['a sequence', 'ALTER SEQUENCE orders_id_seq INCREMENT 2', 0],
  ])('and so is one with %s', async (_what, sql, resets) => {
    const world = await shop.make();
    await statements(world, 'op1', "update customers set name = 'x' where id = 2");
    await shop.admin.query('UPDATE trialbed.worlds SET resets = $2 WHERE id = $1', [world.ref.id, resets]);
    await shop.admin.query(`BEGIN; SET LOCAL search_path = "${schemaOf(world)}"; SET LOCAL session_replication_role = 'replica'; ${sql}; COMMIT;`);
    expect(await world.release()).toBe('dropped');
  });

  test('a row whose JSON null no image can tell from a NULL is not taken for restored', async () => {
    const world = await shop.make();
    await statements(world, 'op1', "update customers set name = 'x' where id = 8");
    expect(await world.release()).toBe('dropped');
  });

  test('a snapshot makes the world again: rows, sequences, effects, ledger and mails', async () => {
    const world = await shop.make({ state: [{ update: 'orders', where: { id: 9 }, set: { tax: '4.0000' } }] });
    await statements(world, 'op1', ...UPHEAVAL);
    await statements(world, 'op2', 'update orders set reference = 9007199254740995 where id = 9');
    const { toolSecret } = await world.credentials();
    const session = await shop.worlds.authenticate(world.ref.id, toolSecret);
    await session?.storeMail({
      accepted: true,
      from: 'a@example.org',
      recipients: [{ address: 'b@example.org', code: 250 }],
      subject: 'hello',
      text: 'text',
      headers: { 'x-a': '1' },
      messageId: null,
      attachments: [],
      violations: [],
      operation: 'op2',
      attempt: 1,
      raw: Buffer.from([0, 255, 13, 10]),
    });
    const snapshot = JSON.parse(JSON.stringify(await world.snapshot())) as Awaited<ReturnType<World['snapshot']>>;
    expect(snapshot.rawMails).toEqual([{ seq: expect.any(Number), raw: 'AP8NCg==' }]);
    const before = await dump(shop.admin, schemaOf(world));
    const observed = await world.observe();
    const ledger = await world.ledger.all();
    const again = await shop.worlds.open(await shop.worlds.restore(shop.environment, snapshot, shop.lease()));
    expect(again.ref.id).not.toBe(world.ref.id);
    expect(await dump(shop.admin, schemaOf(again))).toEqual(before);
    const restored = await again.observe();
    const plain = (effects: typeof restored.effects) => effects.map(({ seq: _seq, ...effect }) => effect);
    expect(plain(restored.effects)).toEqual(plain(observed.effects));
    expect(await again.ledger.all()).toEqual(ledger);
    expect(await again.clock()).toEqual(await world.clock());
    // What was restored is undone like anything else.
    expect(await again.release()).toBe('pooled');
    const fresh = await shop.make();
    expect(fresh.ref.id).toBe(again.ref.id);
    await fresh.release();
    await world.release();
  });

  test('a snapshot of another generation is refused', async () => {
    const world = await shop.make();
    const snapshot = { ...(await world.snapshot()), generation: 'f'.repeat(64) };
    await expect(shop.worlds.restore(shop.environment, snapshot, shop.lease())).rejects.toMatchObject({ code: 'restore' });
    await world.release();
  });
});
