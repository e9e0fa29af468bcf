import { z } from 'zod';
import { FILES, RetailDataError } from './data.ts';
import type { Order, Shop, User, Variant } from './shop.ts';
import { isDeepStrictEqual } from 'node:util';

/** The shop's records in memory, as its files have them. */
export interface FileShop extends Shop {
  /** Whether an order or a user is not as in the files. */
  isChanged(): boolean;
  /** Back to the files. */
  reset(): void;
}

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
    isChanged: () => differs(changed.orders, orders) || differs(changed.users, users),
    reset() {
      changed.orders.clear();
      changed.users.clear();
    },
  };
}

function differs<T>(changed: ReadonlyMap<string, T>, original: ReadonlyMap<string, T>): boolean {
  return [...changed].some(([id, record]) => !isDeepStrictEqual(record, original.get(id)));
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
