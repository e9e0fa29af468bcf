import { z } from 'zod';
import { FILES, RetailDataError } from './data.ts';
import type { Order, Shop, User, Variant } from './shop.ts';
import { isDeepStrictEqual } from 'node:util';

/** The shop's records in memory, as its files have them. */
export interface FileShop extends Shop {
  /** The orders and users that are not as in the files, as they are now. */
  changes(): ShopChanges;
  /** Back to the files. */
  reset(): void;
}

/** Whole records by kind and id, for example `order #W1`. */
export type ShopChanges = ReadonlyMap<string, unknown>;

/**
 * Makes a shop of the parsed data files; they are left as they are.
 * @throws {RetailDataError} when the rules of the shop could not read a record.
 */
export function openFileShop(files: { readonly users: unknown; readonly orders: unknown; readonly products: unknown }): FileShop {
  const users = records<User>(FILES.users, userSchema, files.users);
  const orders = records<Order>(FILES.orders, orderSchema, files.orders);
  const products = records<{ readonly variants: { readonly [id: string]: Variant } }>(FILES.products, productSchema, files.products);
  const changed = { orders: new Map<string, Order>(), users: new Map<string, User>() };
  return {
    order: async (id) => changed.orders.get(id) ?? orders.get(id) ?? null,
    user: async (id) => changed.users.get(id) ?? users.get(id) ?? null,
    variant: async (productId, itemId) => new Map(Object.entries(products.get(productId)?.variants ?? {})).get(itemId) ?? null,
    async changeOrder(id, changes) {
      const order = await this.order(id);
      if (order !== null) changed.orders.set(id, { ...order, ...changes });
    },
    async changeUser(id, changes) {
      const user = await this.user(id);
      if (user !== null) changed.users.set(id, { ...user, ...changes });
    },
    changes: () => new Map<string, unknown>([...different('order', changed.orders, orders), ...different('user', changed.users, users)]),
    reset() {
      changed.orders.clear();
      changed.users.clear();
    },
  };
}

function different<T>(kind: string, changed: ReadonlyMap<string, T>, original: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...changed].filter(([id, record]) => !isDeepStrictEqual(record, original.get(id))).map(([id, record]) => [`${kind} ${id}`, record] as const);
}

function records<T>(file: string, schema: z.ZodType, value: unknown): ReadonlyMap<string, T> {
  const parsed = z.record(z.string(), schema).safeParse(value);
  if (parsed.success) return new Map(Object.entries(parsed.data as { readonly [id: string]: T }));
  const issues = parsed.error.issues.slice(0, 10).map((issue) => `${file}, ${issue.path.map(String).join('.') || 'the file'}: ${issue.message}`);
  throw new RetailDataError(issues);
}

const options = z.record(z.string(), z.string());

const userSchema = z.looseObject({
  address: z.looseObject({}),
  payment_methods: z.record(z.string(), z.looseObject({ source: z.string(), id: z.string(), balance: z.number().optional() })),
});

const orderSchema = z.looseObject({
  order_id: z.string(),
  user_id: z.string(),
  status: z.string(),
  items: z.array(z.looseObject({ name: z.string(), product_id: z.string(), item_id: z.string(), price: z.number(), options })),
  payment_history: z.array(z.looseObject({ transaction_type: z.enum(['payment', 'refund']), amount: z.number(), payment_method_id: z.string() })),
});

const productSchema = z.looseObject({
  variants: z.record(z.string(), z.looseObject({ item_id: z.string(), options, available: z.boolean(), price: z.number() })),
});
