import type { WorldSql } from '../define.ts';
import { objectText } from './json-text.ts';

type Members = { readonly [name: string]: string | null };

const USER = ['name', 'address', 'email', 'payment_methods', 'orders'];
const PRODUCT = ['name', 'product_id', 'variants'];
const ORDER = [
  'order_id',
  'user_id',
  'address',
  'items',
  'fulfillments',
  'status',
  'payment_history',
  'cancel_reason',
  'exchange_items',
  'exchange_new_items',
  'exchange_payment_method_id',
  'exchange_price_difference',
  'return_items',
  'return_payment_method_id',
];

/** A user as the shop shows one, as JSON text; null: there is none of this id. */
export function userText(db: WorldSql, id: string): Promise<string | null> {
  return rowText(db, `select ${jsonOf(USER)} from users where user_id = $1`, id);
}

/** An order, as {@link userText}. Members that no write has set are absent. */
export function orderText(db: WorldSql, id: string): Promise<string | null> {
  return rowText(db, `select ${jsonOf(ORDER)} from orders where order_id = $1`, id);
}

/** A product with all its variants, as {@link userText}. */
export function productText(db: WorldSql, id: string): Promise<string | null> {
  return rowText(db, `select ${jsonOf(PRODUCT)} from products where product_id = $1`, id);
}

/** Name and id of each product, by name, as JSON text. */
export async function productTypesText(db: WorldSql): Promise<string> {
  const rows = await db.query<{ name: string; id: string }>(
    `select name, to_json(product_id)::text as id from products order by name collate "C", product_id collate "C"`,
  );
  return objectText(Object.fromEntries(rows.map(({ name, id }) => [name, id])));
}

function jsonOf(columns: readonly string[]): string {
  return columns.map((column) => `to_json(${column})::text as ${column}`).join(', ');
}

async function rowText(db: WorldSql, sql: string, id: string): Promise<string | null> {
  const [row] = await db.query<Members>(sql, [id]);
  return row === undefined ? null : objectText(row);
}
