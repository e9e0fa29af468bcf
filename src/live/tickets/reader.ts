import type { z } from 'zod';
import {
  ATTACHMENT_FIELDS,
  attachment,
  pageOf,
  TICKET_FIELDS,
  type TicketRecord,
  ticketRecord,
  TRANSACTION_FIELDS,
  type Transaction,
  transaction,
} from './records.ts';
import { type RestOptions, rest } from './rest.ts';
import { contentOf } from './words.ts';

const PER_PAGE = 100;
/** No more is read: a trial comes nowhere near. */
const MAX_PAGES = 20;

/** Reads tickets and what became of them, as one account sees them. */
export class Reader {
  private readonly options: RestOptions;

  constructor(options: RestOptions) {
    this.options = options;
  }

  ticket(id: number): Promise<TicketRecord> {
    return rest(this.options, { method: 'GET', path: `/ticket/${id}` }, ticketRecord);
  }

  /** In order of their numbers. */
  tickets(query: string): Promise<TicketRecord[]> {
    return this.all('/tickets', { query, ...TICKET_FIELDS }, ticketRecord);
  }

  /** Of tickets, in order. */
  transactions(query: string): Promise<Transaction[]> {
    // Without the type of object, what became of a queue, user or field with a ticket's number is found as well.
    return this.all('/transactions', { query: `ObjectType = 'RT::Ticket' AND ${query}`, ...TRANSACTION_FIELDS }, transaction);
  }

  /** What was written, by the transaction that wrote it. */
  async contents(ticket: number): Promise<ReadonlyMap<number, string>> {
    const found = await this.all(`/ticket/${ticket}/attachments`, ATTACHMENT_FIELDS, attachment);
    const texts = found.filter(({ ContentType }) => ContentType === 'text/plain').toSorted((a, b) => b.id - a.id);
    // The first part is what was written; others were attached to it.
    return new Map(texts.map(({ TransactionId, Content }) => [TransactionId, contentOf(Content ?? '')]));
  }

  private async all<S extends z.ZodType<{ readonly id: number }>>(path: string, query: { readonly [name: string]: string }, item: S): Promise<z.output<S>[]> {
    const found: z.output<S>[] = [];
    for (let page = 1; page <= MAX_PAGES; page++) {
      const asked = { ...query, orderby: 'id', per_page: String(PER_PAGE), page: String(page) };
      const { items } = await rest(this.options, { method: 'GET', path, query: asked }, pageOf(item));
      found.push(...items);
      if (items.length < PER_PAGE) return found.toSorted((a, b) => a.id - b.id);
    }
    throw new Error(`${path} has more than ${MAX_PAGES * PER_PAGE} entries`);
  }
}

/** A text within a search. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
