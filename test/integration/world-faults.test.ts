import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { DrawnRule, Fault, FaultKind } from '../../src/domain/fault.ts';
import type { WorldSql } from '../../src/environments/define.ts';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { FencedError, type World } from '../../src/environments/world.ts';
import { NoScheduleError, WorldStateError } from '../../src/environments/worlds/errors.ts';
import { dump, openShop, operate, type Shop, sqlStateOf, statements } from '../fixtures/packs/shop/kit.ts';

const { postgresUrl } = inject('services');
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(postgresUrl, 'world-faults');
});
afterAll(() => shop[Symbol.asyncDispose]());

const rule = (index: number, fault: Fault, on: DrawnRule['on'] = { tool: 'add_note' }): DrawnRule => ({ index, on, fault });
const STALE: Fault = { kind: 'stale_read', asOf: 'trigger' };
const scheduled = (...rules: DrawnRule[]) => shop.make({ faults: rules.length > 0 ? rules : [rule(0, STALE)] });
const now = async (world: World) => (await world.clock()).now.toISOString();

/** All rows as a tool sees them. */
async function rowsOf(sql: WorldSql): Promise<{ readonly [table: string]: readonly string[] }> {
  const found: Record<string, readonly string[]> = {};
  for (const table of ['customers', 'orders', 'order_lines', 'receipts', 'notes', 'audit', 'events', 'open_orders'])
    found[table] = (await sql.query<{ row: string }>(`select t::text as row from ${table} t order by 1`)).map(({ row }) => row);
  return found;
}

describe('what is recorded', () => {
  test('once for each rule, operation and position, in order, with the time of the world', async () => {
    const world = await scheduled();
    const fault = { rule: 0, kind: 'unavailable', on: 'add_note', position: 1, operation: 'op1', detail: 'refused' } as const;
    await world.faults.record(fault);
    await world.faults.advance('a', { seconds: 90 });
    await world.faults.record({ ...fault, position: 2, operation: 'op2' });
    await world.faults.record({ ...fault, detail: 'again' });
    await world.faults.record({ ...fault, on: 'start', position: null, operation: null });
    expect(await world.faults.injected()).toEqual([
      { ...fault, at: '2026-03-02T08:30:00.000Z' },
      { ...fault, position: 2, operation: 'op2', at: '2026-03-02T08:31:30.000Z' },
      { ...fault, on: 'start', position: null, operation: null, at: '2026-03-02T08:31:30.000Z' },
    ]);
    expect(await world.faults.hit('op1')).toBe(false);
    await world.release();
  });

  test('a world without a schedule has nothing injected, and its clock alone moves', async () => {
    const world = await shop.make();
    expect(await world.faults.injected()).toEqual([]);
    expect(await world.faults.frozen('database', 'op1')).toBe(null);
    expect(await world.faults.limitedUntil('add_note')).toBe(null);
    await expect(world.faults.limit('add_note', new Date())).rejects.toThrow(NoScheduleError);
    await expect(world.faults.freeze(0, { service: 'all', asOf: 'trigger', reads: null, forSeconds: null })).rejects.toThrow(NoScheduleError);
    expect((await world.faults.advance('wait', { seconds: 7200 })).toISOString()).toBe('2026-03-02T10:30:00.000Z');
    await world.release();
  });

  test('nor does it cost a query to find out', async () => {
    const world = await shop.make();
    const session = await shop.worlds.authenticate(world.ref.id, (await world.credentials()).toolSecret);
    const query = vi.spyOn(pg.Client.prototype, 'query');
    const request = { service: 'inbox', operation: null, what: 'mail', reads: false, phase: 'whole', confirms: new Set<FaultKind>() } as const;
    const answers = [
      await session?.fault(request),
      await world.faults.frozen('database', 'op1'),
      await world.faults.limitedUntil('add_note'),
      await world.faults.hit('op1'),
      await world.faults.injected(),
    ];
    const queries = query.mock.calls.length;
    query.mockRestore();
    expect([answers, queries]).toEqual([[null, null, null, false, []], 0]);
    await world.release();
  });
});

