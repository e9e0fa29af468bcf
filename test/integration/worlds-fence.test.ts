import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { FencedError, type World } from '../../src/environments/world.ts';
import { openShop, operate, type Shop, sqlStateOf, statements } from '../fixtures/packs/shop/kit.ts';

const { postgresUrl } = inject('services');
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(postgresUrl, 'fence');
});
afterAll(() => shop[Symbol.asyncDispose]());

const propose = (world: World, id: string) => world.ledger.propose({ id, tool: 'add_note', args: {}, idempotencyKey: null, refusal: null });

/** An operation that writes and then waits until it is let go, as a worker does that hangs. */
function hold(world: World, id: string): { readonly written: Promise<void>; readonly go: () => void; readonly ended: Promise<unknown> } {
  let wrote = () => {};
  let go = () => {};
  const written = new Promise<void>((resolve) => {
    wrote = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const ended = propose(world, id)
    .then(() =>
      world.transact({ id, attempt: 1 }, async (sql) => {
        await sql.query("insert into notes values ($1, 'held')", [id]);
        wrote();
        await gate;
        return { value: null, result: null };
      }),
    )
    .then(
      () => 'committed',
      (error: unknown) => error,
    );
  return { written, go: () => go(), ended };
}

/** Waits until a condition of the database holds. */
async function until(sql: string, values: readonly unknown[]): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { rows } = await shop.admin.query<{ yes: boolean }>(`SELECT (${sql}) AS yes`, [...values]);
    if (rows[0]?.yes) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`never became true: ${sql}`);
}

