import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import pg from 'pg';
import { pino } from 'pino';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { run } from '../../src/client/run.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { startInbox } from '../../src/environments/inbox/inbox.ts';
import { startTickets } from '../../src/environments/tickets/service.ts';
import type { World, WorldCredentials } from '../../src/environments/world.ts';
import { freePort } from '../../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import type { TrialStatus } from '../../src/workflows/messages.ts';
import { until } from '../chaos/until.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { Dialogue } from './inbox-dialogue.ts';

// Two trials at once, each of whose agents tries to reach what the other has. Every attempt is refused, and shows somewhere.

interface Side {
  readonly trial: string;
  readonly world: World;
  readonly credentials: WorldCredentials;
}

/** Disposed of even where the preparation failed half-way. */
const stack = new AsyncDisposableStack();
let testbed: Testbed;
let folder: string;
let gate: string;
let serverUrl: string;
let serverLog: string;
let smtp: { readonly host: string; readonly port: number };
let ticketsUrl: string;
const logged: { readonly [name: string]: unknown }[] = [];
let left: Side;
let right: Side;
let ended: Promise<readonly TrialSummary[]>;

/** A ticket and an order that only this side has. */
const THINGS = { left: { ticket: 9001, order: 9101 }, right: { ticket: 9002, order: 9102 } } as const;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-neighbours-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  gate = join(folder, 'open');
  serverLog = join(folder, 'postgres.log');
  const options = { dataFolder: join(folder, 'postgres'), port: await freePort(), password: 'neighbours', logFile: serverLog, fsync: false };
  const server = await startEmbeddedPostgres(options);
  stack.defer(() => server.stop());
  serverUrl = server.url;
  testbed = stack.use(await startTestbed({ postgresUrl: server.url, temporalAddress: inject('services').temporalAddress }));
  const { root } = testbed;

  // The worker's services over the same worlds, with a log that can be read.
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString('utf8').trim().split('\n')) logged.push(JSON.parse(line));
      done();
    },
  });
  const log = pino({ level: 'warn', base: null }, sink);
  smtp = stack.use(await startInbox({ directory: root.worlds, listen: '127.0.0.1', log }));
  ticketsUrl = stack.use(await startTickets({ directory: root.worlds, listen: '127.0.0.1', log })).url;

  const suite = await writeSuite(join(folder, 'suite'));
  const handle = await run(root, { suite, agents: [join(suite, 'agent.yaml')], isolation: 'database', keep: 'never' }, new Promise(() => {}));
  ended = (async () => {
    const trials: TrialSummary[] = [];
    for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
    return trials;
  })();
  const rows = await root.store.trials(handle.id);
  const side = async (name: string): Promise<Side> => {
    const trial = rows.find(({ caseId }) => caseId === name)?.id ?? '';
    const calls = CALLS(THINGS.left).length;
    await until(
      `${name} has made its calls`,
      async () => {
        const status = await root.temporal.workflow.getHandle(trial).query<TrialStatus>('status');
        // Over before it should: the summary says why.
        if (status.phase === 'done') throw new Error(JSON.stringify(await root.store.attempts(trial)));
        return status.calls === calls && status.inFlight.length === 0;
      },
      60_000,
    );
    const world = await worldOf(`${trial}.1`);
    return { trial, world, credentials: await world.credentials() };
  };
  [left, right] = await Promise.all([side('left'), side('right')]);
});
afterAll(() => stack.disposeAsync());