describe("the world's clock", () => {
  test('moves once for each key, never back, whoever asks at the same time; a limit ends by it', async () => {
    const world = await scheduled();
    const answers = await Promise.all(Array.from({ length: 6 }, () => world.faults.advance('wait 1', { seconds: 10 })));
    expect(new Set(answers.map((at) => at.toISOString()))).toEqual(new Set(['2026-03-02T08:30:10.000Z']));
    expect((await world.faults.advance('back', { to: new Date('2026-03-01T00:00:00Z') })).toISOString()).toBe('2026-03-02T08:30:10.000Z');
    expect((await world.faults.advance('minus', { seconds: -5 })).toISOString()).toBe('2026-03-02T08:30:10.000Z');
    const until = new Date('2026-03-02T08:31:00Z');
    await world.faults.limit('add_note', until);
    expect(await world.faults.limitedUntil('add_note')).toEqual(until);
    expect(await world.faults.limitedUntil('other')).toBe(null);
    await world.faults.advance('wait 2', { to: until });
    expect(await world.faults.limitedUntil('add_note')).toBe(null);
    // Asked again, a key tells its own time.
    expect((await world.faults.advance('wait 1', { seconds: 10 })).toISOString()).toBe('2026-03-02T08:30:10.000Z');
    expect(await now(world)).toBe('2026-03-02T08:31:00.000Z');
    await statements(world, 'op1', "insert into notes values ('later', 'x')");
    expect((await world.observe()).effects).toMatchObject([{ at: '2026-03-02T08:31:00.000Z' }]);
    await world.release();
    const next = await shop.make();
    expect(await now(next)).toBe('2026-03-02T08:30:00.000Z');
    await next.release();
  });
});

describe("changes by somebody else's hand", () => {
  const price = [{ update: 'orders', where: { id: 1 }, set: { net: '99.00' } }] as const;

  test('are effects of the fault, in order, once for each cause; a reset takes them back', async () => {
    const before = await shop.make();
    const seed = await dump(shop.admin, `w_${before.ref.id}`);
    await before.release();
    const world = await scheduled();
    expect(world.ref.id).toBe(before.ref.id);
    await statements(world, 'op1', "insert into notes values ('first', 'x')");
    await Promise.all([1, 2, 3].map(() => world.faults.change({ rule: 0, operation: 'op2' }, price)));
    await world.faults.change({ rule: 0, operation: 'op3' }, [{ insert: 'notes', rows: [{ about: 'theirs', body: 'y' }] }]);
    await statements(world, 'op2', "update orders set status = 'sent' where id = 1");
    const rows = (await world.observe()).effects.filter((effect) => effect.kind === 'row');
    expect(rows.map(({ table, change, operation, byFault }) => `${table} ${change} ${operation} ${byFault}`)).toEqual([
      'notes insert op1 undefined',
      'orders update null 0',
      'audit insert null 0',
      'notes insert null 0',
      'orders update op2 undefined',
      'audit insert op2 undefined',
    ]);
    expect(rows.find(({ table, operation }) => table === 'orders' && operation === 'op2')?.before).toMatchObject({ net: 99 });
    expect(await world.ledger.recover('op2', 1)).toMatchObject({ effects: 2 });
    await world.faults.record({ rule: 0, kind: 'concurrent_change', on: 'add_note', position: 1, operation: 'op2', detail: 'x' });
    await world.faults.limit('add_note', new Date('2027-01-01T00:00:00Z'));
    await world.faults.arm('op9', [{ rule: 0, position: 1 }]);
    await world.faults.freeze(0, { service: 'all', asOf: 'start', reads: 1, forSeconds: null });
    await world.faults.frozen('database', 'op2');
    expect(await world.release()).toBe('pooled');
    const next = await scheduled();
    expect(next.ref.id).toBe(world.ref.id);
    expect(await dump(shop.admin, `w_${next.ref.id}`)).toEqual(seed);
    expect(await next.faults.injected()).toEqual([]);
    expect(await next.faults.limitedUntil('add_note')).toBe(null);
    expect(await next.faults.frozen('database', 'op2')).toBe(null);
    await expect(world.faults.record({ rule: 0, kind: 'slow', on: 'x', position: 1, operation: null, detail: '' })).rejects.toMatchObject({
      code: 'world_gone',
    });
    await expect(world.faults.advance('late', { seconds: 1 })).rejects.toMatchObject({ code: 'world_gone' });
    await next.release();
  });

  test('that do not fit are refused, and none comes after the fence', async () => {
    const world = await scheduled();
    await expect(world.faults.change({ rule: 0, operation: null }, [{ update: 'orders', where: { id: 12345 }, set: { net: 1 } }])).rejects.toThrow(
      WorldStateError,
    );
    await world.fence({ drainMs: 100 });
    await expect(world.faults.change({ rule: 0, operation: null }, price)).rejects.toThrow(FencedError);
    expect((await world.observe()).effects).toEqual([]);
    await world.release();
  });
});

