import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentDefinitionError, ToolFailure } from '../../src/environments/define.ts';
import { openFileShop } from '../../src/environments/retail/file-shop.ts';
import { respaced } from '../../src/environments/retail/json-text.ts';
import { amountOf, centsOf } from '../../src/environments/retail/money.ts';
import retail from '../../src/environments/retail/pack.ts';
import { modifyItems } from '../../src/environments/retail/pending-orders.ts';
import { refusal } from '../../src/environments/retail/refusal.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';

const datasets = await requireOrSkip('datasets');

describe('the options of the retail shop', () => {
  let data: string;

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'trialbed-retail-'));
    for (const file of ['users', 'orders', 'products']) await writeFile(join(data, `${file}.json`), '{}');
    await writeFile(join(data, 'policy.md'), 'Be kind.');
    await writeFile(join(data, 'tool_schemas_retail.json'), JSON.stringify([schemaOf('think', 'Thinks aloud.', { thought: 'A thought.' })]));
  });

  afterEach(async () => {
    await rm(data, { recursive: true, force: true });
  });

  it('name the data where it lies, the policy included', () => {
    const environment = retail({ data });
    expect(environment.seed).toEqual([
      { json: join(data, 'users.json'), table: 'users', key: 'user_id' },
      { json: join(data, 'products.json'), table: 'products', key: 'product_id' },
      { json: join(data, 'orders.json'), table: 'orders', key: 'order_id' },
    ]);
    expect(environment.policy).toBe(join(data, 'policy.md'));
  });

  it('give each tool the words of the folder, where it has some', () => {
    const { tools } = retail({ data });
    expect(tools).toHaveLength(16);
    expect(tools.find((tool) => tool.name === 'think')?.description).toBe('Thinks aloud.');
    expect(tools.find((tool) => tool.name === 'calculate')?.description).toBe('Calculates an arithmetic expression.');
  });

  it.each([
    ['no data', () => ({}), /option data/],
    ['a relative folder', () => ({ data: './data' }), /is not absolute; in suite\.yaml a path that starts with/],
    ['a folder that is not there', () => ({ data: join(data, 'nowhere') }), /nowhere does not exist/],
    ['an unknown option', () => ({ data, split: 'test' }), /Unrecognized key: "split"/],
  ])('refuse %s', (_, options, message) => {
    expect(() => retail(options())).toThrow(EnvironmentDefinitionError);
    expect(() => retail(options())).toThrow(message);
  });

  it('refuse a missing file, with the one that may be meant', async () => {
    await rm(join(data, 'policy.md'));
    await writeFile(join(data, 'policy.txt'), '');
    expect(() => retail({ data })).toThrow(/policy\.md does not exist \(there is .*policy\.txt\)/);
  });

  it('refuse tool schemas that are none', async () => {
    await writeFile(join(data, 'tool_schemas_retail.json'), '{"tools": []}');
    expect(() => retail({ data })).toThrow(EnvironmentDefinitionError);
    await writeFile(join(data, 'tool_schemas_retail.json'), '[');
    expect(() => retail({ data })).toThrow(/is not JSON/);
  });
});

describe.skipIf(!datasets.met)(skipTitle('the published tools', datasets), () => {
  it('are all there, each described, and no other', async () => {
    const { tools } = retail({ data: join(DATASETS, 'tau-bench-retail') });
    const schemas = (await import(join(DATASETS, 'tau-bench-retail', 'tool_schemas_retail.json'), { with: { type: 'json' } })).default as readonly {
      function: { name: string; description: string };
    }[];
    const published = Object.fromEntries(schemas.map((schema) => [schema.function.name, schema.function.description]));
    expect(Object.fromEntries(tools.map((tool) => [tool.name, tool.description]))).toEqual(published);
  });
});

describe('money', () => {
  it('is exact where floats are not', () => {
    const spent = [0.1, 0.2].map(centsOf).reduce((sum, cents) => sum + cents, 0);
    expect(amountOf(spent)).toBe(0.3);
    expect(amountOf(centsOf(1043.84) - centsOf(966.69))).toBe(77.15);
    expect(centsOf(1.15)).toBe(115);
    expect(Object.is(amountOf(-0), 0)).toBe(true);
  });
});

describe('JSON text', () => {
  it('keeps the order of members and the digits, and has one space behind each comma and colon', () => {
    expect(respaced('{ "b" : [1.50,\n2],"10":{"a,b: c\\"":null},\t"2":true,"e":[],"o":{} }')).toBe(
      '{"b": [1.50, 2], "10": {"a,b: c\\"": null}, "2": true, "e": [], "o": {}}',
    );
  });
});

describe('a refusal', () => {
  it('has the text of the original, and keeps long ids short', () => {
    expect(refusal('new_item_unavailable', '$&').message).toBe('Error: new item $& not found or available');
    expect(refusal('item_not_found', 'x'.repeat(5_000)).message.length).toBeLessThan(300);
  });
});

describe('items that are exchanged', () => {
  const shop = () =>
    openFileShop({
      users: { u: { address: {}, payment_methods: { paypal_1: { source: 'paypal', id: 'paypal_1' } } } },
      orders: {
        '#W1': {
          order_id: '#W1',
          user_id: 'u',
          status: 'pending',
          items: ['A', 'B'].map((id) => ({ name: 'T-Shirt', product_id: 'p', item_id: id, price: 10, options: { size: id } })),
          payment_history: [{ transaction_type: 'payment', amount: 20, payment_method_id: 'paypal_1' }],
        },
      },
      products: {
        p: { variants: Object.fromEntries(['A', 'B', 'C'].map((id) => [id, { item_id: id, options: { size: id }, available: true, price: 10.1 }])) },
      },
    });

  it('are looked for in the order as it is by then: [A, B] for [B, C] makes [C, B]', async () => {
    const own = shop();
    await modifyItems(own, { order_id: '#W1', item_ids: ['A', 'B'], new_item_ids: ['B', 'C'], payment_method_id: 'paypal_1' });
    const order = await own.order('#W1');
    expect(order?.items.map((item) => [item.item_id, item.options['size'], item.price])).toEqual([
      ['C', 'C', 10.1],
      ['B', 'B', 10],
    ]);
    expect(order?.payment_history.at(-1)).toEqual({ transaction_type: 'payment', amount: 0.2, payment_method_id: 'paypal_1' });
    expect([...own.changes().keys()]).toEqual(['order #W1']);
    own.reset();
    expect(own.changes().size).toBe(0);
  });

  it('are not names that every object has', async () => {
    const own = shop();
    const modify = (newItem: string, method: string) =>
      modifyItems(own, { order_id: '#W1', item_ids: ['A'], new_item_ids: [newItem], payment_method_id: method });
    await expect(modify('constructor', 'paypal_1')).rejects.toThrow(
      new ToolFailure('new_item_unavailable', 'Error: new item constructor not found or available'),
    );
    await expect(modify('C', 'constructor')).rejects.toThrow('Error: payment method not found');
    await expect(modify('C', '__proto__')).rejects.toThrow('Error: payment method not found');
    expect(own.changes().size).toBe(0);
  });
});

function schemaOf(name: string, description: string, properties: { readonly [argument: string]: string }): object {
  const described = Object.fromEntries(Object.entries(properties).map(([argument, words]) => [argument, { type: 'string', description: words }]));
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties: described } } };
}
