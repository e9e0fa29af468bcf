import { z } from 'zod';
import { type FieldError, TicketProblem } from './problem.ts';

const subject = z.string().trim().min(1).max(500);
const text = z.string().max(50_000);
const word = z.string().min(1).max(200);
/** An address, or a number where the pack's table refers to a customer. */
const party = z.union([z.string().min(1).max(320), z.int()]);

/** Columns not given take the table's default. */
export const NewTicket = z.strictObject({
  subject,
  body: text,
  requester: party,
  status: word.optional(),
  priority: word.optional(),
  assignee: party.nullable().optional(),
});

export const TicketChange = z
  .strictObject({
    subject: subject.optional(),
    body: text.optional(),
    status: word.optional(),
    priority: word.optional(),
    assignee: party.nullable().optional(),
    if_updated_at: z.iso.datetime({ offset: true }).optional().describe('Refuse with 409 unless the ticket was last changed at this instant.'),
  })
  .refine(({ if_updated_at: _, ...changes }) => Object.keys(changes).length > 0, 'at least one field to change');

export const NewComment = z.strictObject({ author: party, body: z.string().min(1).max(50_000), public: z.boolean().default(true) });

const page = z.coerce.number().int().min(1).max(1_000_000).default(1);
const perPage = z.coerce.number().int().min(1).max(100).default(25);

export const TicketQuery = z.strictObject({
  status: word.optional().describe('Exact.'),
  requester: z.string().min(1).max(320).optional().describe('Exact, case-insensitive.'),
  q: z.string().min(1).max(200).optional().describe('Text in subject or body, case-insensitive.'),
  page,
  per_page: perPage,
});

export const PageQuery = z.strictObject({ page, per_page: perPage });

/** @throws {TicketProblem} `status` with each field's error. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, status: 400 | 422): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors: FieldError[] = result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  const what = status === 400 ? 'query' : 'body';
  throw new TicketProblem(status, 'invalid', `the ${what} is not valid: ${errors.map((e) => `${e.path || what}: ${e.message}`).join('; ')}`, errors);
}
