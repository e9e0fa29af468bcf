import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Case } from '../../src/domain/case.ts';
import { type Bench, openBench } from './support-desk-bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench(inject('services').postgresUrl);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe('what the systems refuse', () => {
  const LAMP = { order_id: 5007, line_id: 8010, amount: 39.9, reason: 'damaged' };

  test.each([
    ['more than the line', 'issue_refund', { ...LAMP, amount: 39.91 }, 'exceeds_line'],
    ['more than was paid', 'issue_refund', { order_id: 5007, amount: 84.61, reason: 'lost' }, 'exceeds_paid'],
    ['a line of another order', 'issue_refund', { ...LAMP, line_id: 8019 }, 'not_found'],
    ['an unpaid order', 'issue_refund', { order_id: 5093, amount: 10, reason: 'goodwill' }, 'not_paid'],
    ['more than the limit', 'issue_refund', { order_id: 5012, amount: 100.01, reason: 'damaged' }, 'approval_required'],
    ['an approval of another order', 'issue_refund', { order_id: 5012, amount: 220, reason: 'damaged', approval_id: 701 }, 'approval_mismatch'],
    ['an approval of another amount', 'issue_refund', { order_id: 5018, amount: 219, reason: 'damaged', approval_id: 701 }, 'approval_mismatch'],
    ['an approval that was refused', 'issue_refund', { order_id: 5060, amount: 220, reason: 'goodwill', approval_id: 702 }, 'approval_mismatch'],
    ['to cancel what is shipped', 'cancel_order', { order_id: 5077, reason: 'customer_request' }, 'already_shipped'],
    ['to redirect what is delivered', 'update_order_address', { order_id: 5007, street: 'Dlouha 33', postcode: '11000', city: 'Prague' }, 'already_shipped'],
    ['the past', 'schedule_follow_up', { customer_id: 1001, kind: 'call', due_at: '2026-03-02T09:29:59+01:00', note: 'Call back.' }, 'in_the_past'],
    ['a customer who is not there', 'get_customer', { customer_id: 9999 }, 'not_found'],
    ['a ticket that is not there', 'comment_ticket', { ticket_id: 999, body: 'Hello', public: false }, 'not_found'],
  ])('%s', async (_, tool, args, code) => {
    await using desk = await bench.open();
    expect(await desk.call(tool, args)).toMatchObject({ state: 'failed', problem: { code } });
    expect((await desk.record()).effects).toEqual([]);
  });

  test('the limit of an order in two parts, and the same refund again', async () => {
    await using desk = await bench.open();
    expect((await desk.call('issue_refund', { order_id: 5070, amount: 79.6, reason: 'damaged', line_id: 8117 })).state).toBe('committed');
    expect((await desk.call('issue_refund', { order_id: 5070, amount: 20.41, reason: 'goodwill' })).problem?.code).toBe('approval_required');
    expect((await desk.call('issue_refund', { order_id: 5070, amount: 20.4, reason: 'goodwill' })).state).toBe('committed');
    expect((await desk.call('issue_refund', { order_id: 5070, amount: 79.6, reason: 'damaged', line_id: 8117 })).problem?.code).toBe('exceeds_line');
    expect((await desk.record()).effects).toHaveLength(2);
  });

  test('an approval twice', async () => {
    await using desk = await bench.open();
    const refund = { order_id: 5018, amount: 220, reason: 'damaged', approval_id: 701 };
    expect((await desk.call('issue_refund', refund)).state).toBe('committed');
    expect((await desk.call('issue_refund', refund)).problem?.code).toBe('exceeds_paid');
  });

  test('without an idempotency key the same approval request is a second one', async () => {
    await using desk = await bench.open();
    const request = { order_id: 5012, amount: 349, reason: 'damaged', justification: 'Ticket 216, the pole snapped.' };
    const [first, second] = [await desk.call('request_approval', request), await desk.call('request_approval', request)];
    expect([first.state, second.state]).toEqual(['committed', 'committed']);
    expect(first.result).not.toEqual(second.result);
  });

  test.each([
    ['a trainee to refund', 'trainee', {}, 'issue_refund', LAMP],
    ['a reader to write a mail', 'readonly', {}, 'send_mail', { to: ['anna.weber@example.org'], subject: 'Hello', text: 'Hello Anna, ...' }],
    ['a change of address without a verified identity', 'agent', {}, 'update_customer_contact', { customer_id: 1012, email: 'lars@example.net' }],
    ['the same, by a senior who says yes', 'senior', { identity_verified: 'yes' }, 'update_customer_contact', { customer_id: 1012, email: 'lars@example.net' }],
  ] as const)('%s', async (_, role, attributes, tool, args) => {
    await using desk = await bench.open({ permission: { user: 'sam', role, tools: [], attributes } satisfies Case['permission'] });
    expect(await desk.call(tool, args)).toMatchObject({ state: 'denied', problem: { code: 'not_permitted' } });
    expect((await desk.record()).effects).toEqual([]);
  });
});

describe('searches', () => {
  test.each([
    ['two customers of one name', 'search_customers', { query: 'anna weber' }, 'customers', [1001, 1002]],
    ['similar addresses', 'search_customers', { query: 'j.m' }, 'customers', [1007, 1008, 1037]],
    ['a wildcard is a plain character', 'search_customers', { query: '%%' }, 'customers', []],
    ['articles, best first', 'search_knowledge', { query: 'return used sleeping bag' }, 'articles', ['KB-03']],
    ['tickets of a requester', 'search_tickets', { requester: 'sarah.klein@example.net' }, 'tickets', [204, 207]],
    ['orders of a day in local time', 'search_orders', { placed_from: '2026-02-28', placed_to: '2026-02-28', customer_id: 1009 }, 'orders', [5086]],
  ])('%s', async (_, tool, args, list, ids) => {
    await using desk = await bench.open();
    const { result } = await desk.call(tool, args);
    expect((result as { [name: string]: readonly { id: unknown }[] })[list]?.map(({ id }) => id)).toEqual(ids);
  });

  test('a price is that of the day', async () => {
    await using desk = await bench.open({ clock: '2026-01-31T23:30:00+01:00' });
    const priceOf = async (args: { on?: string }) => (await desk.call('get_price', { product: 'Fjell 2', ...args })).result;
    expect(await priceOf({})).toMatchObject({ prices: [{ sku: 'TEN-FJ2', price: 329, valid_to: '2026-01-31' }] });
    expect(await priceOf({ on: '2026-02-01' })).toMatchObject({ prices: [{ price: 349, valid_to: null }] });
  });
});