async function agentOf(world: World): Promise<pg.Client> {
  const { agentSecret } = await world.credentials();
  const client = new pg.Client({ connectionString: withDatabase(postgresUrl, `w_${world.ref.id}`, { user: `w_${world.ref.id}`, password: agentSecret }) });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const mail = (operation: string | null, attempt = 1) => ({
  accepted: true,
  from: 'a@example.org',
  recipients: [{ address: 'b@example.org', code: 250 }],
  subject: 'hello',
  text: '',
  headers: {},
  messageId: null,
  attachments: [],
  violations: [],
  operation,
  attempt,
  raw: Buffer.from('raw'),
});

describe('the fence', () => {
  test('refuses what comes later and lists it, and is idempotent', async () => {
    const world = await shop.make();
    await statements(world, 'op1', "insert into notes values ('before', 'x')");
    const { epoch } = await world.fence({ drainMs: 100 });
    expect(epoch).toBe(world.ref.epoch + 1);
    expect(await world.fence({ drainMs: 100 })).toEqual({ epoch });
    await expect(statements(world, 'op2', "insert into notes values ('after', 'x')")).rejects.toThrow(FencedError);
    const { effects, lateAttempts } = await world.observe();
    expect(effects).toHaveLength(1);
    expect(lateAttempts).toMatchObject([{ source: 'sql', operation: 'op2' }]);
    expect(await world.ledger.read('op2')).toMatchObject({ state: 'proposed' });
    await world.release();
  });

  test('waits for a writer that commits in time', async () => {
    const world = await shop.make();
    const writer = hold(world, 'op1');
    await writer.written;
    const fenced = world.fence({ drainMs: 60_000 });
    await until(`(SELECT closing FROM w_${world.ref.id}_sys.door)`, []);
    // The door is shut already while it waits.
    await expect(statements(world, 'op2', "insert into notes values ('new', 'x')")).rejects.toThrow(FencedError);
    writer.go();
    expect(await writer.ended).toBe('committed');
    await fenced;
    expect((await world.observe()).effects).toMatchObject([{ operation: 'op1' }]);
    await world.release();
  });

  test('ends a writer that holds on: nothing of it is committed, before or behind the fence', async () => {
    const world = await shop.make();
    const writer = hold(world, 'op1');
    await writer.written;
    await world.fence({ drainMs: 50 });
    writer.go();
    expect(await writer.ended).toBeInstanceOf(FencedError);
    const { effects, lateAttempts } = await world.observe();
    expect(effects).toEqual([]);
    expect(lateAttempts).toMatchObject([{ source: 'sql', operation: 'op1' }]);
    expect(await world.ledger.recover('op1', 1)).toMatchObject({ row: { state: 'proposed' }, effects: 0 });
    await world.release();
  });

  test('ends several that hold on, and lists each', async () => {
    const world = await shop.make();
    const writers = ['op1', 'op2', 'op3'].map((id) => hold(world, id));
    await Promise.all(writers.map((writer) => writer.written));
    await world.fence({ drainMs: 20 });
    for (const writer of writers) writer.go();
    for (const writer of writers) expect(await writer.ended).toBeInstanceOf(FencedError);
    const { effects, lateAttempts } = await world.observe();
    expect(effects).toEqual([]);
    expect(lateAttempts.map(({ operation }) => operation).sort()).toEqual(['op1', 'op2', 'op3']);
    await world.release();
  });

  test('ends the logins of an agent, in the middle of a transaction too, and voids its password', async () => {
    const world = await shop.make({ isolation: 'database' });
    const [idle, holding] = await Promise.all([agentOf(world), agentOf(world)]);
    await idle.query("INSERT INTO notes VALUES ('kept', 'x')");
    await holding.query('BEGIN');
    await holding.query("INSERT INTO notes VALUES ('held', 'x')");
    await world.fence({ drainMs: 50 });
    expect(await sqlStateOf(holding.query('COMMIT'))).not.toBe(null);
    expect(await sqlStateOf(idle.query("INSERT INTO notes VALUES ('late', 'x')"))).not.toBe(null);
    await expect(agentOf(world)).rejects.toMatchObject({ code: expect.stringMatching(/^28/) });
    expect((await world.observe()).effects).toMatchObject([{ after: { about: 'kept' } }]);
    await world.release();
  });

  test('refuses mail and service writes afterwards and lists them; a tool may still look', async () => {
    const world = await shop.make();
    const { toolSecret, agentSecret } = await world.credentials();
    const tool = await shop.worlds.authenticate(world.ref.id, toolSecret);
    const agent = await shop.worlds.authenticate(world.ref.id, agentSecret);
    await propose(world, 'op1');
    await tool?.storeMail(mail('op1'));
    await agent?.storeMail(mail('op-forged'));
    await tool?.transact({ id: 'op1', attempt: 1 }, (sql) => sql.query("insert into notes values ('service', 'x')"));
    await agent?.transact({ id: 'op-forged', attempt: 1 }, (sql) => sql.query("insert into notes values ('own', 'x')"));
    await world.fence({ drainMs: 50 });
    // A session from before, and one that logs in with what it knows.
    await expect(agent?.storeMail(mail(null))).rejects.toThrow(FencedError);
    const again = await shop.worlds.authenticate(world.ref.id, agentSecret);
    await expect(again?.storeMail(mail(null))).rejects.toThrow(FencedError);
    await expect(again?.transact(null, (sql) => sql.query('select 1'))).rejects.toThrow(FencedError);
    await expect(tool?.transact({ id: 'op1', attempt: 1 }, (sql) => sql.query("insert into notes values ('late', 'x')"))).rejects.toThrow(FencedError);
    expect(await tool?.transact({ id: 'op1', attempt: 1 }, (sql) => sql.query("select about from notes where about = 'service'"))).toEqual([
      { about: 'service' },
    ]);
    const { effects, lateAttempts } = await world.observe();
    expect(effects.map((effect) => `${effect.kind} ${effect.operation}`)).toEqual(['mail op1', 'mail null', 'row op1', 'row null']);
    expect(effects[0]).toMatchObject({ seq: 1, accepted: true, subject: 'hello', at: '2026-03-02T08:30:00.000Z' });
    expect(lateAttempts.map((late) => `${late.source} ${late.operation}`)).toEqual(['smtp null', 'smtp null', 'tickets null', 'tickets op1']);
    await world.release();
    expect(await shop.worlds.authenticate(world.ref.id, toolSecret)).toBe(null);
  });

  test('a world given to another owner is closed to whoever had it before', async () => {
    const before = await shop.make();
    const { toolSecret } = await before.credentials();
    const session = await shop.worlds.authenticate(before.ref.id, toolSecret);
    await propose(before, 'op1');
    await before.release();
    const after = await shop.make();
    expect(after.ref.id).toBe(before.ref.id);
    await propose(after, 'op1');
    await expect(before.transact({ id: 'op1', attempt: 1 }, async () => ({ value: null, result: null }))).rejects.toThrow(FencedError);
    await expect(before.ledger.propose({ id: 'op9', tool: 'x', args: {}, idempotencyKey: null, refusal: null })).rejects.toMatchObject({ code: 'world_gone' });
    expect(await before.ledger.read('op1')).toBe(null);
    await before.ledger.settle('op1', 5, { state: 'failed', durationMs: 0 });
    await expect(session?.storeMail(mail('op1'))).rejects.toThrow(FencedError);
    await expect(session?.transact(null, (sql) => sql.query('select * from customers'))).rejects.toThrow(FencedError);
    expect(await before.release()).toBe('dropped');
    expect(await after.observe()).toMatchObject({ effects: [], lateAttempts: [] });
    expect(await after.ledger.read('op1')).toMatchObject({ state: 'proposed' });
    await after.release();
  });
});

describe('recovery of an operation', () => {
  test('waits for an attempt that is just committing, then tells that it did', async () => {
    const world = await shop.make();
    const writer = hold(world, 'op1');
    await writer.written;
    const recovered = world.ledger.recover('op1', 1);
    // It cannot end before the writer does: the row that it locks is held.
    const first = await Promise.race([recovered.then(() => 'recovered'), new Promise((resolve) => setTimeout(() => resolve('waiting'), 200))]);
    expect(first).toBe('waiting');
    writer.go();
    expect(await writer.ended).toBe('committed');
    expect(await recovered).toMatchObject({ row: { state: 'committed' }, effects: 1 });
    await world.release();
  });

  test('fences an attempt that never came, and lets the next one through', async () => {
    const world = await shop.make();
    await propose(world, 'op1');
    expect(await world.ledger.recover('op1', 1)).toMatchObject({ row: { state: 'proposed' }, effects: 0 });
    const write = async (attempt: number) =>
      world.transact({ id: 'op1', attempt }, async (sql) => ({ value: await sql.query("insert into notes values ('once', 'x')"), result: null }));
    await expect(write(1)).rejects.toThrow(FencedError);
    const { toolSecret } = await world.credentials();
    const session = await shop.worlds.authenticate(world.ref.id, toolSecret);
    await expect(session?.storeMail(mail('op1', 1))).rejects.toThrow(FencedError);
    await write(2);
    await session?.storeMail(mail('op1', 2));
    expect(await world.ledger.recover('op1', 2)).toMatchObject({ row: { state: 'committed', attempt: 2 }, effects: 2 });
    expect((await world.observe()).lateAttempts).toMatchObject([
      { source: 'sql', operation: 'op1' },
      { source: 'smtp', operation: 'op1' },
    ]);
    await world.release();
  });

  test('ends an attempt that holds on for too long', async () => {
    const world = await shop.make();
    const writer = hold(world, 'op1');
    await writer.written;
    expect(await world.ledger.recover('op1', 1)).toMatchObject({ row: { state: 'proposed' }, effects: 0 });
    writer.go();
    expect(await writer.ended).toBeInstanceOf(Error);
    expect((await world.observe()).effects).toEqual([]);
    await world.release();
  });

  test('a connection that is lost in the middle leaves nothing behind, and the pool goes on', async () => {
    const world = await shop.make();
    const writer = hold(world, 'op1');
    await writer.written;
    await shop.admin.query("SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.relation = $1::regclass AND l.mode = 'RowShareLock'", [
      `w_${world.ref.id}_sys.fence`,
    ]);
    writer.go();
    const lost = await writer.ended;
    expect(lost).toBeInstanceOf(Error);
    expect(lost).not.toBeInstanceOf(FencedError);
    expect(await world.ledger.recover('op1', 1)).toMatchObject({ row: { state: 'proposed' }, effects: 0 });
    await operate(world, 'op2', (sql) => sql.query("insert into notes values ('fine', 'x')"));
    expect((await world.observe()).effects).toMatchObject([{ operation: 'op2' }]);
    expect(await world.release()).toBe('pooled');
  });
});
