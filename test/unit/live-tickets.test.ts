import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '../../src/infra/ports.ts';
import type { Environment } from '../../src/environments/define.ts';
import { servicesOf } from '../../src/environments/facts.ts';
import { liveProblem } from '../../src/environments/live.ts';
import liveDesk from '../../src/environments/live-desk/pack.ts';
import type { LiveRequest } from '../../src/live/live-service.ts';
import { attribute, contentDigest, type Done, type Sent } from '../../src/live/tickets/attribution.ts';
import { effectsOf, type Seen } from '../../src/live/tickets/effects.ts';
import type { Start } from '../../src/live/tickets/kept.ts';
import { quoted } from '../../src/live/tickets/reader.ts';
import type { TicketRecord, Transaction } from '../../src/live/tickets/records.ts';
import { rest } from '../../src/live/tickets/rest.ts';
import { numberHere, numberThere, priorityHere, priorityThere, statusHere, statusThere } from '../../src/live/tickets/words.ts';

describe('which operation did what at a real ticket system', () => {
  const comment: Sent = { kind: 'comment', ticket: 7, public: false, content: 'same' };
  const request = (number: number, operation: string, sent: Sent, answered: LiveRequest['answered']): LiveRequest => ({
    ...{ number, operation, attempt: 1, sent: { ...sent }, answered },
  });
  const done = (transaction: number): Done => ({ transaction, ...comment });

  test('is the one that asked for exactly this: the answered one first, a refused one last', () => {
    const requests = [request(1, 'a', comment, null), request(2, 'b', comment, {}), request(3, 'c', comment, { refused: 'invalid' })];
    expect([...attribute([done(50)], requests).operations.values()]).toEqual(['b']);
    expect([...attribute([done(50), done(51), done(52)], requests).operations.values()]).toEqual(['b', 'a', 'c']);
    const elsewhere: Done = { transaction: 53, kind: 'comment', ticket: 8, public: false, content: 'same' };
    expect(attribute([elsewhere], requests).operations.size).toBe(0);
  });

  test('cannot be known of two requests without an answer of which one was done', () => {
    const requests = [request(1, 'a', comment, null), request(2, 'b', comment, null)];
    expect([...attribute([done(50)], requests).open]).toEqual(['a', 'b']);
    expect([...attribute([], requests).open]).toEqual([]);
    expect([...attribute([done(50), done(51)], requests).open]).toEqual([]);
  });

  test('tells two equal tickets apart by the numbers that were answered', () => {
    const create: Sent = { kind: 'create', content: 'same' };
    const requests = [request(1, 'a', create, { ticket: 12 }), request(2, 'b', create, { ticket: 11 })];
    const tickets: Done[] = [11, 12].map((ticket) => ({ transaction: ticket * 10, kind: 'create', ticket, content: 'same' }));
    expect([...attribute(tickets, requests).operations]).toEqual([
      [110, 'b'],
      [120, 'a'],
    ]);
  });

  test('takes a request that changes several fields apart', () => {
    const change: Sent = { kind: 'change', ticket: 7, fields: { Status: 's', Priority: 'p' } };
    const fields: Done[] = (['Priority', 'Status'] as const).map((field, index) => ({
      ...{ transaction: 60 + index, kind: 'change', ticket: 7, field, content: field === 'Status' ? 's' : 'p' },
    }));
    expect([...attribute(fields, [request(1, 'a', change, {})]).operations.values()]).toEqual(['a', 'a']);
  });
});