describe('stale reads', () => {
  /** Every kind of change that the journal knows. (Row 8 stays: its JSON null looks like a NULL in the journal.) */
  const CHANGES: readonly (readonly string[])[] = [
    ["insert into customers (name, email) values ('New', 'new@example.org')"],
    ["update orders set net = net + 1, status = 'paid'", "insert into notes values ('a', 'x'), ('a', 'x')"],
    ['update customers set id = id + 500 where id > 8 and id not in (select customer_id from orders)', 'update order_lines set line = line + 40'],
    ["delete from notes where ctid = (select max(ctid) from notes where about = 'a')", "insert into events values (77, '2025-05-05', 'moved')"],
    ["update events set at = '2026-05-05' where id = 77", "update customers set email = 'swap' where email = 'new@example.org'"],
    ["insert into customers (name, email) values ('Other', 'new@example.org')"],
    ['delete from customers where id = (select min(id) from customers)'],
    ["insert into notes values (null, null), ('é \"q\" \\ ', E'line\\nbreak')", 'update orders set discount = null, due = null'],
  ];

  test('at every moment of the journal all tables answer as they did then, and nothing stays', async () => {
    const world = await scheduled();
    const moments: { seq: number; rows: Awaited<ReturnType<typeof rowsOf>> }[] = [];
    const moment = async (n: number) => {
      const seq = Math.max(0, ...(await world.observe()).effects.map((effect) => effect.seq));
      moments.push({ seq, rows: await operate(world, `read${n}`, rowsOf) });
    };
    await moment(0);
    for (const [n, texts] of CHANGES.entries()) {
      await statements(world, `op${n}`, ...texts);
      if (n === 3) await world.faults.change({ rule: 0, operation: null }, [{ update: 'customers', where: { id: 2 }, set: { name: 'Theirs' } }]);
      await moment(n + 1);
    }
    const before = await dump(shop.admin, `w_${world.ref.id}`);
    for (const { seq, rows } of moments) expect(await world.faults.readAsOf(seq, rowsOf), `as of ${seq}`).toEqual(rows);
    expect(await dump(shop.admin, `w_${world.ref.id}`)).toEqual(before);
    expect(new Set(moments.map(({ rows }) => JSON.stringify(rows))).size).toBe(moments.length);
    expect(await world.release()).toBe('pooled');
  });

  test('cannot write, move a sequence, or be committed', async () => {
    const world = await scheduled();
    await statements(world, 'op1', 'update orders set net = 5 where id = 1');
    for (const text of [
      "insert into notes values ('x', 'y')",
      "select nextval('orders_id_seq')",
      'delete from orders',
      "select set_config('role', 'none', true), pg_sleep(0) from customers for update",
    ])
      expect(await sqlStateOf(world.faults.readAsOf(0, (sql) => sql.query(text))), text).toBe('25006');
    const client = await shop.admin.connect();
    await client.query('BEGIN');
    await client.query(`SELECT w_${world.ref.id}_sys.rewind(0, $1)`, [world.ref.epoch]);
    expect(await sqlStateOf(client.query('COMMIT'))).toBe('TB007');
    client.release();
    expect((await world.observe()).effects.filter((effect) => effect.kind === 'row' && effect.table === 'orders')).toHaveLength(1);
    expect(await world.release()).toBe('pooled');
  });

  test('let writers in flight through: every writer commits, every reader sees the same', async () => {
    const world = await scheduled();
    await statements(world, 'op0', 'update orders set net = 7', "insert into notes values ('seen', 'x')");
    const seq = Math.max(...(await world.observe()).effects.map((effect) => effect.seq));
    const then = await operate(world, 'then', rowsOf);
    await statements(world, 'op1', 'update orders set net = 8');
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let held = () => {};
    const holds = new Promise<void>((resolve) => {
      held = resolve;
    });
    // Holds rows in the order in which no reader takes them.
    const writer = operate(world, 'slow', async (sql) => {
      await sql.query('update orders set net = 9 where id = (select max(id) from orders)');
      held();
      await gate;
      await sql.query('update orders set net = 10 where id = (select min(id) from orders)');
      return null;
    });
    await holds;
    const waiting = world.faults.readAsOf(seq, rowsOf);
    const first = await Promise.race([waiting.then(() => 'read'), new Promise((resolve) => setTimeout(() => resolve('waiting'), 200))]);
    expect(first).toBe('waiting');
    go();
    await writer;
    expect(await waiting).toEqual(then);
    const writers = Array.from({ length: 6 }, (_, n) =>
      operate(world, `writer${n}`, async (sql) => {
        const order = n % 2 === 0 ? 'asc' : 'desc';
        await sql.query(`update orders set net = ${n} where id in (select id from orders order by id ${order} for update)`);
        await sql.query('insert into notes values ($1, $1)', [`note ${n}`]);
        return null;
      }).then(
        () => 'committed',
        (error: unknown) => (error as { code?: string }).code,
      ),
    );
    const readers = Array.from({ length: 4 }, () => world.faults.readAsOf(seq, rowsOf));
    for (const rows of await Promise.all(readers)) expect(rows).toEqual(then);
    // Writers may refuse each other, as they would without readers.
    expect((await Promise.all(writers)).filter((end) => end !== 'committed' && end !== '40P01')).toEqual([]);
    expect(await world.release()).toBe('pooled');
  });

  test('take back what a session of the agent wrote, and do not concern that session', async () => {
    const world = await shop.make({ isolation: 'database', faults: [rule(0, STALE)] });
    const { agentSecret } = await world.credentials();
    const agent = new pg.Client({ connectionString: withDatabase(postgresUrl, `w_${world.ref.id}`, { user: `w_${world.ref.id}`, password: agentSecret }) });
    agent.on('error', () => undefined);
    await agent.connect();
    await world.faults.freeze(0, { service: 'all', asOf: 'trigger', reads: null, forSeconds: null });
    await agent.query("BEGIN; INSERT INTO notes VALUES ('own', 'x'); UPDATE orders SET net = 1; COMMIT");
    const frozen = await world.faults.frozen('database', 'r1');
    const [stale, fresh] = await Promise.all([
      world.faults.readAsOf(frozen?.seq ?? -1, (sql) => sql.query("select 1 from notes where about = 'own' union all select 1 from orders where net = 1")),
      agent.query("SELECT 1 FROM notes WHERE about = 'own'"),
    ]);
    expect([stale.length, fresh.rowCount]).toEqual([0, 1]);
    await agent.end();
    expect(await world.release()).toBe('dropped');
  });

  test('a freeze holds for so many operations, or for so long by the clock, from its trigger or from the start', async () => {
    const world = await scheduled(rule(0, STALE), rule(1, STALE), rule(2, STALE), rule(3, { kind: 'conflicting_records', changes: [] }, 'start'));
    await world.faults.change({ rule: 3, operation: null }, [{ insert: 'notes', rows: [{ about: 'conflict', body: 'x' }] }]);
    await statements(world, 'op1', "insert into notes values ('one', 'x')");
    await world.faults.freeze(0, { service: 'database', asOf: 'trigger', reads: 2, forSeconds: null });
    await statements(world, 'op2', "insert into notes values ('two', 'x')");
    // The same trigger again changes nothing.
    await world.faults.freeze(0, { service: 'database', asOf: 'trigger', reads: 2, forSeconds: null });
    const read = async (operation: string | null, service: 'database' | 'tickets' = 'database') => {
      const frozen = await world.faults.frozen(service, operation);
      if (!frozen) return null;
      return (await world.faults.readAsOf(frozen.seq, (sql) => sql.query("select about from notes where body = 'x' order by 1"))).map((row) => row.about);
    };
    expect(await read('r1')).toEqual(['conflict', 'one']);
    expect(await read('r1', 'tickets')).toBe(null);
    expect(await read('r1')).toEqual(['conflict', 'one']);
    expect(await read('r2')).toEqual(['conflict', 'one']);
    expect(await read('r3')).toBe(null);
    expect(await read('r1')).toEqual(['conflict', 'one']);
    await world.faults.freeze(1, { service: 'tickets', asOf: 'start', reads: null, forSeconds: 60 });
    expect(await read('r4', 'tickets')).toEqual(['conflict']);
    await world.faults.advance('wait', { seconds: 60 });
    expect(await read('r5', 'tickets')).toBe(null);
    await world.faults.freeze(2, { service: 'all', asOf: 'trigger', reads: 1, forSeconds: null });
    const both = await Promise.all(['a', 'b', 'c'].map((operation) => world.faults.frozen('tickets', operation)));
    expect(both.filter((frozen) => frozen !== null)).toHaveLength(1);
    await world.release();
  });

  test("a rule on the database counts tools' reads", async () => {
    const world = await scheduled({ ...rule(0, { kind: 'stale_read', asOf: 'trigger', reads: 1 }, { service: 'database' }), calls: { from: 2, to: 2 } });
    expect(await world.faults.frozen('database', 'r1')).toBe(null);
    expect(await world.faults.frozen('database', 'r1')).toBe(null);
    expect(await world.faults.frozen('database', 'r2')).toMatchObject({ rule: 0 });
    expect(await world.faults.frozen('database', 'r3')).toBe(null);
    expect(await world.faults.injected()).toMatchObject([{ on: 'service database', position: 2, operation: 'r2' }]);
    await world.release();
  });
});

