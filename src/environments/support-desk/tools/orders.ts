import { z } from 'zod';
import { defineTool, ToolFailure, type WorldSql } from '../../define.ts';
import { containing, customerId, day, money, orderId } from './values.ts';

const STATUSES = ['pending', 'paid', 'packed', 'shipped', 'delivered', 'cancelled'] as const;
const summary = z.object({ id: z.number(), customer_id: z.number(), status: z.string(), placed_at: z.string(), total: z.number() });
const shipment = z.object({ tracking_no: z.string(), carrier: z.string(), status: z.string(), last_event: z.string(), last_event_at: z.string() });
const line = z.object({ id: z.number(), line_no: z.number(), sku: z.string(), product: z.string(), quantity: z.number(), unit_price: z.number() });
const order = summary.extend({
  customer: z.object({ name: z.string(), email: z.string() }),
  shipped_at: z.string().nullable(),
  delivered_at: z.string().nullable(),
  cancelled_at: z.string().nullable(),
  cancel_reason: z.string().nullable(),
  ship_to: z.object({ street: z.string(), postcode: z.string(), city: z.string() }),
  shipping_fee: z.number(),
  paid: z.number(),
  refunded: z.number(),
  lines: z.array(line),
});

export const searchOrders = defineTool({
  name: 'search_orders',
  description: 'Finds orders by customer, status, product or day of the order. Newest first, at most 20.',
  input: z
    .strictObject({
      customer_id: customerId.optional(),
      status: z.enum(STATUSES).optional(),
      product: z.string().trim().min(2).max(100).optional().describe('Part of a product name.'),
      placed_from: day.optional(),
      placed_to: day.optional().describe('Last day, inclusive, YYYY-MM-DD.'),
    })
    .refine((args) => Object.values(args).some((value) => value !== undefined), 'at least one condition is needed'),
  result: z.object({ orders: z.array(summary) }),
  effect: 'read',
  async run({ customer_id: customer, status, product, placed_from: from, placed_to: to }, { db, timezone }) {
    const orders = await db.query(
      `select id, customer_id, status, placed_at, total from orders o
       where ($1::int is null or customer_id = $1)
         and ($2::text is null or status = $2)
         and ($3::text is null or exists (select from order_lines l where l.order_id = o.id and l.product ilike $3))
         and ($4::date is null or (placed_at at time zone $6)::date >= $4)
         and ($5::date is null or (placed_at at time zone $6)::date <= $5)
       order by placed_at desc, id desc limit 20`,
      [customer ?? null, status ?? null, product === undefined ? null : containing(product), from ?? null, to ?? null, timezone],
    );
    return { orders: orders.map((row) => ({ ...(row as z.output<typeof summary>), total: money(row['total']) })) };
  },
});

export const getOrder = defineTool({
  name: 'get_order',
  description:
    'Reads one order with its lines, what was paid and what was refunded. The status is that of the order system; for the carrier see track_shipment.',
  input: z.strictObject({ order_id: orderId }),
  result: order,
  effect: 'read',
  failures: ['not_found'],
  run: ({ order_id: id }, { db }) => readOrder(db, id),
});

export const trackShipment = defineTool({
  name: 'track_shipment',
  description: 'What the carrier reports about the parcels of an order.',
  input: z.strictObject({ order_id: orderId }),
  result: z.object({ shipments: z.array(shipment) }),
  effect: 'read',
  failures: ['not_found'],
  async run({ order_id: id }, { db }) {
    await existingOrder(db, id);
    const shipments = await db.query<z.output<typeof shipment>>(
      'select tracking_no, carrier, status, last_event, last_event_at from shipments where order_id = $1 order by tracking_no',
      [id],
    );
    return { shipments };
  },
});

