import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { DrawnRule, Fault } from '../../src/domain/fault.ts';
import { ToolFailure } from '../../src/environments/define.ts';
import { createWorldTickets } from '../../src/environments/tickets/client.ts';
import { startTickets, type TicketService } from '../../src/environments/tickets/service.ts';
import { openServiceWorlds, type ServiceWorld, type ServiceWorlds } from './inbox-worlds.ts';

let worlds: ServiceWorlds;
let tickets: TicketService & AsyncDisposable;

beforeAll(async () => {
  worlds = await openServiceWorlds(inject('services').postgresUrl);
  tickets = await startTickets({ directory: worlds.directory, listen: '127.0.0.1', log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await tickets[Symbol.asyncDispose]();
  await worlds[Symbol.asyncDispose]();
});

const NEW = { subject: 'Broken lamp', body: 'It arrived broken.', requester: 'anna@example.org' };
const on = { service: 'tickets' } as const;
/** A rule on the ticket service for some of its requests. */
const rule = (fault: Fault, calls?: DrawnRule['calls'], index = 0): DrawnRule => ({ index, on, fault, ...(calls === undefined ? {} : { calls }) });
const FIRST = [1];
const world = (...rules: DrawnRule[]): Promise<ServiceWorld> => worlds.make({}, rules);

interface Answer {
  /** 0: the connection ended without a reply. */
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** A client of the agent's own. */
async function call(w: ServiceWorld, method: string, path: string, body?: unknown): Promise<Answer> {
  try {
    const response = await fetch(`${tickets.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${w.credentials.user}.${w.credentials.agentSecret}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  } catch {
    return { status: 0, text: '', headers: new Headers() };
  }
}
const post = (w: ServiceWorld, ticket: object = NEW) => call(w, 'POST', '/tickets', ticket);
const stored = async (w: ServiceWorld) => (await w.rows('tickets')).length;

async function tool(w: ServiceWorld, id = 'op-1', attempt = 1) {
  await w.world.ledger.propose({ id, tool: 'x', args: {}, idempotencyKey: null, refusal: null });
  return createWorldTickets({ url: tickets.url, credentials: w.credentials, operation: { id, attempt } });
}

/** How a request of a tool ended. */
async function ending(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof ToolFailure) return `${error.code}${error.retryAfterSeconds === undefined ? '' : ` ${error.retryAfterSeconds}`}`;
    return `unknown: ${(error as { code?: string }).code}`;
  }
}

/** What a tool's write meets, what an agent's own client meets at the next request, and how many tickets there are after each. */
const WRITES: readonly (readonly [string, Fault, { tool: string; agent: number; stored: readonly [number, number] }])[] = [
  ['rate_limited', { kind: 'rate_limited', retryAfterSeconds: 120, retryAfterAs: 'seconds' }, { tool: 'rate_limited 120', agent: 429, stored: [0, 0] }],
  [
    'rate_limited by date',
    { kind: 'rate_limited', retryAfterSeconds: 120, retryAfterAs: 'http_date' },
    { tool: 'rate_limited 120', agent: 429, stored: [0, 0] },
  ],
  ['unavailable', { kind: 'unavailable', retryAfterSeconds: 5 }, { tool: 'unavailable 5', agent: 503, stored: [0, 0] }],
  ['unavailable and done', { kind: 'unavailable', committed: true }, { tool: 'unknown: ticket_outcome_unknown', agent: 503, stored: [1, 2] }],
  ['timeout_before_commit', { kind: 'timeout_before_commit', afterMs: 5 }, { tool: 'unknown: ticket_outcome_unknown', agent: 0, stored: [0, 0] }],
  ['timeout_after_commit', { kind: 'timeout_after_commit', afterMs: 5 }, { tool: 'unknown: ticket_outcome_unknown', agent: 0, stored: [1, 2] }],
  ['malformed_reply', { kind: 'malformed_reply' }, { tool: 'unknown: ticket_outcome_unknown', agent: 201, stored: [1, 2] }],
  ['payload_too_large', { kind: 'payload_too_large', limitBytes: 10 }, { tool: 'payload_too_large', agent: 413, stored: [0, 0] }],
  ['permission_revoked', { kind: 'permission_revoked' }, { tool: 'not_permitted', agent: 403, stored: [0, 0] }],
  ['slow', { kind: 'slow', bySeconds: 12 }, { tool: 'done', agent: 201, stored: [1, 2] }],
  ['slow beyond patience', { kind: 'slow', bySeconds: 3600 }, { tool: 'unknown: ticket_outcome_unknown', agent: 0, stored: [1, 2] }],
];

describe('a write', () => {
  test.each(WRITES)('that meets %s', async (_, fault, right) => {
    const w = await world(rule(fault));
    const client = await tool(w);
    expect(await ending(client.request('POST', '/tickets', NEW))).toBe(right.tool);
    expect(await stored(w)).toBe(right.stored[0]);
    expect((await post(w, { ...NEW, subject: 'Another' })).status).toBe(right.agent);
    expect(await stored(w)).toBe(right.stored[1]);
    expect(await w.world.faults.injected()).toMatchObject([
      { rule: 0, kind: fault.kind, on: 'service tickets', position: 1, operation: 'op-1' },
      { rule: 0, kind: fault.kind, on: 'service tickets', position: 2, operation: null },
    ]);
    expect(await w.world.faults.hit('op-1')).toBe(true);
    expect((await w.changes()).every((change) => !change.includes('update'))).toBe(true);
  });

  test('arrives more than once: all effects are its own, and its reply is the first', async () => {
    const w = await world(rule({ kind: 'duplicate_delivery', copies: 2 }, FIRST));
    const client = await tool(w);
    // Subject and requester are unique: a copy that the table refuses is told to nobody.
    const ticket = await client.request('POST', '/tickets', NEW);
    await client.request('POST', `/tickets/${ticket.id}/comments`, { author: 'a', body: 'once' });
    expect(await w.changes()).toEqual(['tickets insert op-1', 'comments insert op-1']);
    const again = await world(rule({ kind: 'duplicate_delivery', copies: 2 }, [3]));
    const { id } = await (await tool(again)).request('POST', '/tickets', NEW);
    await call(again, 'GET', '/tickets');
    await (await tool(again, 'op-2')).request('POST', `/tickets/${id}/comments`, { author: 'a', body: 'thrice' });
    expect(await again.changes()).toEqual(['tickets insert op-1', ...Array(3).fill('comments insert op-2')]);
  });

  test('a limit stands until the clock has passed it; a date is held against the clock of the world', async () => {
    const w = await world(rule({ kind: 'rate_limited', retryAfterSeconds: 90, retryAfterAs: 'http_date' }, FIRST));
    const first = await call(w, 'GET', '/tickets');
    expect([first.status, first.headers.get('retry-after'), first.headers.get('date')]).toEqual([
      429,
      'Mon, 02 Mar 2026 08:31:30 GMT',
      'Mon, 02 Mar 2026 08:30:00 GMT',
    ]);
    await w.world.faults.advance('wait', { seconds: 60 });
    expect(await ending((await tool(w)).request('POST', '/tickets', NEW))).toBe('rate_limited 30');
    await w.world.faults.advance('wait more', { seconds: 30 });
    expect((await post(w)).status).toBe(201);
    expect((await w.world.faults.injected()).map(({ position, operation }) => [position, operation])).toEqual([
      [1, null],
      [2, 'op-1'],
    ]);
  });

  test('meets a fault at so many tries only', async () => {
    const w = await world(
      rule({ kind: 'unavailable', attempts: 2 }),
      rule({ kind: 'rate_limited', retryAfterSeconds: 60, retryAfterAs: 'seconds', attempts: 1 }, [4], 1),
    );
    const client = await tool(w);
    const tries: string[] = [];
    for (let n = 1; n <= 5; n += 1) tries.push(await ending(client.request('GET', '/tickets')));
    expect(tries).toEqual(['unavailable', 'unavailable', 'done', 'rate_limited 60', 'done']);
  });

  test('after a lost reply the same request again is another request', async () => {
    const w = await world(rule({ kind: 'unavailable', committed: true }, { from: 1, to: 3 }));
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await post(w, { ...NEW, subject: `try ${n}` })).status);
    expect(statuses).toEqual([503, 503, 503, 201]);
    expect(await stored(w)).toBe(4);
  });
});

describe('requests', () => {
  test('at the same time have numbers of their own', async () => {
    const w = await world(rule({ kind: 'unavailable' }, { from: 3, to: 5 }));
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => post(w, { ...NEW, subject: `n${n}` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 503, 503, 503]);
    expect((await w.world.faults.injected()).map(({ position }) => position).sort()).toEqual([3, 4, 5]);
  });

  test('of a dispatch that was lost are the same when it is repeated', async () => {
    const w = await world(rule({ kind: 'duplicate_delivery', copies: 1 }, [2]), rule({ kind: 'unavailable' }, [3], 1));
    await (await tool(w)).request('GET', '/tickets');
    await (await tool(w)).request('POST', '/tickets', NEW);
    await w.world.ledger.recover('op-1', 1);
    const client = await tool(w, 'op-1', 2);
    expect(await ending(client.request('GET', '/tickets'))).toBe('done');
    expect(await ending(client.request('POST', '/tickets', { ...NEW, subject: 'Other' }))).toBe('done');
    expect(await ending(client.request('GET', '/tickets'))).toBe('unavailable');
    expect((await w.world.faults.injected()).map(({ rule: index, position }) => [index, position])).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  test('of an operation meet the rules that were armed for it, before those of the service', async () => {
    const armed: DrawnRule = { index: 0, on: { tool: 'create_ticket' }, fault: { kind: 'unavailable', retryAfterSeconds: 7 } };
    const w = await world(armed, rule({ kind: 'permission_revoked' }, [2], 1));
    const client = await tool(w);
    await w.world.faults.arm('op-1', [{ rule: 0, position: 4 }]);
    expect(await ending(client.request('POST', '/tickets', NEW))).toBe('unavailable 7');
    expect(await ending(client.request('POST', '/tickets', NEW))).toBe('unavailable 7');
    expect(await ending((await tool(w, 'op-2')).request('POST', '/tickets', NEW))).toBe('not_permitted');
    // What was revoked stays revoked.
    expect((await call(w, 'GET', '/tickets')).status).toBe(403);
    expect((await w.world.faults.injected()).map(({ on: target, position, operation }) => [target, position, operation])).toContainEqual([
      'create_ticket',
      4,
      'op-1',
    ]);
  });

  test('of a caller without a valid token, and rules for other services, count nothing', async () => {
    const w = await world({ index: 0, on: { service: 'inbox' }, fault: { kind: 'unavailable' } }, rule({ kind: 'smtp_data' }, undefined, 1));
    expect((await fetch(`${tickets.url}/tickets`, { headers: { authorization: `Bearer ${w.credentials.user}.wrong` } })).status).toBe(401);
    expect((await post(w)).status).toBe(201);
    expect(await w.world.faults.injected()).toEqual([]);
  });

  test('after the fence meet no fault: a write is late', async () => {
    const w = await world(rule({ kind: 'unavailable' }));
    await w.fence();
    expect((await post(w)).status).toBe(423);
    expect(await w.late()).toMatchObject([{ source: 'tickets' }]);
    expect(await w.world.faults.injected()).toEqual([]);
  });
});

describe('reads', () => {
  test('are equally stale, list and get and comments, for tools and for a client of the agent; writes are not', async () => {
    const w = await world(rule({ kind: 'stale_read', asOf: 'trigger', forSeconds: 300 }, [3]));
    const { id } = JSON.parse((await post(w)).text);
    await call(w, 'POST', `/tickets/${id}/comments`, { author: 'a', body: 'before' });
    const before = (await call(w, 'GET', `/tickets/${id}`)).text;
    expect((await call(w, 'PATCH', `/tickets/${id}`, { status: 'closed' })).status).toBe(200);
    const second = JSON.parse((await post(w, { ...NEW, subject: 'Second' })).text);
    await call(w, 'POST', `/tickets/${id}/comments`, { author: 'a', body: 'after' });
    expect((await call(w, 'GET', `/tickets/${id}`)).text).toBe(before);
    const list = await (await tool(w)).request('GET', '/tickets');
    expect(list).toMatchObject({ total: 1, tickets: [{ status: 'open' }] });
    expect((await call(w, 'GET', `/tickets/${second.id}`)).status).toBe(404);
    expect(JSON.parse((await call(w, 'GET', `/tickets/${id}/comments`)).text)).toMatchObject({ total: 1, comments: [{ body: 'before' }] });
    // A write sees what is.
    expect((await call(w, 'PATCH', `/tickets/${second.id}`, { status: 'pending' })).status).toBe(200);
    await w.world.faults.advance('wait', { seconds: 300 });
    expect(JSON.parse((await call(w, 'GET', '/tickets')).text)).toMatchObject({ total: 2, tickets: [{ status: 'closed' }, { status: 'pending' }] });
    expect(await w.world.faults.injected()).toMatchObject([{ kind: 'stale_read', position: 3 }]);
  });

  test('a tool that asks tables and service at once is not in its own way', async () => {
    const w = await world(rule({ kind: 'stale_read', asOf: 'start' }));
    const client = await tool(w);
    await client.request('POST', '/tickets', NEW);
    await w.world.faults.freeze(7, { service: 'all', asOf: 'start', reads: null, forSeconds: null });
    const found = await w.world.faults.readAsOf(0, async (sql) => {
      const rows = await sql.query('select id from tickets');
      const [list, more] = await Promise.all([client.request('GET', '/tickets'), sql.query('select id from tickets')]);
      return [rows.length, list.total, more.length];
    });
    expect(found).toEqual([0, 0, 0]);
    expect(await stored(w)).toBe(1);
  });
});

describe("somebody else's hand", () => {
  test('changes rows just before a request, just after it, or in another system, once each', async () => {
    const insert = (subject: string) => [
      { insert: 'tickets', rows: [{ ...NEW, subject, created_at: '2026-03-02T08:00:00Z', updated_at: '2026-03-02T08:00:00Z' }] },
    ];
    const w = await world(
      rule({ kind: 'concurrent_change', when: 'before', changes: insert('before') }, [2]),
      rule({ kind: 'concurrent_change', when: 'after', changes: insert('after') }, [2], 1),
      rule({ kind: 'conflicting_records', changes: insert('conflict') }, [1], 2),
    );
    await post(w);
    await (await tool(w)).request('POST', '/tickets', { ...NEW, subject: 'mine' });
    await call(w, 'GET', '/tickets');
    const effects = (await w.world.observe()).effects.map((effect) => (effect.kind === 'row' ? [effect.after?.subject, effect.operation, effect.byFault] : []));
    expect(effects).toEqual([
      ['conflict', null, 2],
      ['Broken lamp', null, undefined],
      ['before', null, 0],
      ['mine', 'op-1', undefined],
      ['after', null, 1],
    ]);
  });
});

test('a changed schema refuses the old names, takes the new ones, and answers with them', async () => {
  const w = await world(
    rule({ kind: 'schema_changed', rename: { subject: 'title' }, remove: ['priority'], renameResult: { subject: 'title', status: 'state' } }, FIRST),
  );
  expect((await post(w)).status).toBe(422);
  expect((await post(w, { title: 'T', body: 'b', requester: 'r', priority: 'high' })).text).toContain('unrecognized field priority');
  const created = JSON.parse((await post(w, { title: 'T', body: 'b', requester: 'r' })).text);
  expect(created).toMatchObject({ title: 'T', state: 'open' });
  expect(created).not.toHaveProperty('subject');
  expect(JSON.parse((await call(w, 'GET', '/tickets')).text).tickets).toMatchObject([{ title: 'T', state: 'open' }]);
  expect(await ending((await tool(w)).request('POST', '/tickets', NEW))).toBe('invalid');
});