test('a snapshot keeps what the schedule has done, and the world made from it goes on from there', async () => {
  const rules = [rule(0, STALE), rule(1, STALE)];
  const world = await shop.make({ faults: rules, state: [{ insert: 'notes', rows: [{ about: 'state', body: 'x' }] }] });
  await statements(world, 'op1', "insert into notes values ('one', 'x')");
  await world.faults.change({ rule: 1, operation: 'op1' }, [{ update: 'customers', where: { id: 2 }, set: { name: 'Theirs' } }]);
  await world.faults.freeze(0, { service: 'all', asOf: 'trigger', reads: null, forSeconds: null });
  await statements(world, 'op2', "insert into notes values ('two', 'x')");
  await world.faults.advance('wait', { seconds: 30 });
  await world.faults.limit('add_note', new Date('2026-03-02T09:00:00Z'));
  await world.faults.record({ rule: 0, kind: 'stale_read', on: 'add_note', position: 1, operation: 'op1', detail: 'frozen' });
  const snapshot = JSON.parse(JSON.stringify(await world.snapshot()));
  const again = await shop.worlds.open(await shop.worlds.restore(shop.environment, snapshot, shop.lease(undefined, { faults: rules })));
  const view = async (of: World) => {
    const frozen = await of.faults.frozen('database', 'r1');
    return {
      effects: (await of.observe()).effects.map(({ seq: _, ...effect }) => effect),
      injected: await of.faults.injected(),
      limit: await of.faults.limitedUntil('add_note'),
      now: await now(of),
      stale: await of.faults.readAsOf(frozen?.seq ?? -1, rowsOf),
    };
  };
  expect(await view(again)).toEqual(await view(world));
  expect((await view(again)).stale.notes).toContainEqual('(one,x)');
  expect((await view(again)).stale.notes).not.toContainEqual('(two,x)');
  // Neither the clock nor rows move twice for one key.
  await again.faults.advance('wait', { seconds: 30 });
  await again.faults.change({ rule: 1, operation: 'op1' }, [{ update: 'customers', where: { id: 2 }, set: { name: 'Twice' } }]);
  await again.faults.record({ rule: 0, kind: 'stale_read', on: 'add_note', position: 2, operation: 'op2', detail: 'again' });
  expect(await now(again)).toBe(await now(world));
  expect((await again.observe()).effects).toHaveLength((await world.observe()).effects.length);
  expect(await again.faults.injected()).toHaveLength(2);
  await Promise.all([world.release(), again.release()]);
});
