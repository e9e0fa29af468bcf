import { z } from 'zod';

/** Answers of Request Tracker's REST 2.0 interface, as far as they are read. What else they hold is nobody's. */

const reference = z.object({ id: z.coerce.string() });
const id = z.coerce.number().int().positive();
const instant = z.iso.datetime();

/** Fields that a search has to be asked for. */
export const TICKET_FIELDS = {
  fields: 'Subject,Status,Priority,Requestor,Created,LastUpdated,CustomFields',
  'fields[CustomFields]': 'name,values',
};

export const ticketRecord = z.object({
  id,
  Subject: z.string(),
  Status: z.string(),
  Priority: z.coerce.number(),
  Requestor: z.array(reference),
  Created: instant,
  LastUpdated: instant,
  CustomFields: z.preprocess((value) => (value === '' ? [] : value), z.array(z.object({ name: z.string(), values: z.array(z.string()) }))),
});
export type TicketRecord = z.output<typeof ticketRecord>;

/** Its totals are left out where the account may not see all rows, so pages are asked for until one is short. */
export const pageOf = <S extends z.ZodType>(item: S) => z.object({ items: z.array(item), total: z.coerce.number().nullish() });

export const transaction = z.object({
  id,
  Type: z.string(),
  Field: z
    .string()
    .nullish()
    .transform((value) => value ?? ''),
  OldValue: z
    .string()
    .nullish()
    .transform((value) => value ?? ''),
  NewValue: z
    .string()
    .nullish()
    .transform((value) => value ?? ''),
  Creator: reference,
  Created: instant,
  ObjectId: id,
});
export type Transaction = z.output<typeof transaction>;
export const TRANSACTION_FIELDS = { fields: 'Type,Field,OldValue,NewValue,Creator,Created,ObjectId' };

export const attachment = z.object({ id, TransactionId: id, ContentType: z.string(), Content: z.string().nullish(), Created: instant, Creator: reference });
export type Attachment = z.output<typeof attachment>;
export const ATTACHMENT_FIELDS = { fields: 'Content,ContentType,TransactionId,Created,Creator' };

export const madeTicket = z.object({ id, type: z.literal('ticket') });
export const made = z.object({ id: z.coerce.string(), type: z.string() });
export const words = z.array(z.string());
export const versionRecord = z.object({ Version: z.string() });
export const queueRecord = z.object({ id, Name: z.string() });
export const customFields = pageOf(z.object({ id, Name: z.string() }));
