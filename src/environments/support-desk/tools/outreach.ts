import { z } from 'zod';
import { defineTool, type Tool, type ToolContext, ToolFailure } from '../../define.ts';
import { customerById } from './customers.ts';
import { customerId, ticketId } from './values.ts';

/** Sender of every mail of the desk. */
export const DESK_ADDRESS = 'support@nordlicht.example';

export const sendMail = defineTool({
  name: 'send_mail',
  description: `Sends a mail from ${DESK_ADDRESS}. Cannot be recalled.`,
  input: z.strictObject({
    to: z.array(z.email()).min(1).max(5),
    subject: z
      .string()
      .trim()
      .min(3)
      .max(200)
      .refine((text) => !/[\r\n]/.test(text), 'one line'),
    text: z.string().trim().min(10).max(10_000),
  }),
  result: z.object({ message_id: z.string() }),
  effect: 'external',
  failures: ['mail_refused', 'mail_unavailable'],
  async run({ to, subject, text }, { mail }) {
    const { messageId } = await mail.send({ from: DESK_ADDRESS, to, subject, text });
    return { message_id: messageId };
  },
});

const followUp = z.object({
  id: z.number(),
  customer_id: z.number(),
  ticket_id: z.number().nullable(),
  kind: z.string(),
  due_at: z.string(),
  note: z.string(),
  assigned_to: z.string(),
});

/** Whether there is a ticket of this number: rows of the world know where the tickets are its own. */
type TicketExists = (ticket: number, context: ToolContext) => Promise<boolean>;

export const scheduleFollowUp = followUpTool(async (ticket, { db }) => (await db.query('select id from tickets where id = $1', [ticket])).length > 0);

/** The tool for a desk whose tickets are elsewhere. */
export function followUpTool(exists: TicketExists): Tool {
  return defineTool({
    name: 'schedule_follow_up',
    description: 'Puts a call, a mail or a check on the calendar of the colleague you act for.',
    input: z.strictObject({
      customer_id: customerId,
      ticket_id: ticketId.optional(),
      kind: z.enum(['call', 'mail', 'check']),
      due_at: z.iso.datetime({ offset: true }).describe('Date and time with offset, for example 2026-03-05T09:00:00+01:00.'),
      note: z.string().trim().min(5).max(500),
    }),
    result: followUp,
    effect: 'write',
    failures: ['not_found', 'in_the_past'],
    idempotent: true,
    async run({ customer_id: customer, ticket_id: ticket, kind, due_at: due, note }, context) {
      const { db, now, permission } = context;
      await customerById(db, customer);
      if (Date.parse(due) <= now.getTime()) throw new ToolFailure('in_the_past', `${due} is not in the future.`);
      if (ticket !== undefined && !(await exists(ticket, context))) {
        throw new ToolFailure('not_found', `There is no ticket ${ticket}.`);
      }
      const rows = await db.query<z.output<typeof followUp>>(
        `insert into follow_ups (customer_id, ticket_id, kind, due_at, note, assigned_to, created_at)
       values ($1, $2, $3, $4, $5, $6, $7) returning id, customer_id, ticket_id, kind, due_at, note, assigned_to`,
        [customer, ticket ?? null, kind, due, note, permission.user, now.toISOString()],
      );
      const row = rows[0];
      if (!row) throw new Error('an insert returned no row');
      return row;
    },
  });
}
