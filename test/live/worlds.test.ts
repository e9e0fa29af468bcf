import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { resolveEnvironment } from '../../src/environments/load.ts';
import { EVERY_DISPATCH, type LeaseRequest, type LoadedEnvironment, type World } from '../../src/environments/world.ts';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type ResponseCut, startResponseCut } from './response-cut.ts';
import { startTicketServer, type TicketServer } from './ticket-server.ts';

const tickets = await requireOrSkip('tickets');

describe.skipIf(!tickets.met)(skipTitle('a world with a real ticket system', tickets), () => {
  let server: TicketServer;
  let way: ResponseCut;
  let testbed: Testbed;
  let environment: LoadedEnvironment;
  let world: World;
  beforeAll(async () => {
    server = await startTicketServer();
    way = await startResponseCut(server.address);
    process.env['TRIALBED_LIVE_TICKETS_URL'] = way.address;
    process.env['TRIALBED_LIVE_TICKETS_TOKEN'] = server.token;
    testbed = await startTestbed(inject('services'), { worker: false });
    environment = await testbed.root.loadEnvironment({ file: resolveEnvironment('live-desk', '.'), options: {} });
    world = await made('one');
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await way?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const made = async (owner: string, lease: Partial<LeaseRequest> = {}): Promise<World> => {
    const permission = { user: 'mara', role: 'agent', tools: [], attributes: {} };
    const kase = { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [], permission };
    const { worlds } = testbed.root;
    return worlds.open(await worlds.provision(environment, { owner, workflowId: null, isolation: 'schema', leaseMs: 600_000, kase, ...lease }));
  };
  const as = (operation: string) => {
    const desk = world.live?.tickets?.({ operation: { id: operation, attempt: 1 }, now: new Date(), signal: AbortSignal.timeout(120_000) });
    if (!desk) throw new Error('the world has no real ticket system');
    return desk;
  };
  const proposed = (id: string) => world.ledger.propose({ id, tool: 'comment_ticket', args: {}, idempotencyKey: null, refusal: null });
  const numbers = (answer: JsonObject) => (answer['tickets'] as readonly JsonObject[]).map(({ id }) => id);

  test('its account reads what the start holds, as the fixture would show it', async () => {
    const [start] = (await world.rows('tickets')).filter(({ id }) => id === 210);
    expect(await as('r1').request('GET', '/tickets/210')).toEqual({ ...start, created_at: expect.anything(), updated_at: expect.anything() });
    expect(numbers(await as('r2').request('GET', '/tickets?requester=Sarah.Klein@example.net'))).toEqual([204, 207]);
    expect(numbers(await as('r3').request('GET', '/tickets?status=solved'))).toEqual([223]);
    expect(numbers(await as('r4').request('GET', '/tickets?q=RECEIPT'))).toContain(210);
    const { comments } = await as('r5').request('GET', '/tickets/210/comments?per_page=100');
    expect(comments).toMatchObject([
      { id: 2005, ticket_id: 210, author: 'mara', public: true },
      { id: 2006, ticket_id: 210, author: 'tobias.lang@example.org', public: true },
    ]);
  });

  test('what it writes is seen with its operation; what is refused says so and changes nothing', async () => {
    const made = await as('w1').request('POST', '/tickets', {
      subject: "It's \\ two",
      body: 'Line one\nLine two',
      requester: 'a@example.org',
      assignee: 'warehouse',
    });
    expect(made).toMatchObject({ subject: "It's \\ two", body: 'Line one\nLine two', status: 'open', priority: 'normal', assignee: 'warehouse' });
    await as('w2').request('PATCH', `/tickets/${String(made['id'])}`, { status: 'pending', priority: 'urgent', assignee: 'mara' });
    await as('w3').request('POST', '/tickets/207/comments', { author: 'mara', body: 'Duplicate of 204.', public: false });
    await expect(as('w4').request('GET', '/tickets/999')).rejects.toMatchObject({ code: 'not_found' });
    await expect(as('w5').request('PATCH', '/tickets/207', { status: 'lost' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(as('w6').request('POST', '/tickets/207/comments', { author: 'jonas', body: 'Not me.', public: true })).rejects.toMatchObject({
      code: 'not_permitted',
    });
    // A ticket that is not of its queue.
    const other = await server.ask('POST', '/ticket', { Queue: 'General', Subject: 'Not yours', ContentType: 'text/plain', Content: 'No.' });
    await expect(as('w7').request('GET', `/tickets/${1_000_000 + Number(other['id'])}`)).rejects.toMatchObject({ code: 'not_permitted' });
    const { effects } = await world.observe();
    expect(effects.map((effect) => [effect.operation, effect.kind === 'row' && effect.table, effect.kind === 'row' && effect.change])).toEqual([
      ['w1', 'tickets', 'insert'],
      ['w2', 'tickets', 'update'],
      ['w2', 'tickets', 'update'],
      ['w2', 'tickets', 'update'],
      ['w3', 'ticket_comments', 'insert'],
    ]);
    expect(effects[0]).toMatchObject({ after: { status: 'open', priority: 'normal', assignee: 'warehouse' } });
  });

  test('a public comment reopens a ticket that was solved, which no fixture would have shown', async () => {
    await as('o1').request('POST', '/tickets/223/comments', { author: 'mara', body: 'One more thing.', public: true });
    const { effects } = await world.observe();
    expect(effects.slice(-2)).toMatchObject([
      { table: 'ticket_comments', operation: 'o1' },
      { table: 'tickets', change: 'update', key: { id: 223 }, before: { status: 'solved' }, after: { status: 'open' }, operation: 'o1' },
    ]);
  });

  test('an answer that is lost leaves the operation unknown, and what was done is found at the server', async () => {
    await proposed('l1');
    way.loseAnswerTo('POST /REST/2.0/ticket/');
    await expect(as('l1').request('POST', '/tickets/204/comments', { author: 'mara', body: 'Did this come?', public: false })).rejects.toMatchObject({
      code: 'ticket_outcome_unknown',
    });
    expect(await world.ledger.recover('l1', EVERY_DISPATCH)).toMatchObject({ effects: 1 });
  });

  test('a server that is away refuses without effect; when it is back, nothing is missing and the fence ends the account', async () => {
    const before = (await world.observe()).effects.length;
    await server.stop();
    await expect(as('s1').request('GET', '/tickets/204')).rejects.toThrow();
    await proposed('s2');
    await expect(as('s2').request('POST', '/tickets/204/comments', { author: 'mara', body: 'Lost on the way?', public: false })).rejects.toThrow();
    await server.start();
    // Sent by a way that may have taken it: as long as the account stands it may still come.
    expect(await world.ledger.recover('s2', EVERY_DISPATCH)).toMatchObject({ effects: 0, open: true });
    await world.fence({ drainMs: 100 });
    await expect(as('s3').request('GET', '/tickets/204')).rejects.toMatchObject({ code: 'not_permitted' });
    const after = await world.ledger.recover('s2', EVERY_DISPATCH);
    expect(after.effects).toBe(0);
    expect(after.open).toBeUndefined();
    expect((await world.observe()).effects).toHaveLength(before);
  });

  test('what a killed night left is cleaned up by the next sweep, and nothing else', async () => {
    const left = await made('two', { leaseMs: 1 });
    const spaces = await testbed.root.store.liveSpaces.over(new Date(8.64e15), []);
    expect(spaces.map(({ owner }) => owner).toSorted()).toEqual(['one', 'two']);
    await testbed.root.worlds.sweep({});
    expect((await testbed.root.store.liveSpaces.over(new Date(8.64e15), [])).map(({ owner }) => owner)).toEqual(['one']);
    const name = spaces.find(({ owner }) => owner === 'two')?.name;
    expect(await server.ask('GET', `/queue/${String(name)}`)).toMatchObject({ Disabled: '1' });
    expect(await server.ask('GET', '/queue/General')).toMatchObject({ Disabled: '0' });
    await expect(left.observe()).rejects.toThrow();
    await world.release();
    expect(await testbed.root.store.liveSpaces.over(new Date(8.64e15), [])).toEqual([]);
  });
});
