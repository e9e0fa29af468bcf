import { request as httpRequest } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ToolFailure } from '../../src/environments/define.ts';
import { createWorldTickets } from '../../src/environments/tickets/client.ts';
import { startTickets, type TicketService } from '../../src/environments/tickets/service.ts';
import { openServiceWorlds, type ServiceWorld, type ServiceWorlds } from './inbox-worlds.ts';

let worlds: ServiceWorlds;
let tickets: TicketService & AsyncDisposable;
const world = (): Promise<ServiceWorld> => worlds.make();

beforeAll(async () => {
  worlds = await openServiceWorlds(inject('services').postgresUrl);
  tickets = await startTickets({ directory: worlds.directory, listen: '127.0.0.1', log: pino({ level: 'silent' }), bodyBytes: 20_000 });
});
afterAll(async () => {
  await tickets[Symbol.asyncDispose]();
  await worlds[Symbol.asyncDispose]();
});

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly json: { readonly [name: string]: unknown };
}

async function call(method: string, path: string, token: string | null, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${tickets.url}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, type: response.headers.get('content-type'), json: (await response.json()) as Answer['json'] };
}

const agent = (w: ServiceWorld) => `${w.credentials.user}.${w.credentials.agentSecret}`;
const tool = (w: ServiceWorld) => `${w.credentials.user}.${w.credentials.toolSecret}`;
const NEW = { subject: 'Broken lamp', body: 'It arrived broken.', requester: 'anna@example.org' };

describe('tickets and comments', () => {
  test('create, read, change, comment: on the clock of the world, with the ids of the table', async () => {
    const w = await world();
    const created = await call('POST', '/tickets', agent(w), NEW);
    expect(created).toMatchObject({
      status: 201,
      json: {
        ...NEW,
        status: 'open',
        priority: 'normal',
        assignee: null,
        created_at: expect.stringMatching(/^2026-03-02T08:30:00/),
        updated_at: expect.stringMatching(/^2026-03-02T08:30:00/),
      },
    });
    const path = `/tickets/${created.json.id}`;
    expect((await call('GET', path, agent(w))).json).toEqual(created.json);
    expect(await call('PATCH', path, agent(w), { status: 'pending', assignee: 'mara', if_updated_at: '2026-03-02T09:30:00+01:00' })).toMatchObject({
      status: 200,
      json: { status: 'pending', assignee: 'mara' },
    });
    expect((await call('PATCH', path, agent(w), { assignee: null })).json.assignee).toBeNull();
    expect(await call('POST', `${path}/comments`, agent(w), { author: 'mara', body: 'On its way', public: false })).toMatchObject({
      status: 201,
      json: { ticket_id: created.json.id, public: false },
    });
    expect((await call('GET', `${path}/comments`, agent(w))).json).toMatchObject({
      total: 1,
      next_page: null,
      comments: [{ body: 'On its way', author: 'mara' }],
    });
  });

  test('lists are filtered, searched and paged', async () => {
    const w = await world();
    for (let n = 1; n <= 7; n += 1)
      await call('POST', '/tickets', agent(w), {
        ...NEW,
        subject: `Lamp ${n} 100%`,
        requester: n % 2 ? 'anna@example.org' : 'bert@example.org',
        status: n > 5 ? 'closed' : 'open',
      });
    const subjects = async (query: string) =>
      ((await call('GET', `/tickets${query}`, agent(w))).json.tickets as { subject: string }[]).map(({ subject }) => subject.split(' ')[1]);
    expect(await subjects('')).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect(await subjects('?status=closed')).toEqual(['6', '7']);
    expect(await subjects('?requester=ANNA@example.org&status=open')).toEqual(['1', '3', '5']);
    expect(await subjects('?q=lamp%203')).toEqual(['3']);
    expect(await subjects('?q=100%25&per_page=3&page=3')).toEqual(['7']);
    expect(await subjects(`?q=${encodeURIComponent("' or true --")}`)).toEqual([]);
    expect((await call('GET', '/tickets?per_page=3&page=2', agent(w))).json).toMatchObject({ page: 2, per_page: 3, total: 7, next_page: 3 });
  });
});

