import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { type Mall, openMall, type ShopWorld } from './retail-world.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'tau-bench-retail');

/** An order as the shop shows one, as far as these tests look at it. */
interface Shown extends JsonObject {
  readonly status: string;
  readonly payment_history: readonly JsonObject[];
  readonly items: readonly (JsonObject & { readonly item_id: string })[];
}

const ADDRESS = { address1: '1 Road', address2: '', city: 'Rome', state: 'NY', country: 'USA', zip: '13440' };
/** Paid with a gift card that holds 49. */
const PENDING = '#W6779827';
const PENDING_OWNER = 'ethan_lopez_6291';
const DELIVERED = '#W2378156';
const PROCESSED = '#W2611340';

describe.skipIf(!datasets.met)(skipTitle('tools of the retail shop', datasets), () => {
  let mall: Mall;

  beforeAll(async () => {
    mall = await openMall(inject('services').postgresUrl, data);
  });

  afterAll(async () => {
    await mall?.[Symbol.asyncDispose]();
  });

  it('are the 16 published ones, of which 7 write', () => {
    const schemas = JSON.parse(readFileSync(join(data, 'tool_schemas_retail.json'), 'utf8')) as {
      function: { name: string; parameters: { required: string[] } };
    }[];
    const published = schemas.map(({ function: { name, parameters } }) => [name, parameters.required.toSorted()]);
    const ours = mall.environment.toolSchemas.map(({ name, inputSchema }) => [name, ((inputSchema['required'] ?? []) as readonly string[]).toSorted()]);
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(published));
    expect(mall.environment.toolSchemas.filter((tool) => tool.effect === 'write')).toHaveLength(7);
    expect(mall.environment.policy).toBe(readFileSync(join(data, 'policy.md'), 'utf8'));
  });

  describe('reply, changing nothing', () => {
    let world: ShopWorld;

    beforeAll(async () => {
      world = await mall.open();
    });

    afterAll(async () => {
      expect(await world.effects(), 'none of these calls changes a row').toEqual([]);
      await world[Symbol.asyncDispose]();
    });

    const items = (order: string, from: readonly string[], to: readonly string[], method: string) => ({
      order_id: order,
      item_ids: from,
      new_item_ids: to,
      payment_method_id: method,
    });
    const returned = (order: string, from: readonly string[], method: string) => ({ order_id: order, item_ids: from, payment_method_id: method });

    it.each<[string, JsonObject, string]>([
      ['find_user_id_by_email', { email: 'Noah.Brown7922@EXAMPLE.com' }, 'noah_brown_6181'],
      ['find_user_id_by_email', { email: 'nobody@example.com' }, 'Error: user not found'],
      ['find_user_id_by_name_zip', { first_name: 'yusuf', last_name: 'ROSSI', zip: '19122' }, 'yusuf_rossi_9620'],
      ['find_user_id_by_name_zip', { first_name: 'Yusuf', last_name: 'Rossi', zip: '19123' }, 'Error: user not found'],
      ['find_user_id_by_name_zip', { first_name: 'Y%', last_name: 'Rossi', zip: '19122' }, 'Error: user not found'],
      ['get_user_details', { user_id: 'Noah_brown_6181' }, 'Error: user not found'],
      ['get_order_details', { order_id: 'W2378156' }, 'Error: order not found'],
      ['get_order_details', { order_id: '#w2378156' }, 'Error: order not found'],
      ['get_product_details', { product_id: '1151293680' }, 'Error: product not found'],
      ['calculate', { expression: '155.33 - 147.05 + 268.77 - 235.13' }, '41.92'],
      ['calculate', { expression: '1,000 + 1' }, 'Error: invalid characters in expression'],
      ['calculate', { expression: '1/0' }, 'Error: division by zero'],
      ['think', { thought: 'Who is this?' }, ''],
      ['transfer_to_human_agents', { summary: 'Wants a poem.' }, 'Transfer successful'],

      ['cancel_pending_order', { order_id: '#W0000000', reason: 'bored' }, 'Error: order not found'],
      ['cancel_pending_order', { order_id: PROCESSED, reason: 'bored' }, 'Error: non-pending order cannot be cancelled'],
      ['cancel_pending_order', { order_id: PENDING, reason: 'No longer needed' }, 'Error: invalid reason'],

      ['modify_pending_order_address', { order_id: 'W1', ...ADDRESS }, 'Error: order not found'],
      ['modify_pending_order_address', { order_id: DELIVERED, ...ADDRESS }, 'Error: non-pending order cannot be modified'],
      ['modify_user_address', { user_id: 'nobody', ...ADDRESS }, 'Error: user not found'],

      ['modify_pending_order_payment', { order_id: 'W1', payment_method_id: 'x' }, 'Error: order not found'],
      ['modify_pending_order_payment', { order_id: DELIVERED, payment_method_id: 'x' }, 'Error: non-pending order cannot be modified'],
      ['modify_pending_order_payment', { order_id: PENDING, payment_method_id: 'credit_card_9513926' }, 'Error: payment method not found'],
      [
        'modify_pending_order_payment',
        { order_id: PENDING, payment_method_id: 'gift_card_7219486' },
        'Error: the new payment method should be different from the current one',
      ],
      [
        'modify_pending_order_payment',
        { order_id: '#W6426438', payment_method_id: 'gift_card_7219486' },
        'Error: insufficient gift card balance to pay for the order',
      ],

      ['modify_pending_order_items', items('W1', [], [], 'x'), 'Error: order not found'],
      ['modify_pending_order_items', items(DELIVERED, [], [], 'x'), 'Error: non-pending order cannot be modified'],
      ['modify_pending_order_items', items(PENDING, ['7896397433', '7896397433'], [], 'x'), 'Error: 7896397433 not found'],
      ['modify_pending_order_items', items(PENDING, ['7896397433', '1', '2'], [], 'x'), 'Error: 1 not found'],
      ['modify_pending_order_items', items(PENDING, ['7896397433'], [], 'x'), 'Error: the number of items to be exchanged should match'],
      ['modify_pending_order_items', items(PENDING, ['7896397433'], ['3379843752'], 'x'), 'Error: new item 3379843752 not found or available'],
      ['modify_pending_order_items', items(PENDING, ['7896397433'], ['2444431651'], 'x'), 'Error: payment method not found'],
      [
        'modify_pending_order_items',
        items(PENDING, ['7896397433'], ['2444431651'], 'gift_card_7219486'),
        'Error: insufficient gift card balance to pay for the new item',
      ],

      ['exchange_delivered_order_items', items('W1', [], [], 'x'), 'Error: order not found'],
      ['exchange_delivered_order_items', items(PENDING, [], [], 'x'), 'Error: non-delivered order cannot be exchanged'],
      ['exchange_delivered_order_items', items(DELIVERED, ['9'], [], 'x'), 'Error: 9 not found'],
      ['exchange_delivered_order_items', items(DELIVERED, ['1151293680'], [], 'x'), 'Error: the number of items to be exchanged should match'],
      // A variant of the right product that is sold out.
      ['exchange_delivered_order_items', items(DELIVERED, ['1151293680'], ['9690244451'], 'x'), 'Error: new item 9690244451 not found or available'],
      ['exchange_delivered_order_items', items(DELIVERED, ['1151293680'], ['7706410293'], 'x'), 'Error: payment method not found'],
      [
        'exchange_delivered_order_items',
        items('#W8032761', ['8484921793'], ['7706410293'], 'gift_card_2977513'),
        'Error: insufficient gift card balance to pay for the price difference',
      ],

      ['return_delivered_order_items', returned('W1', [], 'x'), 'Error: order not found'],
      ['return_delivered_order_items', returned(PENDING, [], 'x'), 'Error: non-delivered order cannot be returned'],
      ['return_delivered_order_items', returned(DELIVERED, ['9'], 'gift_card_7219486'), 'Error: payment method not found'],
      ['return_delivered_order_items', returned(DELIVERED, ['1151293680', '1151293680'], 'credit_card_9513926'), 'Error: some item not found'],
    ])('%s %j: %s', async (tool, args, reply) => {
      expect(await world.call(tool, args)).toBe(reply);
    });

    it('with the whole object, its members in the order of the file', async () => {
      const products = JSON.parse(await world.call('list_all_product_types', {})) as JsonObject;
      expect(Object.keys(products)).toHaveLength(50);
      expect(Object.keys(products)).toEqual(Object.keys(products).toSorted());
      for (const [tool, argument, file, id] of [
        ['get_user_details', 'user_id', 'users', 'noah_brown_6181'],
        ['get_order_details', 'order_id', 'orders', DELIVERED],
        ['get_product_details', 'product_id', 'products', '1656367028'],
      ] as const) {
        const text = await world.call(tool, { [argument]: id });
        const source = readFileSync(join(data, `${file}.json`), 'utf8');
        expect(JSON.parse(text)).toEqual((JSON.parse(source) as JsonObject)[id]);
        // Numbers as names of members would come in another order if anything on the way had parsed them.
        const order = [...text.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? '');
        const from = source.slice(source.indexOf(`"${id}": {`) + id.length + 3);
        expect([...from.matchAll(/"([^"]+)"/g)].slice(0, order.length).map((match) => match[1])).toEqual(order);
      }
    });
  });

  const changed = async (world: ShopWorld) => (await world.effects()).map(({ table, key }) => `${table} ${Object.values(key)[0]}`);
  const shown = async (world: ShopWorld, tool: string, args: JsonObject) => JSON.parse(await world.call(tool, args)) as Shown;
  const balance = async (world: ShopWorld, user: string, card: string) => {
    const { payment_methods: methods } = JSON.parse(await world.call('get_user_details', { user_id: user })) as {
      payment_methods: { [id: string]: { balance?: number } };
    };
    return methods[card]?.balance;
  };
  const entry = (kind: string, amount: number, method: string) => ({ transaction_type: kind, amount, payment_method_id: method });

  it('cancel: the payment comes back to the gift card', async () => {
    await using world = await mall.open();
    const args = { order_id: PENDING, reason: 'no longer needed' };
    const order = await shown(world, 'cancel_pending_order', args);
    expect(order).toMatchObject({ status: 'cancelled', cancel_reason: 'no longer needed' });
    expect(order.payment_history).toEqual([entry('payment', 4079.45, 'gift_card_7219486'), entry('refund', 4079.45, 'gift_card_7219486')]);
    expect(await balance(world, PENDING_OWNER, 'gift_card_7219486')).toBe(4128.45);
    expect(await world.call('cancel_pending_order', args)).toBe('Error: non-pending order cannot be cancelled');
    expect((await changed(world)).sort()).toEqual([`orders ${PENDING}`, `users ${PENDING_OWNER}`]);
  });

  it('change of payment: once only, and a later cancellation refunds each entry', async () => {
    await using world = await mall.open();
    const args = { order_id: PENDING, payment_method_id: 'credit_card_9789590' };
    const order = await shown(world, 'modify_pending_order_payment', args);
    expect(order.status).toBe('pending');
    expect(order.payment_history).toEqual([
      entry('payment', 4079.45, 'gift_card_7219486'),
      entry('payment', 4079.45, 'credit_card_9789590'),
      entry('refund', 4079.45, 'gift_card_7219486'),
    ]);
    expect(await balance(world, PENDING_OWNER, 'gift_card_7219486')).toBe(4128.45);
    expect(await world.call('modify_pending_order_payment', args)).toBe('Error: there should be exactly one payment for a pending order');
    const cancelled = await shown(world, 'cancel_pending_order', { order_id: PENDING, reason: 'ordered by mistake' });
    expect(cancelled.payment_history.slice(3)).toEqual(order.payment_history.map((paid) => ({ ...paid, transaction_type: 'refund' })));
    expect(await balance(world, PENDING_OWNER, 'gift_card_7219486')).toBe(12287.35);
  });

  it('change of payment to a gift card takes the amount from it', async () => {
    await using world = await mall.open();
    await shown(world, 'modify_pending_order_payment', { order_id: '#W1080318', payment_method_id: 'gift_card_3749819' });
    const { user_id: owner } = await shown(world, 'get_order_details', { order_id: '#W1080318' });
    expect(await balance(world, String(owner), 'gift_card_3749819')).toBe(37.57);
  });

  it('address of an order and of a user: the same call again succeeds', async () => {
    await using world = await mall.open();
    const first = await world.call('modify_pending_order_address', { order_id: PENDING, ...ADDRESS });
    expect(JSON.parse(first)).toMatchObject({ address: ADDRESS, status: 'pending' });
    expect(await world.call('modify_pending_order_address', { order_id: PENDING, ...ADDRESS })).toBe(first);
    const user = await world.call('modify_user_address', { user_id: PENDING_OWNER, ...ADDRESS });
    expect(Object.keys(JSON.parse(user) as JsonObject)).toEqual(['name', 'address', 'email', 'payment_methods', 'orders']);
    expect(await world.call('modify_user_address', { user_id: PENDING_OWNER, ...ADDRESS })).toBe(user);
  });

  it('items of a pending order: a pair may run into the one before', async () => {
    await using world = await mall.open();
    const order = await shown(world, 'get_order_details', { order_id: '#W5918442' });
    const [a, b] = ['1586641416', '6117189161'];
    expect(order.items.map((item) => item.item_id).slice(2)).toEqual([a, b]);
    const { variants } = JSON.parse(await world.call('get_product_details', { product_id: '3377618313' })) as {
      variants: { [id: string]: { available: boolean } };
    };
    const c = Object.keys(variants).find((id) => variants[id]?.available && id !== a && id !== b) ?? '';
    expect(variants[b as string]?.available).toBe(true);
    const args = { order_id: '#W5918442', item_ids: [a, b], new_item_ids: [b, c], payment_method_id: 'credit_card_5051208' };
    const modified = await shown(world, 'modify_pending_order_items', args as JsonObject);
    expect(modified.status).toBe('pending (item modified)');
    expect(modified.items.map((item) => item.item_id).slice(2)).toEqual([c, b]);
    expect(await world.call('modify_pending_order_items', args as JsonObject)).toBe('Error: non-pending order cannot be modified');
    expect(await world.call('cancel_pending_order', { order_id: '#W5918442', reason: 'no longer needed' })).toBe(
      'Error: non-pending order cannot be cancelled',
    );
  });

  it('exchange of delivered items: asked for once, the pairing is lost', async () => {
    await using world = await mall.open();
    const args = {
      order_id: DELIVERED,
      item_ids: ['4983901480', '1151293680'],
      new_item_ids: ['7747408585', '7706410293'],
      payment_method_id: 'credit_card_9513926',
    };
    const before = await shown(world, 'get_order_details', { order_id: DELIVERED });
    expect(await shown(world, 'exchange_delivered_order_items', args)).toEqual({
      ...before,
      status: 'exchange requested',
      exchange_items: ['1151293680', '4983901480'],
      exchange_new_items: ['7706410293', '7747408585'],
      exchange_payment_method_id: 'credit_card_9513926',
      exchange_price_difference: -16.63,
    });
    expect(await world.call('exchange_delivered_order_items', args)).toBe('Error: non-delivered order cannot be exchanged');
    expect(await world.call('return_delivered_order_items', { order_id: DELIVERED, item_ids: [], payment_method_id: 'credit_card_9513926' })).toBe(
      'Error: non-delivered order cannot be returned',
    );
  });

  it('return of delivered items: an item that is there twice may be returned twice', async () => {
    await using world = await mall.open();
    const args = { order_id: '#W4316152', item_ids: ['7292993796', '7292993796'], payment_method_id: 'gift_card_7245904' };
    const before = await shown(world, 'get_order_details', { order_id: '#W4316152' });
    expect(await shown(world, 'return_delivered_order_items', args)).toEqual({
      ...before,
      status: 'return requested',
      return_items: ['7292993796', '7292993796'],
      return_payment_method_id: 'gift_card_7245904',
    });
  });

  it('empty lists are asked for and done', async () => {
    await using world = await mall.open();
    const exchange = { order_id: DELIVERED, item_ids: [], new_item_ids: [], payment_method_id: 'credit_card_9513926' };
    expect(await shown(world, 'exchange_delivered_order_items', exchange)).toMatchObject({ exchange_items: [], exchange_price_difference: 0 });
  });
});
