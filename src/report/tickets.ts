import type { Effect, RowEffect } from '../domain/effect.ts';
import type { JsonObject } from '../domain/json.ts';

/** Tables behind the ticket service of an environment. */
export interface TicketTables {
  readonly tickets: string;
  readonly comments: string;
}

/** A ticket that an attempt made or changed. */
export interface StoryTicket {
  readonly key: string;
  /** As it is after the last change; null: it was removed. */
  readonly row: JsonObject | null;
  readonly changes: readonly RowEffect[];
  readonly comments: readonly RowEffect[];
}

/** Tickets that were made, changed or commented on, by the tables in which they lie. */
export function ticketsOf({ effects }: { readonly effects: readonly Effect[] }, tables: TicketTables): readonly StoryTicket[] {
  const rows = effects.filter((effect) => effect.kind === 'row');
  const tickets = new Map<string, { row: JsonObject | null; changes: RowEffect[]; comments: RowEffect[] }>();
  const ticket = (key: string) => {
    const known = tickets.get(key) ?? { row: null, changes: [], comments: [] };
    tickets.set(key, known);
    return known;
  };
  for (const effect of rows) {
    if (effect.table === tables.tickets) {
      const of = ticket(String(effect.key['id'] ?? Object.values(effect.key).join(',')));
      of.row = effect.after;
      of.changes.push(effect);
    } else if (effect.table === tables.comments) {
      const id = (effect.after ?? effect.before)?.['ticket_id'];
      ticket(id === undefined ? 'unknown' : String(id)).comments.push(effect);
    }
  }
  return [...tickets].map(([key, of]) => ({ key, ...of }));
}