export const cancelOrder = defineTool({
  name: 'cancel_order',
  description: 'Cancels an order that is not shipped yet. Billing pays the money back in the following night.',
  input: z.strictObject({ order_id: orderId, reason: z.enum(['customer_request', 'out_of_stock', 'fraud']) }),
  result: order,
  effect: 'write',
  failures: ['not_found', 'already_shipped', 'already_cancelled'],
  preview: ({ order_id: id }) => [
    { table: 'orders', where: { id } },
    { table: 'order_lines', where: { order_id: id } },
  ],
  async run({ order_id: id, reason }, { db, now }) {
    requireOpen(await existingOrder(db, id, { lock: true }));
    await db.query(`update orders set status = 'cancelled', cancelled_at = $2, cancel_reason = $3, updated_at = $2 where id = $1`, [
      id,
      now.toISOString(),
      reason,
    ]);
    return readOrder(db, id);
  },
});

export const updateOrderAddress = defineTool({
  name: 'update_order_address',
  description: 'Changes the delivery address of an order that is not shipped yet.',
  input: z.strictObject({
    order_id: orderId,
    street: z.string().trim().min(3).max(120),
    postcode: z.string().trim().min(3).max(12),
    city: z.string().trim().min(2).max(80),
  }),
  result: order,
  effect: 'write',
  failures: ['not_found', 'already_shipped', 'already_cancelled'],
  async run({ order_id: id, street, postcode, city }, { db, now }) {
    requireOpen(await existingOrder(db, id, { lock: true }));
    await db.query('update orders set ship_street = $2, ship_postcode = $3, ship_city = $4, updated_at = $5 where id = $1', [
      id,
      street,
      postcode,
      city,
      now.toISOString(),
    ]);
    return readOrder(db, id);
  },
});

/** The order's row, locked for the rest of the transaction when asked. @throws {ToolFailure} `not_found` */
export async function existingOrder(
  db: WorldSql,
  id: number,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<{ readonly id: number; readonly status: string; readonly total: number }> {
  const rows = await db.query(`select status, total from orders where id = $1${lock ? ' for update' : ''}`, [id]);
  const row = rows[0];
  if (!row) throw new ToolFailure('not_found', `There is no order ${id}.`);
  return { id, status: String(row['status']), total: money(row['total']) };
}

function requireOpen({ id, status }: { readonly id: number; readonly status: string }): void {
  if (status === 'cancelled') throw new ToolFailure('already_cancelled', `Order ${id} is already cancelled.`);
  if (status === 'shipped' || status === 'delivered') throw new ToolFailure('already_shipped', `Order ${id} is already ${status}; nothing was changed.`);
}

async function readOrder(db: WorldSql, id: number): Promise<z.input<typeof order>> {
  const rows = await db.query(
    `select o.*, c.name, c.email,
       (select coalesce(sum(amount), 0) from payments p where p.order_id = o.id and p.status = 'captured') as paid,
       (select coalesce(sum(amount), 0) from refunds r where r.order_id = o.id) as refunded
     from orders o join customers c on c.id = o.customer_id where o.id = $1`,
    [id],
  );
  const row = rows[0];
  if (!row) throw new ToolFailure('not_found', `There is no order ${id}.`);
  const lines = await db.query('select id, line_no, sku, product, quantity, unit_price from order_lines where order_id = $1 order by line_no', [id]);
  const text = (column: string): string | null => (row[column] === null ? null : String(row[column]));
  return {
    id,
    customer_id: Number(row['customer_id']),
    customer: { name: String(row['name']), email: String(row['email']) },
    status: String(row['status']),
    placed_at: String(row['placed_at']),
    shipped_at: text('shipped_at'),
    delivered_at: text('delivered_at'),
    cancelled_at: text('cancelled_at'),
    cancel_reason: text('cancel_reason'),
    ship_to: { street: String(row['ship_street']), postcode: String(row['ship_postcode']), city: String(row['ship_city']) },
    shipping_fee: money(row['shipping_fee']),
    total: money(row['total']),
    paid: money(row['paid']),
    refunded: money(row['refunded']),
    lines: lines.map((found) => ({ ...(found as z.output<typeof line>), unit_price: money(found['unit_price']) })),
  };
}
