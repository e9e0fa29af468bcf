import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse as parseCsv } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { isEnvironment } from '../../src/environments/define.ts';
import pack from '../../src/environments/support-desk/pack.ts';
import { REFUND_LIMITS } from '../../src/environments/support-desk/tools/refunds.ts';

const folder = new URL('../../src/environments/support-desk/', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, folder), 'utf8');
const tools = new Set(pack.tools.map((tool) => tool.name));

describe('the pack', () => {
  it('is an environment with tools of every kind', () => {
    expect(isEnvironment(pack)).toBe(true);
    expect(pack.tools.length).toBeGreaterThanOrEqual(14);
    expect(new Set(pack.tools.map((tool) => tool.effect))).toEqual(new Set(['read', 'write', 'external']));
  });

  it.each(pack.tools.map((tool) => [tool.name, tool] as const))('%s has a schema that says what each argument is', (_, tool) => {
    const schema = z.toJSONSchema(tool.input, { io: 'input' });
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(tool.description.length).toBeGreaterThan(10);
    expect(tool.input.safeParse({ surprise: true }).success).toBe(false);
  });

  it('gives roles only tools that exist, and a senior all', () => {
    for (const { tools: named } of Object.values(pack.permissions?.roles ?? {})) {
      if (named !== '*') expect(named.filter((name) => !tools.has(name))).toEqual([]);
    }
    expect(pack.permissions?.roles['senior']?.tools).toBe('*');
    // The look-up and the wait of the production runtime are anybody's.
    expect(pack.permissions?.roles['agent']?.tools).toHaveLength(pack.tools.filter(({ builtin }) => builtin === undefined).length);
  });

  it('tells the agent the limits that the refund tool holds to', () => {
    const policy = text('policy.md');
    expect(policy).toContain(`agent ${REFUND_LIMITS['agent']} EUR, senior ${REFUND_LIMITS['senior']} EUR, trainee none`);
    expect(REFUND_LIMITS['trainee']).toBe(0);
  });

  it.each([
    [0, false],
    [-1, false],
    [24.5, true],
    [0.1 + 0.2, true],
    [24.505, false],
    ['24.50', false],
    [Number.NaN, false],
  ])('an amount of %s is accepted: %s', (amount, accepted) => {
    const tool = pack.tools.find(({ name }) => name === 'issue_refund');
    expect(tool?.input.safeParse({ order_id: 5007, amount, reason: 'damaged' }).success).toBe(accepted);
  });
});

describe('the seed', () => {
  type Row = { readonly [column: string]: string };
  const csv = (name: string): readonly Row[] => parseCsv(text(`seed/${name}.csv`), { columns: true }) as Row[];

  it('holds what the files of the pack name', () => {
    const files = [...pack.schema, ...pack.seed.map((seed) => ('csv' in seed ? seed.csv : 'json' in seed ? seed.json : seed.sql))];
    expect(files.filter((file) => !existsSync(file instanceof URL ? fileURLToPath(file) : file))).toEqual([]);
  });

  it('adds up: the total of each order is its lines and shipping, and is what was captured', () => {
    const lines = csv('order_lines');
    const payments = csv('payments');
    for (const order of csv('orders')) {
      const goods = lines
        .filter((line) => line['order_id'] === order['id'])
        .reduce((sum, line) => sum + Number(line['quantity']) * Number(line['unit_price']), 0);
      expect(goods + Number(order['shipping_fee']), `order ${order['id']}`).toBeCloseTo(Number(order['total']), 5);
      for (const payment of payments.filter((found) => found['order_id'] === order['id'])) expect(payment['amount']).toBe(order['total']);
    }
  });

  it('has prices without gaps or overlaps that could answer a question twice', () => {
    const prices = csv('price_list');
    for (const sku of new Set(prices.map((price) => price['sku']))) {
      const own = prices.filter((price) => price['sku'] === sku).sort((a, b) => ((a['valid_from'] ?? '') < (b['valid_from'] ?? '') ? -1 : 1));
      own.slice(1).forEach((price, at) => {
        const before = new Date(`${own[at]?.['valid_to']}T00:00:00Z`).getTime();
        expect(new Date(`${price['valid_from']}T00:00:00Z`).getTime() - before, `${sku}`).toBe(24 * 60 * 60 * 1000);
      });
    }
  });
});

describe('the cases', () => {
  interface CaseFile {
    readonly kind: string;
    readonly expect: unknown;
    readonly reference: { readonly steps: readonly { readonly call?: string; readonly with?: { readonly [name: string]: unknown } }[] };
  }
  const cases = readdirSync(new URL('suite/cases/', folder)).map((name) => [name, parseYaml(text(`suite/cases/${name}`)) as CaseFile] as const);
  const tables = new Set([...text('schema.sql').matchAll(/create table (\w+)/g)].map((found) => found[1]));

  it('are of at least 16 kinds', () => {
    expect(new Set(cases.map(([, kase]) => kase.kind)).size).toBeGreaterThanOrEqual(16);
  });

  it.each(cases)('%s names tools and tables that exist', (_, kase) => {
    for (const step of kase.reference.steps) if (step.call !== undefined) expect(tools).toContain(step.call);
    for (const [, table] of JSON.stringify(kase.expect).matchAll(/"row":"(\w+)"/g)) expect(tables).toContain(table);
    for (const [, tool] of JSON.stringify(kase.expect).matchAll(/"(?:never|before|must_call|tool)":"(\w+)"/g)) expect(tools).toContain(tool);
  });

  it('do not show an agent their answers: no agent of the suite knows a case', () => {
    const ids = cases.map(([name]) => name.replace('.yaml', ''));
    const sources = readdirSync(new URL('suite/agents/', folder), { recursive: true }).filter((name) => String(name).endsWith('.ts'));
    expect(sources.length).toBeGreaterThanOrEqual(3);
    for (const name of sources) {
      const source = text(`suite/agents/${String(name)}`);
      expect(ids.filter((id) => source.includes(id))).toEqual([]);
      expect(source).not.toMatch(/['"`\s](?:50\d\d|10[0-4]\d|2[0-3]\d)['"`\s,)]/);
    }
  });
});