describe('what a real ticket system shows', () => {
  const first = { id: 210, subject: 'Receipt', body: 'Please.', requester: 't@example.org', status: 'solved', priority: 'normal', assignee: null };
  const start: Start = {
    ...{ tickets: new Map([[5, first]]), comments: new Map(), here: (ticket) => (ticket === 5 ? 210 : numberHere(ticket)), there: () => null },
    kept: {
      version: 'v',
      tables: { tickets: 'tickets', comments: 'notes' },
      assignee: 2,
      tickets: [[210, 5]],
      comments: [],
      after: 10,
      at: '2026-12-01T00:00:00Z',
    },
  };
  const viewer = { start, shiftMs: -1000, account: 'trialbed-x-1', actsFor: 'mara' };
  const by = (id: number, Type: string, more: Partial<Transaction> = {}): Transaction => ({
    ...{ id, Type, Field: '', OldValue: '', NewValue: '', Creator: { id: viewer.account }, Created: '2026-12-01T00:00:09Z', ObjectId: 5 },
    ...more,
  });
  const seen = (transactions: readonly Transaction[], tickets: readonly TicketRecord[] = []): Seen => ({
    ...{ transactions, contents: new Map([[20, 'Hello']]), tickets: new Map(tickets.map((record) => [record.id, record])) },
  });

  test('are effects in the words of the contract, the consequences of its own rules with the operation before them', () => {
    const status = by(21, 'Status', { Field: 'Status', OldValue: 'resolved', NewValue: 'open', Creator: { id: 'RT_System' } });
    const mail = by(22, 'EmailRecord', { Creator: { id: 'RT_System' } });
    const told = by(23, 'Set', { Field: 'Told' });
    const sent: LiveRequest = { number: 1, operation: 'op-1', attempt: 1, sent: {}, answered: null };
    const noted = { kind: 'comment', ticket: 5, public: true, content: effectsDigest('Hello') };
    const { effects } = effectsOf(viewer, seen([by(20, 'Correspond'), status, mail, told]), [{ ...sent, sent: noted }]);
    expect(effects).toMatchObject([
      {
        seq: 1,
        table: 'notes',
        change: 'insert',
        operation: 'op-1',
        at: '2026-12-01T00:00:08.000Z',
        after: { ticket_id: 210, author: 'mara', body: 'Hello', public: true },
      },
      { seq: 2, table: 'tickets', change: 'update', operation: 'op-1', key: { id: 210 }, before: { status: 'solved' }, after: { status: 'open' } },
    ]);
  });

  test('hold what the contract has no word for, and what somebody else did', () => {
    const { effects, tables } = effectsOf(
      viewer,
      seen([by(21, 'AddLink', { Field: 'DependsOn', NewValue: '6' }), by(22, 'Status', { Field: 'Status', NewValue: 'open', Creator: { id: 'root' } })]),
      [],
    );
    expect(effects).toMatchObject([
      { table: 'ticket_history', operation: null, after: { ticket_id: 210, type: 'AddLink', field: 'DependsOn' } },
      { table: 'tickets', operation: null, after: { status: 'open' } },
    ]);
    expect(Object.keys(tables)).toEqual(['ticket_history']);
  });

  test('of a new ticket that was changed is what it was at first', () => {
    const now: TicketRecord = {
      ...{
        id: 9,
        Subject: 'New',
        Status: 'rejected',
        Priority: 100,
        Requestor: [{ id: 'a@example.org' }],
        CustomFields: [{ name: 'Assignee', values: ['b'] }],
      },
      ...{ Created: '2026-12-01T00:00:09Z', LastUpdated: '2026-12-01T00:00:19Z' },
    };
    const changes = [
      by(20, 'Create', { ObjectId: 9 }),
      by(21, 'Set', { ObjectId: 9, Field: 'Priority', OldValue: '50', NewValue: '100' }),
      by(22, 'CustomField', { ObjectId: 9, Field: '2', OldValue: 'a', NewValue: 'b' }),
      by(23, 'Status', { ObjectId: 9, Field: 'Status', OldValue: 'open', NewValue: 'rejected' }),
    ];
    const { effects } = effectsOf(viewer, seen(changes, [now]), []);
    expect(effects[0]).toMatchObject({ change: 'insert', key: { id: 1_000_009 }, after: { status: 'open', priority: 'normal', assignee: 'a', body: 'Hello' } });
    expect(effects.slice(1)).toMatchObject([
      { after: { priority: 'urgent' } },
      { before: { assignee: 'a' }, after: { assignee: 'b' } },
      { after: { status: 'closed' } },
    ]);
  });

  test('reads back as it was written', () => {
    for (const status of ['open', 'pending', 'solved', 'closed']) expect(statusHere(statusThere(status) ?? '')).toBe(status);
    for (const priority of ['low', 'normal', 'high', 'urgent']) expect(priorityHere(priorityThere(priority) ?? -1)).toBe(priority);
    expect([statusThere('lost'), statusHere('new'), statusHere('odd')]).toEqual([null, 'open', 'odd']);
    expect([numberThere(numberHere(4)), numberThere(210)]).toEqual([4, null]);
    expect(quoted("O'Brien\\")).toBe("'O\\'Brien\\\\'");
  });
});