describe('refusals are problem JSON', () => {
  test.each([
    ['GET', '/tickets/999', undefined, 404, 'not_found'],
    ['GET', "/tickets/301'%20or%20true", undefined, 404, 'not_found'],
    ['PATCH', '/tickets/999', { status: 'closed' }, 404, 'not_found'],
    ['POST', '/tickets/999/comments', { author: 'x', body: 'y' }, 404, 'not_found'],
    ['GET', '/elsewhere', undefined, 404, 'not_found'],
    ['DELETE', '/tickets/301', undefined, 405, 'method_not_allowed'],
    ['GET', '/tickets?page=0', undefined, 400, 'invalid'],
    ['GET', '/tickets?color=red', undefined, 400, 'invalid'],
    ['GET', '/tickets?status=open&status=closed', undefined, 400, 'invalid'],
    ['POST', '/tickets', '{', 400, 'invalid'],
    ['POST', '/tickets', '', 400, 'invalid'],
    ['POST', '/tickets', '["oops"]', 422, 'invalid'],
    ['POST', '/tickets', 'null', 422, 'invalid'],
    ['POST', '/tickets', {}, 422, 'invalid'],
    ['POST', '/tickets', { ...NEW, id: 7 }, 422, 'invalid'],
    ['POST', '/tickets', { ...NEW, status: 'lost' }, 422, 'invalid'],
    ['POST', '/tickets', { ...NEW, body: 'nul \0' }, 422, 'invalid'],
    ['POST', '/tickets', { ...NEW, created_at: '2020-01-01T00:00:00Z' }, 422, 'invalid'],
    ['PATCH', '/tickets/301', {}, 422, 'invalid'],
    ['PATCH', '/tickets/301', { if_updated_at: '2026-03-02T08:30:00Z' }, 422, 'invalid'],
    ['PATCH', '/tickets/301', { status: 'closed', if_updated_at: '2026-03-02T08:29:00Z' }, 409, 'conflict'],
    ['POST', '/tickets', NEW, 409, 'conflict'],
    ['POST', '/tickets', { ...NEW, body: 'x'.repeat(21_000) }, 413, 'too_large'],
  ])('%s %s %j: %i', async (method, path, body, status, code) => {
    const w = await world();
    await call('POST', '/tickets', agent(w), NEW);
    const before = await w.rows('tickets');
    expect(await call(method, path, agent(w), body)).toMatchObject({
      status,
      type: 'application/problem+json',
      json: { status, code, detail: expect.any(String) },
    });
    expect(await w.rows('tickets')).toEqual(before);
  });

  test('a body of another type, and one that never says how long it is', async () => {
    const w = await world();
    expect((await call('POST', '/tickets', agent(w), 'subject=x', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415);
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(`${tickets.url}/tickets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${agent(w)}`, 'content-type': 'application/json' },
      });
      request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      request.write(`{"subject":"${'x'.repeat(15_000)}`);
      request.end(`${'x'.repeat(15_000)}"}`);
    });
    expect(status).toBe(413);
  });
});

describe('who may speak', () => {
  test("no token, a wrong one, another world's secret", async () => {
    const [a, b] = [await world(), await world()];
    for (const token of [null, '', a.id, `${a.id}.`, `${a.id}.wrong`, `${a.id}.${b.credentials.agentSecret}`, `nobody.${a.credentials.agentSecret}`]) {
      expect((await call('GET', '/tickets', token)).status).toBe(401);
      expect((await call('POST', '/tickets', token, NEW)).status).toBe(401);
    }
    expect(await a.rows('tickets')).toEqual([]);
  });

  test("another world's ticket does not exist here", async () => {
    const [a, b] = [await world(), await world()];
    for (let n = 0; n < 3; n += 1) await call('POST', '/tickets', agent(b), { ...NEW, subject: `secret ${n}` });
    const before = await b.rows('tickets');
    for (const id of before.map((row) => row.id)) {
      expect((await call('GET', `/tickets/${id}`, agent(a))).status).toBe(404);
      expect((await call('PATCH', `/tickets/${id}`, agent(a), { status: 'closed' })).status).toBe(404);
      expect((await call('POST', `/tickets/${id}/comments`, agent(a), { author: 'x', body: 'y' })).status).toBe(404);
    }
    expect((await call('GET', '/tickets?q=secret', agent(a))).json).toMatchObject({ total: 0 });
    expect(await b.rows('tickets')).toEqual(before);
  });

  test('an operation is believed with the tool secret alone', async () => {
    const w = await world();
    expect((await call('POST', '/tickets', agent(w), NEW, { 'trialbed-operation': 'op-1.1' })).status).toBe(403);
    expect((await call('POST', '/tickets', tool(w), NEW, { 'trialbed-operation': 'op-1' })).status).toBe(400);
    expect((await call('POST', '/tickets', tool(w), NEW, { 'trialbed-operation': 'op-1.1' })).status).toBe(201);
    expect((await call('POST', '/tickets', agent(w), { ...NEW, subject: 'own' })).status).toBe(201);
    expect(await w.changes()).toEqual(['tickets insert op-1', 'tickets insert null']);
  });

  test('after the fence a write is 423, listed as late, and changes nothing; the tools may still read', async () => {
    const w = await world();
    await call('POST', '/tickets', agent(w), NEW);
    const before = await w.rows('tickets');
    const path = `/tickets/${before[0]?.id}`;
    await w.fence();
    expect((await call('PATCH', path, agent(w), { status: 'closed' })).status).toBe(423);
    expect((await call('PATCH', path, tool(w), { status: 'closed' }, { 'trialbed-operation': 'op-2.1' })).status).toBe(423);
    expect((await call('GET', path, tool(w))).status).toBe(200);
    expect(await w.rows('tickets')).toEqual(before);
    expect(await w.late()).toMatchObject([
      { source: 'tickets', operation: null },
      { source: 'tickets', operation: 'op-2' },
    ]);
  });
});

