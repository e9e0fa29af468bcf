import { z } from 'zod';
import { defineTool, type Tool } from '../define.ts';
import { exchangeItems, returnItems } from './delivered-orders.ts';
import { cancelOrder, modifyAddress, modifyItems, modifyPayment } from './pending-orders.ts';
import { REFUSALS } from './refusal.ts';
import { sqlShop } from './sql-shop.ts';
import type { Shop } from './shop.ts';
import { modifyUserAddress } from './users.ts';
import { orderText, userText } from './views.ts';

const address = { address1: z.string(), address2: z.string(), city: z.string(), state: z.string(), country: z.string(), zip: z.string() };
const exchange = { order_id: z.string(), item_ids: z.array(z.string()), new_item_ids: z.array(z.string()), payment_method_id: z.string() };

/** Rules of the shop by tool, for any store of its records. Arguments must be as the tool's schema has them. */
export const WRITES = {
  cancel_pending_order: rule('Cancels a pending order.', z.strictObject({ order_id: z.string(), reason: z.string() }), cancelOrder),
  modify_pending_order_address: rule('Changes the address of a pending order.', z.strictObject({ order_id: z.string(), ...address }), modifyAddress),
  modify_pending_order_payment: rule(
    'Changes the payment method of a pending order.',
    z.strictObject({ order_id: z.string(), payment_method_id: z.string() }),
    modifyPayment,
  ),
  modify_pending_order_items: rule('Exchanges items of a pending order.', z.strictObject(exchange), modifyItems),
  modify_user_address: rule("Changes a user's default address.", z.strictObject({ user_id: z.string(), ...address }), modifyUserAddress),
  exchange_delivered_order_items: rule('Asks for items of a delivered order to be exchanged.', z.strictObject(exchange), exchangeItems),
  return_delivered_order_items: rule(
    'Asks for items of a delivered order to be returned.',
    z.strictObject({ order_id: z.string(), item_ids: z.array(z.string()), payment_method_id: z.string() }),
    returnItems,
  ),
} as const;

/** Tools that change an order or a user. Each returns what it changed, as JSON text. */
export const WRITE_TOOLS: readonly Tool[] = Object.entries(WRITES).map(([name, { description, input, apply }]) =>
  defineTool({
    name,
    description,
    input: input as z.ZodType<Target>,
    result: z.string(),
    effect: 'write',
    failures: REFUSALS,
    async run(args, { db }) {
      await apply(sqlShop(db), args);
      const text = args.order_id === undefined ? await userText(db, args.user_id ?? '') : await orderText(db, args.order_id);
      return text ?? '';
    },
  }),
);

type Target = { readonly order_id?: string; readonly user_id?: string };

interface Rule {
  readonly description: string;
  readonly input: z.ZodType;
  /** @throws {ToolFailure} when the shop refuses; nothing is changed then. */
  readonly apply: (shop: Shop, args: unknown) => Promise<void>;
}

function rule<I extends z.ZodType>(description: string, input: I, apply: (shop: Shop, args: z.output<I>) => Promise<void>): Rule {
  return { description, input, apply: (shop, args) => apply(shop, input.parse(args)) };
}
