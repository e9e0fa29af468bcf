import pg from 'pg';
import type { JsonObject } from '../../domain/json.ts';
import type { WorldSql } from '../define.ts';
import type { Order, Shop, User, Variant } from './shop.ts';

/** The shop's records in the tables of a world. Rows that are read are locked until the transaction ends, since what is written depends on them. */
export function sqlShop(db: WorldSql): Shop {
  return {
    async order(id) {
      const rows = await db.query<Order>(`select order_id, user_id, items, status, payment_history from orders where order_id = $1 for update`, [id]);
      return rows[0] ?? null;
    },
    async user(id) {
      const rows = await db.query<JsonObject>(`select payment_methods from users where user_id = $1 for update`, [id]);
      return (rows[0] as User | undefined) ?? null;
    },
    async variant(productId, itemId) {
      const rows = await db.query<{ variant: Variant | null }>(`select variants -> $2::text as variant from products where product_id = $1`, [
        productId,
        itemId,
      ]);
      return rows[0]?.variant ?? null;
    },
    changeOrder: (id, changes) => change(db, 'orders', 'order_id', id, changes),
    changeUser: (id, changes) => change(db, 'users', 'user_id', id, changes),
  };
}

async function change(db: WorldSql, table: 'orders' | 'users', key: string, id: string, changes: object): Promise<void> {
  const columns = Object.keys(changes).map((column) => pg.escapeIdentifier(column));
  const sets = columns.map((column) => `${column} = r.${column}`);
  await db.query(`update ${table} t set ${sets.join(', ')} from json_populate_record(null::${table}, $2::json) r where t.${key} = $1`, [
    id,
    JSON.stringify(changes),
  ]);
}
