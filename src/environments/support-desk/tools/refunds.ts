import { z } from 'zod';
import { defineTool, ToolFailure, type WorldSql } from '../../define.ts';
import { existingOrder } from './orders.ts';
import { amount, eur, money, orderId } from './values.ts';

/** What a role may refund on one order, earlier refunds of the order included; EUR. More needs a granted approval. */
export const REFUND_LIMITS: { readonly [role: string]: number } = { trainee: 0, agent: 100, senior: 500 };

export const REFUND_REASONS = ['damaged', 'wrong_item', 'lost', 'returned', 'price_adjustment', 'goodwill'] as const;

const payment = z.object({ id: z.number(), method: z.string(), amount: z.number(), status: z.string(), reference: z.string(), paid_at: z.string() });
const refund = z.object({
  id: z.number(),
  order_id: z.number(),
  line_id: z.number().nullable(),
  amount: z.number(),
  reason: z.string(),
  approval_id: z.number().nullable(),
  issued_by: z.string(),
  issued_at: z.string(),
});
const REFUND_COLUMNS = 'id, order_id, line_id, amount, reason, approval_id, issued_by, issued_at';

export const listPayments = defineTool({
  name: 'list_payments',
  description: 'Payments of an order, failed ones included.',
  input: z.strictObject({ order_id: orderId }),
  result: z.object({ payments: z.array(payment) }),
  effect: 'read',
  failures: ['not_found'],
  async run({ order_id: id }, { db }) {
    await existingOrder(db, id);
    const rows = await db.query('select id, method, amount, status, reference, paid_at from payments where order_id = $1 order by id', [id]);
    return { payments: rows.map((row) => ({ ...(row as z.output<typeof payment>), amount: money(row['amount']) })) };
  },
});

export const listRefunds = defineTool({
  name: 'list_refunds',
  description: 'Refunds that were issued for an order.',
  input: z.strictObject({ order_id: orderId }),
  result: z.object({ refunds: z.array(refund) }),
  effect: 'read',
  failures: ['not_found'],
  async run({ order_id: id }, { db }) {
    await existingOrder(db, id);
    const rows = await db.query(`select ${REFUND_COLUMNS} from refunds where order_id = $1 order by id`, [id]);
    return { refunds: rows.map(asRefund) };
  },
});

export const issueRefund = defineTool({
  name: 'issue_refund',
  description:
    'Pays money back for an order, to the payment method of the order. Cannot be undone. Each call is a refund of its own unless it has an idempotency key.',
  input: z.strictObject({
    order_id: orderId,
    amount,
    reason: z.enum(REFUND_REASONS),
    line_id: z.int().positive().optional().describe('Id of the order line that the refund is for (not its number); leave out for a whole order.'),
    approval_id: z.int().positive().optional().describe('A granted approval of exactly this order and amount; needed above your limit.'),
  }),
  result: refund,
  effect: 'write',
  failures: ['not_found', 'not_paid', 'exceeds_paid', 'exceeds_line', 'approval_required', 'approval_mismatch'],
  idempotent: true,
  preview: ({ order_id: id }) => [
    { table: 'orders', where: { id } },
    { table: 'payments', where: { order_id: id } },
    { table: 'refunds', where: { order_id: id } },
  ],
  async run({ order_id: id, amount: wanted, reason, line_id: line, approval_id: approval }, { db, now, permission }) {
    await existingOrder(db, id, { lock: true });
    const { paymentId, left, refunded } = await balanceOf(db, id);
    if (wanted > left + 0.001) throw new ToolFailure('exceeds_paid', `Only ${eur(left)} of order ${id} is left to refund.`);
    if (line !== undefined) await requireWithinLine(db, id, line, wanted);
    const limit = REFUND_LIMITS[permission.role] ?? 0;
    if (approval === undefined && refunded + wanted > limit + 0.001) {
      const message = `Refunds of order ${id} would come to ${eur(refunded + wanted)}; your limit is ${eur(limit)}. A granted approval is needed.`;
      throw new ToolFailure('approval_required', message);
    }
    if (approval !== undefined) await useApproval(db, approval, id, wanted);
    const rows = await db.query(
      `insert into refunds (order_id, line_id, payment_id, amount, reason, approval_id, issued_by, issued_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${REFUND_COLUMNS}`,
      [id, line ?? null, paymentId, wanted.toFixed(2), reason, approval ?? null, permission.user, now.toISOString()],
    );
    const row = rows[0];
    if (!row) throw new Error('an insert returned no row');
    return asRefund(row);
  },
});

/** @throws {ToolFailure} `not_paid` */
async function balanceOf(db: WorldSql, order: number): Promise<{ readonly paymentId: number; readonly refunded: number; readonly left: number }> {
  const rows = await db.query(
    `select max(id) as payment_id, coalesce(sum(amount), 0) as paid, (select coalesce(sum(amount), 0) from refunds where order_id = $1) as refunded
     from payments where order_id = $1 and status = 'captured'`,
    [order],
  );
  const row = rows[0];
  if (!row || row['payment_id'] === null) throw new ToolFailure('not_paid', `Order ${order} has no captured payment.`);
  const refunded = money(row['refunded']);
  return { paymentId: Number(row['payment_id']), refunded, left: Math.round((money(row['paid']) - refunded) * 100) / 100 };
}

async function requireWithinLine(db: WorldSql, order: number, line: number, wanted: number): Promise<void> {
  const rows = await db.query(
    `select quantity * unit_price - (select coalesce(sum(amount), 0) from refunds where line_id = l.id) as left
     from order_lines l where id = $1 and order_id = $2`,
    [line, order],
  );
  const row = rows[0];
  if (!row) throw new ToolFailure('not_found', `Order ${order} has no line with the id ${line}.`);
  if (wanted > money(row['left']) + 0.001) throw new ToolFailure('exceeds_line', `Only ${eur(money(row['left']))} of this line is left to refund.`);
}

/** Marks the approval as used. @throws {ToolFailure} `approval_mismatch` unless it is granted for exactly this */
async function useApproval(db: WorldSql, approval: number, order: number, wanted: number): Promise<void> {
  const rows = await db.query(
    `update approvals set status = 'used' where id = $1 and kind = 'refund' and order_id = $2 and amount = $3::numeric and status = 'granted' returning id`,
    [approval, order, wanted.toFixed(2)],
  );
  if (rows.length > 0) return;
  throw new ToolFailure('approval_mismatch', `Approval ${approval} is not a granted, unused approval of ${eur(wanted)} for order ${order}.`);
}

function asRefund(row: { readonly [column: string]: unknown }): z.output<typeof refund> {
  return { ...(row as z.output<typeof refund>), amount: money(row['amount']) };
}