describe('createWorldTickets', () => {
  const client = (w: ServiceWorld, options = {}) =>
    createWorldTickets({ url: tickets.url, credentials: w.credentials, operation: { id: 'op-5', attempt: 1 }, ...options });

  test('requests speak for the operation', async () => {
    const w = await world();
    const created = await client(w).request('POST', '/tickets', NEW);
    expect(await client(w).request('GET', `/tickets/${created.id}`)).toEqual(created);
    expect(await w.changes()).toEqual(['tickets insert op-5']);
    const { url, headers } = client(w);
    expect((await fetch(`${url}/tickets`, { headers })).status).toBe(200);
  });

  test("inside the operation's own transaction; an attempt that was given up is refused", async () => {
    const w = await world();
    await w.world.ledger.propose({ id: 'op-5', tool: 'create_ticket', args: {}, idempotencyKey: null, refusal: null });
    await w.world.transact({ id: 'op-5', attempt: 1 }, async (sql) => {
      const [row] = await sql.query(
        "insert into tickets (subject, body, requester, created_at, updated_at) values ('by SQL', '', 'anna', now(), now()) returning id",
      );
      await client(w).request('POST', '/tickets', NEW);
      return { value: row, result: null };
    });
    await w.world.ledger.recover('op-5', 1);
    await expect(client(w).request('POST', '/tickets', { ...NEW, subject: 'zombie' })).rejects.toMatchObject({ code: 'conflict' });
    expect((await w.changes()).toSorted()).toEqual(['tickets insert op-5', 'tickets insert op-5']);
    expect(await w.late()).toMatchObject([{ source: 'tickets', operation: 'op-5' }]);
  });

  test('4xx is a failure with its code', async () => {
    const w = await world();
    await client(w).request('POST', '/tickets', NEW);
    await expect(client(w).request('GET', '/tickets/999')).rejects.toMatchObject({ name: 'ToolFailure', code: 'not_found', message: 'there is no ticket 999' });
    await expect(client(w).request('POST', '/tickets', { subject: '' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(client(w).request('POST', '/tickets', NEW)).rejects.toMatchObject({ code: 'conflict' });
    await w.fence();
    await expect(client(w).request('POST', '/tickets', { ...NEW, subject: 'late' })).rejects.toMatchObject({ name: 'ToolFailure', code: 'conflict' });
  });

  test('anything else is of unknown outcome', async () => {
    const w = await world();
    const unknown = { code: 'ticket_outcome_unknown' };
    await expect(client(w, { url: 'http://127.0.0.1:1' }).request('POST', '/tickets', NEW)).rejects.toMatchObject(unknown);
    await expect(client(w, { signal: AbortSignal.abort() }).request('POST', '/tickets', NEW)).rejects.toMatchObject(unknown);
    const never = { authenticate: () => new Promise<never>(() => undefined) };
    const slow = await startTickets({ directory: never, listen: '127.0.0.1', log: pino({ level: 'silent' }), requestMs: 10 });
    const error = await client(w, { url: slow.url })
      .request('POST', '/tickets', NEW)
      .catch((e: unknown) => e);
    await slow[Symbol.asyncDispose]();
    expect(error).toMatchObject(unknown);
    expect(error).not.toBeInstanceOf(ToolFailure);
  });

  test('a path cannot lead to another server', async () => {
    const w = await world();
    for (const path of ['@evil.test/tickets', '.evil.test/', '//evil.test', 'tickets']) await expect(client(w).request('GET', path)).rejects.toThrow();
  });
});

test('/openapi.json describes every route, and needs no token', async () => {
  const { status, json } = await call('GET', '/openapi.json', null);
  expect(status).toBe(200);
  expect(Object.keys(json.paths as object)).toEqual(['/tickets', '/tickets/{id}', '/tickets/{id}/comments']);
  expect(JSON.stringify(json)).toContain('if_updated_at');
});