describe('an answer of a real ticket system', () => {
  const server = createServer((request, response) => {
    const [, status = '200', body = ''] = /^\/REST\/2\.0\/(\d+)\/(.*)$/.exec(decodeURIComponent(request.url ?? '')) ?? [];
    if (status === '999') return request.socket.destroy();
    response.writeHead(Number(status), { 'content-type': 'application/json', ...(status === '429' && { 'retry-after': '7' }) });
    return response.end(body === 'large' ? 'x'.repeat(5 * 1024 * 1024) : body);
  });
  let address = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());
  const ask = (method: 'GET' | 'POST', path: string) =>
    rest({ address, authorization: 'token x' }, { method, path: `/${encodeURI(path)}` }, z.object({ id: z.number() })).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );

  test.each([
    ['GET', '200/{"id":1}', 'done'],
    ['GET', '200/["Permission Denied"]', 'not_permitted'],
    ['GET', '400/{"message":"Permission Denied"}', 'not_permitted'],
    ['POST', '403/{"message":"Forbidden"}', 'not_permitted'],
    ['POST', '404/{"message":"Not Found"}', 'not_found'],
    ['POST', '400/{"message":"JSON parse error"}', 'invalid'],
    ['POST', '429/', 'rate_limited'],
    ['GET', '503/', 'unavailable'],
    ['POST', '503/', 'ticket_outcome_unknown'],
    ['POST', '500/', 'ticket_outcome_unknown'],
    ['POST', '200/{"no":"id"}', 'ticket_outcome_unknown'],
    ['POST', '200/large', 'ticket_outcome_unknown'],
    ['POST', '999/', 'ticket_outcome_unknown'],
  ] as const)('%s %s is %s', async (method, path, expected) => {
    expect(await ask(method, path)).toBe(expected);
  });

  test('never comes where there is no connection: nothing was sent', async () => {
    const nowhere = { address: `http://127.0.0.1:${await freePort()}`, authorization: 'token x' };
    await expect(rest(nowhere, { method: 'POST', path: '/ticket' }, z.object({}))).rejects.toMatchObject({ code: 'live_unreachable' });
  });
});

describe('an environment with a real ticket system', () => {
  const live = { server: 'request-tracker', address: { variable: 'DESK_URL' }, secret: { variable: 'DESK_TOKEN' } } as const;
  const environment = (binding: string | undefined, changed: object = {}) => ({
    ...(binding && { binding }),
    services: { tickets: { tickets: 'tickets', comments: 'notes', live: { ...live, ...changed } } },
  });

  test('is bound to a sandbox, by an address and the name of a variable', () => {
    expect(liveProblem(environment('sandbox'))).toBeNull();
    expect(liveProblem(environment('sandbox', { address: 'https://desk.example.com' }))).toBeNull();
    expect(liveProblem(environment('production'))).toContain('needs binding "sandbox"');
    expect(liveProblem(environment(undefined))).toContain('needs binding "sandbox"');
    expect(liveProblem(environment('sandbox', { server: 'zendesk' }))).toContain('expected "request-tracker"');
    expect(liveProblem(environment('sandbox', { address: 'https://me:secret@desk.example.com' }))).toContain('holds no password');
    expect(liveProblem(environment('sandbox', { secret: 'hunter2' }))).toContain('the variable that holds the secret');
  });
});

function effectsDigest(text: string): string {
  return contentDigest('trialbed-x-1', [text]);
}

test('a report says of each service of live-desk whether it is real', () => {
  const kinds = (environment: Environment) => servicesOf(environment).map(({ name, kind }) => `${name}: ${kind}`);
  expect(kinds(liveDesk())).toEqual(['database: fixture', 'inbox: fixture', 'tickets: live']);
  expect(kinds(liveDesk({ mail: 'live' }))).toEqual(['database: fixture', 'inbox: live', 'tickets: live']);
});