describe('an agent beside another', () => {
  test('names by its tools what only the other has: not there', async () => {
    for (const side of [left, right]) {
      const rows = await side.world.ledger.all();
      expect(rows.map(({ state, problem }) => [state, problem?.code])).toEqual(rows.map(() => ['failed', 'not_found']));
      expect(rows).toHaveLength(CALLS(THINGS.left).length);
    }
  });

  test('cannot be the other to the ticket service: 401, 403 or 404, and the log names the world', async () => {
    const ask = (token: string, path: string, headers: Record<string, string> = {}) =>
      fetch(`${ticketsUrl}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } }).then((response) => response.status);
    const own = `${left.credentials.user}.${left.credentials.agentSecret}`;
    expect(await ask(own, `/tickets/${THINGS.left.ticket}`)).toBe(200);
    expect(await ask(own, `/tickets/${THINGS.right.ticket}`)).toBe(404);
    logged.length = 0;
    expect(await ask(`${right.credentials.user}.${left.credentials.agentSecret}`, `/tickets/${THINGS.right.ticket}`)).toBe(401);
    expect(await ask(`${right.credentials.user}.${left.credentials.toolSecret}`, `/tickets/${THINGS.right.ticket}`)).toBe(401);
    expect(await ask(own, `/tickets/${THINGS.left.ticket}`, { 'trialbed-operation': 'op-1.1' })).toBe(403);
    expect(logged).toMatchObject([
      { service: 'tickets', world: right.credentials.user, request: `GET /tickets/${THINGS.right.ticket}`, status: 401 },
      { service: 'tickets', world: right.credentials.user, request: `GET /tickets/${THINGS.right.ticket}`, status: 401 },
      { service: 'tickets', world: left.credentials.user, request: `GET /tickets/${THINGS.left.ticket}`, status: 403 },
    ]);
    expect(JSON.stringify(logged)).not.toContain(left.credentials.agentSecret);
  });

  test('cannot be the other to the inbox: 535, and the log names the user', async () => {
    logged.length = 0;
    const users = [right.credentials.user, `${right.credentials.user}+op-1.1`, `${left.credentials.user}+op-1.1`];
    for (const user of users) {
      await using dialogue = await Dialogue.open(smtp);
      expect((await dialogue.auth(user, left.credentials.agentSecret)).code).toBe(535);
      expect((await dialogue.say('MAIL FROM:<a@example.org>')).code).toBe(530);
    }
    expect(logged.map(({ service, user }) => [service, user])).toEqual(users.map((user) => ['inbox', user]));
    expect(JSON.stringify(logged)).not.toContain(left.credentials.agentSecret);
  });

  test('cannot reach the other by SQL, logged in as its own role: 42501 or 28P01, and the server logs it', async () => {
    const role = (side: Side) => `w_${side.world.ref.id}`;
    const login = async (user: string, database: string) => {
      const url = withDatabase(serverUrl, database, { user, password: left.credentials.agentSecret });
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    };
    for (const database of [role(right), 'trialbed_worlds', 'postgres']) {
      await expect(login(role(left), database)).rejects.toMatchObject({ code: '42501' });
    }
    await expect(login(role(right), role(right))).rejects.toMatchObject({ code: '28P01' });
    const client = await login(role(left), role(left));
    try {
      await expect(client.query(`SET ROLE ${role(right)}`)).rejects.toMatchObject({ code: '42501' });
      const { rows } = await client.query('SELECT id FROM tickets WHERE id = ANY($1)', [[THINGS.left.ticket, THINGS.right.ticket]]);
      expect(rows).toEqual([{ id: THINGS.left.ticket }]);
    } finally {
      await client.end();
    }
    const text = await readFile(serverLog, 'utf8');
    for (const database of [role(right), 'trialbed_worlds']) expect(text).toContain(`permission denied for database "${database}"`);
    expect(text).toContain(`password authentication failed for user "${role(right)}"`);
    expect(text).toContain(`permission denied to set role "${role(right)}"`);
  });

  test('is judged by what it did in its own world, which is nothing; the other has noticed nothing', async () => {
    await writeFile(gate, '');
    const trials = await ended;
    expect(trials).toHaveLength(2);
    for (const trial of trials) {
      expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1, why: null });
      const record = await testbed.root.store.record(trial.trial, 1);
      expect(record?.effects).toEqual([]);
      expect(record?.lateAttempts).toEqual([]);
      expect(record?.operations.map(({ told, known, problem }) => [told, known, problem?.code])).toEqual(
        CALLS(THINGS.left).map(() => ['failed', 'failed', 'not_found']),
      );
    }
    expect(await testbed.root.worlds.leased(`${trials[0]?.batch}-`)).toBe(0);
  });
});

/** What an agent tries on things that are not in its world. */
function CALLS({ ticket, order }: { readonly ticket: number; readonly order: number }) {
  return [
    { tool: 'get_ticket', args: { ticket_id: ticket } },
    { tool: 'comment_ticket', args: { ticket_id: ticket, body: 'I was here.', public: true } },
    { tool: 'update_ticket', args: { ticket_id: ticket, status: 'closed' } },
    { tool: 'get_order', args: { order_id: order } },
    { tool: 'cancel_order', args: { order_id: order, reason: 'fraud' } },
    { tool: 'issue_refund', args: { order_id: order, amount: 1, reason: 'goodwill' } },
  ];
}

async function worldOf(owner: string): Promise<World> {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'trialbed_worlds') });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; epoch: number }>('SELECT id, epoch FROM trialbed.worlds WHERE owner = $1', [owner]);
    const { id = '', epoch = 0 } = rows[0] ?? {};
    return await testbed.root.worlds.open({ id, epoch, host: 'test', isolation: 'database' });
  } finally {
    await client.end();
  }
}

async function writeSuite(suite: string): Promise<string> {
  await mkdir(join(suite, 'cases'), { recursive: true });
  const head = {
    name: 'neighbours',
    title: 'Neighbours',
    environment: 'support-desk',
    user: { name: 'mara', role: 'agent' },
    clock: '2026-03-02T09:30:00+01:00',
    timezone: 'Europe/Berlin',
    budget: { wall: '120s' },
  };
  await writeFile(join(suite, 'suite.yaml'), stringify(head));
  for (const [name, { ticket, order }] of Object.entries(THINGS)) {
    const placed = { customer_id: 1001, status: 'paid', placed_at: '2026-02-20T10:00:00Z', updated_at: '2026-02-20T10:00:00Z' };
    const to = { ship_street: 'Street 1', ship_postcode: '10115', ship_city: 'Berlin', shipping_fee: 0, total: 10 };
    const kase = {
      title: `The one on the ${name}`,
      kind: 'test',
      request: name,
      state: [
        { insert: 'tickets', rows: [{ id: ticket, subject: `Only ${name}`, body: 'Ours.', requester: `${name}@example.org` }] },
        { insert: 'orders', rows: [{ id: order, ...placed, ...to }] },
      ],
      expect: { outcomes: [{ name: 'nothing changed', effects: [] }] },
      expects_nothing: true,
      reference: { steps: [], answer: 'Done.' },
    };
    await writeFile(join(suite, 'cases', `${name}.yaml`), stringify(kase));
  }
  const calls = { left: CALLS(THINGS.right), right: CALLS(THINGS.left) };
  const agent = { name: 'neighbour', version: '1', kind: 'module', file: resolve('test/fixtures/agents/neighbour.ts'), parameters: { gate, calls } };
  await writeFile(join(suite, 'agent.yaml'), stringify(agent));
  return suite;
}
