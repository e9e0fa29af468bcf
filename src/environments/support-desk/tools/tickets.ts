import { z } from 'zod';
import { defineTool } from '../../define.ts';
import { ticketId } from './values.ts';

const STATUSES = ['open', 'pending', 'solved', 'closed'] as const;
const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;

const ticket = z.object({
  id: z.number(),
  subject: z.string(),
  body: z.string(),
  requester: z.string(),
  status: z.string(),
  priority: z.string(),
  assignee: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
const comment = z.object({ id: z.number(), ticket_id: z.number(), author: z.string(), body: z.string(), public: z.boolean(), created_at: z.string() });

const FAILURES = ['not_found', 'invalid', 'conflict'] as const;

export const searchTickets = defineTool({
  name: 'search_tickets',
  description: 'Finds tickets by status, mail address of the requester, or text in subject or body. Oldest first, at most 25.',
  input: z
    .strictObject({
      status: z.enum(STATUSES).optional(),
      requester: z.email().optional().describe('Mail address, exact.'),
      query: z.string().trim().min(2).max(100).optional(),
    })
    .refine((args) => Object.values(args).some((value) => value !== undefined), 'at least one condition is needed'),
  result: z.object({ tickets: z.array(ticket) }),
  effect: 'read',
  failures: FAILURES,
  async run({ status, requester, query }, { tickets }) {
    const conditions = Object.entries({ status, requester, q: query }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const found = await tickets.request('GET', `/tickets?${new URLSearchParams(conditions)}`);
    return { tickets: z.array(ticket).parse(found['tickets']) };
  },
});

export const getTicket = defineTool({
  name: 'get_ticket',
  description: 'Reads one ticket with its comments.',
  input: z.strictObject({ ticket_id: ticketId }),
  result: ticket.extend({ comments: z.array(comment) }),
  effect: 'read',
  failures: FAILURES,
  async run({ ticket_id: id }, { tickets }) {
    const found = ticket.parse(await tickets.request('GET', `/tickets/${id}`));
    const { comments } = await tickets.request('GET', `/tickets/${id}/comments?per_page=100`);
    return { ...found, comments: z.array(comment).parse(comments) };
  },
});

export const createTicket = defineTool({
  name: 'create_ticket',
  description: 'Opens a ticket. For another team, set the assignee: logistics, warehouse, billing, or a colleague.',
  input: z.strictObject({
    subject: z.string().trim().min(5).max(200),
    body: z.string().trim().min(10).max(5000),
    requester: z.email().describe("The customer's mail address."),
    assignee: z.string().trim().min(2).max(60).optional(),
    priority: z.enum(PRIORITIES).optional().describe('Default: normal.'),
  }),
  result: ticket,
  effect: 'external',
  failures: FAILURES,
  async run({ assignee, priority, ...args }, { tickets }) {
    const optional = { ...(assignee === undefined ? {} : { assignee }), ...(priority === undefined ? {} : { priority }) };
    return ticket.parse(await tickets.request('POST', '/tickets', { ...args, ...optional }));
  },
});

export const commentTicket = defineTool({
  name: 'comment_ticket',
  description: 'Adds a comment to a ticket. A public one is sent to the requester; an internal one is for the staff only.',
  input: z.strictObject({ ticket_id: ticketId, body: z.string().trim().min(3).max(5000), public: z.boolean() }),
  result: comment,
  effect: 'external',
  failures: FAILURES,
  run: async ({ ticket_id: id, body, public: isPublic }, { tickets, permission }) =>
    comment.parse(await tickets.request('POST', `/tickets/${id}/comments`, { author: permission.user, body, public: isPublic })),
});

export const updateTicket = defineTool({
  name: 'update_ticket',
  description: 'Changes status, priority or assignee of a ticket.',
  input: z
    .strictObject({
      ticket_id: ticketId,
      status: z.enum(STATUSES).optional(),
      priority: z.enum(PRIORITIES).optional(),
      assignee: z.string().trim().min(2).max(60).optional(),
    })
    .refine(({ status, priority, assignee }) => status !== undefined || priority !== undefined || assignee !== undefined, 'at least one change is needed'),
  result: ticket,
  effect: 'external',
  failures: FAILURES,
  async run({ ticket_id: id, status, priority, assignee }, { tickets }) {
    const changes = Object.entries({ status, priority, assignee }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return ticket.parse(await tickets.request('PATCH', `/tickets/${id}`, Object.fromEntries(changes)));
  },
});
