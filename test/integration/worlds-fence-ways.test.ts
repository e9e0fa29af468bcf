import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { startInbox } from '../../src/environments/inbox/inbox.ts';
import { startTickets } from '../../src/environments/tickets/service.ts';
import type { World } from '../../src/environments/world.ts';
import { openShop, type Shop, sqlStateOf } from '../fixtures/packs/shop/kit.ts';
import { Dialogue } from './inbox-dialogue.ts';
import { openServiceWorlds, type ServiceWorlds } from './inbox-worlds.ts';

// Every way in which a write can be under way when the world is fenced. Writes by tools are in worlds-fence.test.ts.

const { postgresUrl } = inject('services');
let shop: Shop;
let services: ServiceWorlds;
beforeAll(async () => {
  shop = await openShop(postgresUrl, 'fence-ways');
  services = await openServiceWorlds(postgresUrl);
});
afterAll(async () => {
  await shop[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

async function agentOf(world: World): Promise<pg.Client> {
  const { agentSecret } = await world.credentials();
  const client = new pg.Client({ connectionString: withDatabase(postgresUrl, `w_${world.ref.id}`, { user: `w_${world.ref.id}`, password: agentSecret }) });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function inWorld<T>(world: World, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: withDatabase(postgresUrl, `w_${world.ref.id}`) });
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  await expect.poll(condition, { timeout: 10_000, interval: 10 }).toBe(true);
}

/** COPY FROM STDIN whose end is ours to send. */
class Copy {
  private connection: { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void } | null = null;
  readonly text: string;
  readonly ended: Promise<string>;
  private end: (how: string) => void = () => undefined;

  constructor(text: string) {
    this.text = text;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  get started(): boolean {
    return this.connection !== null;
  }

  submit(connection: { query(text: string): void }): void {
    connection.query(this.text);
  }

  send(rows: string): void {
    this.connection?.sendCopyFromChunk(Buffer.from(rows));
  }

  finish(): void {
    this.connection?.endCopyFrom();
  }

  handleCopyInResponse(connection: NonNullable<Copy['connection']>): void {
    this.connection = connection;
  }

  handleCommandComplete(): void {
    this.end('done');
  }

  handleError(error: { code?: string }): void {
    this.end(error.code ?? 'lost');
  }

  handleReadyForQuery(): void {
    this.end('done');
  }
}

describe("a session of the agent's own", () => {
  test('in the middle of a COPY leaves nothing, however much it has sent', async () => {
    const world = await shop.make({ isolation: 'database' });
    const [short, long] = await Promise.all([agentOf(world), agentOf(world)]);
    const copies = [new Copy('COPY notes FROM STDIN'), new Copy('COPY notes FROM STDIN')];
    for (const [n, client] of [short, long].entries()) client.query(copies[n] as unknown as pg.Submittable);
    await until(async () => copies.every((copy) => copy.started));
    copies[0]?.send('copied\tshort\n');
    copies[1]?.send('copied\tlong\n'.repeat(20_000));
    await until(
      async () => (await inWorld<{ n: number }>(world, 'SELECT count(*)::int AS n FROM pg_stat_progress_copy WHERE tuples_processed > 1000'))[0]?.n === 1,
    );
    await world.fence({ drainMs: 50 });
    for (const copy of copies) copy.finish();
    expect(await Promise.all(copies.map((copy) => copy.ended))).not.toContain('done');
    expect(await inWorld(world, "SELECT 1 FROM trialbed_world.notes WHERE about = 'copied'")).toEqual([]);
    const { effects, lateAttempts } = await world.observe();
    expect(effects).toEqual([]);
    expect(lateAttempts).toMatchObject([
      { source: 'sql', operation: null },
      { source: 'sql', operation: null },
    ]);
    await world.release();
  });

  test('with a prepared statement, a cursor, or a savepoint has none of them afterwards', async () => {
    const world = await shop.make({ isolation: 'database' });
    const [prepared, cursor, savepoint] = await Promise.all([agentOf(world), agentOf(world), agentOf(world)]);
    await prepared.query("PREPARE late AS INSERT INTO notes VALUES ('prepared', 'x')");
    await prepared.query('EXECUTE late');
    await cursor.query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM notes FOR UPDATE; FETCH 1 FROM c');
    await savepoint.query("BEGIN; INSERT INTO notes VALUES ('savepoint', 'x'); SAVEPOINT s");
    await world.fence({ drainMs: 50 });
    for (const [client, text] of [
      [prepared, 'EXECUTE late'],
      [cursor, "UPDATE notes SET body = 'y' WHERE CURRENT OF c"],
      [savepoint, 'ROLLBACK TO s; COMMIT'],
    ] as const)
      expect(await sqlStateOf(client.query(text))).not.toBe(null);
    const { effects, lateAttempts } = await world.observe();
    expect(effects).toMatchObject([{ operation: null, after: { about: 'prepared' } }]);
    expect(lateAttempts.length).toBeGreaterThanOrEqual(1);
    await world.release();
  });

  test('idle in a transaction holds nobody up; one that commits in time counts, and is no late attempt', async () => {
    const world = await shop.make({ isolation: 'database' });
    const [idle, quick] = await Promise.all([agentOf(world), agentOf(world)]);
    await idle.query("BEGIN; INSERT INTO notes VALUES ('idle', 'x')");
    await quick.query("BEGIN; INSERT INTO notes VALUES ('quick', 'x')");
    const fenced = world.fence({ drainMs: 1_000 });
    await until(async () => (await inWorld<{ closing: boolean }>(world, 'SELECT closing FROM trialbed_world_sys.door'))[0]?.closing === true);
    await quick.query('COMMIT');
    await fenced;
    expect(await sqlStateOf(idle.query('COMMIT'))).not.toBe(null);
    const { effects, lateAttempts } = await world.observe();
    expect(effects).toMatchObject([{ after: { about: 'quick' } }]);
    expect(lateAttempts).toHaveLength(1);
    expect(await world.release()).toBe('dropped');
  });
});

describe('a service', () => {
  test('refuses a mail whose DATA began before the fence, at its final dot', async () => {
    await using inbox = await startInbox({ directory: services.directory, listen: '127.0.0.1', log: pino({ level: 'silent' }) });
    const w = await services.make();
    await using own = await Dialogue.login(inbox, w.credentials.user, w.credentials.agentSecret);
    await w.world.ledger.propose({ id: 'op-1', tool: 'send', args: {}, idempotencyKey: null, refusal: null });
    await using tool = await Dialogue.login(inbox, `${w.credentials.user}+op-1.1`, w.credentials.toolSecret);
    for (const dialogue of [own, tool]) {
      expect((await dialogue.envelope('a@example.org', ['b@example.org'])).code).toBe(354);
      dialogue.write('Subject: begun before\r\n\r\nHel');
    }
    await w.fence();
    for (const dialogue of [own, tool]) {
      dialogue.write('lo');
      expect((await dialogue.say('\r\n.')).code).toBe(550);
      // Nor does the connection help to a new one.
      expect((await dialogue.mail('a@example.org', ['b@example.org'], 'Subject: new\r\n\r\nx')).code).toBe(550);
    }
    expect(await w.mails()).toEqual([]);
    expect((await w.late()).map(({ source, operation }) => `${source} ${operation}`)).toEqual(['smtp null', 'smtp null', 'smtp op-1', 'smtp op-1']);
  });

  test('refuses a request that is in progress, and lists it', async () => {
    await using tickets = await startTickets({ directory: services.directory, listen: '127.0.0.1', log: pino({ level: 'silent' }) });
    const w = await services.make();
    const ticket = { subject: 'same', body: 'b', requester: 'r' };
    const send = async (secret: string, headers: Record<string, string> = {}) => {
      const authorization = `Bearer ${w.credentials.user}.${secret}`;
      const response = await fetch(`${tickets.url}/tickets`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(ticket),
      });
      await response.text();
      return response.status;
    };
    await w.world.ledger.propose({ id: 'op-1', tool: 'x', args: {}, idempotencyKey: null, refusal: null });
    // Nobody whom the fence would end: who writes waits until this one lets go.
    const blocker = await shop.admin.connect();
    await blocker.query('BEGIN');
    await blocker.query(`LOCK TABLE w_${w.id}.tickets IN SHARE MODE`);
    const requests = [send(w.credentials.agentSecret), send(w.credentials.toolSecret, { 'trialbed-operation': 'op-1.1' })];
    await until(async () => {
      const { rows } = await shop.admin.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'trialbed services' AND wait_event_type = 'Lock' AND query LIKE $1",
        ['insert into "tickets"%'],
      );
      return (rows[0]?.n ?? 0) >= 2;
    });
    await w.world.fence({ drainMs: 50 });
    await blocker.query('ROLLBACK');
    blocker.release();
    expect(await Promise.all(requests)).toEqual([423, 423]);
    expect(await w.changes()).toEqual([]);
    expect((await w.late()).map(({ source, operation }) => `${source} ${operation}`).sort()).toEqual(['tickets null', 'tickets op-1']);
  });
});
