import { z } from 'zod';
import { defineTool, type Tool } from '../define.ts';
import { calculate } from './calculate.ts';
import { REFUSALS, refusal, type RefusalCode } from './refusal.ts';
import { orderText, productText, productTypesText, userText } from './views.ts';

const read = { result: z.string(), effect: 'read', failures: REFUSALS } as const;

/** Tools that change nothing. Each returns text: a bare value, or JSON in the spelling of the original. */
export const READ_TOOLS: readonly Tool[] = [
  defineTool({
    ...read,
    name: 'find_user_id_by_email',
    description: 'Finds a user by e-mail address, letter case aside.',
    input: z.strictObject({ email: z.string() }),
    async run({ email }, { db }) {
      const rows = await db.query<{ id: string }>(`select user_id as id from users where lower(email) = lower($1) limit 1`, [email]);
      return found(rows[0]?.id, 'user_not_found');
    },
  }),
  defineTool({
    ...read,
    name: 'find_user_id_by_name_zip',
    description: 'Finds a user by name, letter case aside, and zip code.',
    input: z.strictObject({ first_name: z.string(), last_name: z.string(), zip: z.string() }),
    async run({ first_name: first, last_name: last, zip }, { db }) {
      const rows = await db.query<{ id: string }>(
        `select user_id as id from users
         where lower(name ->> 'first_name') = lower($1) and lower(name ->> 'last_name') = lower($2) and address ->> 'zip' = $3 limit 1`,
        [first, last, zip],
      );
      return found(rows[0]?.id, 'user_not_found');
    },
  }),
  defineTool({
    ...read,
    name: 'get_user_details',
    description: 'Reads a user: name, addresses, payment methods, orders.',
    input: z.strictObject({ user_id: z.string() }),
    run: async ({ user_id: id }, { db }) => found(await userText(db, id), 'user_not_found'),
  }),
  defineTool({
    ...read,
    name: 'get_order_details',
    description: 'Reads an order: its items, status and payments.',
    input: z.strictObject({ order_id: z.string() }),
    run: async ({ order_id: id }, { db }) => found(await orderText(db, id), 'order_not_found'),
  }),
  defineTool({
    ...read,
    name: 'get_product_details',
    description: 'Reads a product with its variants.',
    input: z.strictObject({ product_id: z.string() }),
    run: async ({ product_id: id }, { db }) => found(await productText(db, id), 'product_not_found'),
  }),
  defineTool({
    ...read,
    name: 'list_all_product_types',
    description: 'Lists the products by name.',
    input: z.strictObject({}),
    run: (_, { db }) => productTypesText(db),
  }),
  defineTool({
    ...read,
    name: 'calculate',
    description: 'Calculates an arithmetic expression.',
    input: z.strictObject({ expression: z.string() }),
    run: async ({ expression }) => calculate(expression),
  }),
  defineTool({
    ...read,
    name: 'think',
    description: 'Takes a thought and does nothing.',
    input: z.strictObject({ thought: z.string() }),
    run: async () => '',
  }),
  defineTool({
    ...read,
    name: 'transfer_to_human_agents',
    ends: true,
    description: 'Hands the user over to a human.',
    input: z.strictObject({ summary: z.string() }),
    run: async () => 'Transfer successful',
  }),
];

function found(text: string | null | undefined, otherwise: RefusalCode): string {
  if (text === null || text === undefined) throw refusal(otherwise);
  return text;
}
