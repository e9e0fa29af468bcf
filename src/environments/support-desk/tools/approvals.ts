import { z } from 'zod';
import { defineTool, ToolFailure } from '../../define.ts';
import { existingOrder } from './orders.ts';
import { REFUND_REASONS } from './refunds.ts';
import { amount, eur, money, orderId } from './values.ts';

const approval = z.object({
  id: z.number(),
  kind: z.string(),
  order_id: z.number(),
  amount: z.number(),
  reason: z.string(),
  justification: z.string(),
  status: z.string(),
  requested_by: z.string(),
  requested_at: z.string(),
  decided_by: z.string().nullable(),
  decided_at: z.string().nullable(),
});
const COLUMNS = 'id, kind, order_id, amount, reason, justification, status, requested_by, requested_at, decided_by, decided_at';

export const listApprovals = defineTool({
  name: 'list_approvals',
  description: 'Approvals that were asked for an order, with their decision: pending, granted, refused, or used (granted, and its refund is issued).',
  input: z.strictObject({ order_id: orderId }),
  result: z.object({ approvals: z.array(approval) }),
  effect: 'read',
  failures: ['not_found'],
  async run({ order_id: id }, { db }) {
    await existingOrder(db, id);
    const rows = await db.query(`select ${COLUMNS} from approvals where order_id = $1 order by id`, [id]);
    return { approvals: rows.map((row) => ({ ...(row as z.output<typeof approval>), amount: money(row['amount']) })) };
  },
});

export const requestApproval = defineTool({
  name: 'request_approval',
  description: 'Asks the team lead to approve a refund above your limit. The answer takes up to a working day; nothing is refunded by this.',
  input: z.strictObject({
    order_id: orderId,
    amount,
    reason: z.enum(REFUND_REASONS),
    justification: z.string().trim().min(20).max(1000).describe('Why: what happened, and the ticket number.'),
  }),
  result: approval,
  effect: 'write',
  failures: ['not_found', 'exceeds_total'],
  idempotent: true,
  async run({ order_id: id, amount: wanted, reason, justification }, { db, now, permission }) {
    const { total } = await existingOrder(db, id, { lock: true });
    if (wanted > total + 0.001) throw new ToolFailure('exceeds_total', `Order ${id} has a total of ${eur(total)}.`);
    const rows = await db.query(
      `insert into approvals (kind, order_id, amount, reason, justification, requested_by, requested_at)
       values ('refund', $1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
      [id, wanted.toFixed(2), reason, justification, permission.user, now.toISOString()],
    );
    const row = rows[0];
    if (!row) throw new Error('an insert returned no row');
    return { ...(row as z.output<typeof approval>), amount: money(row['amount']) };
  },
});
