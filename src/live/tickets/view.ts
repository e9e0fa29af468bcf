import type { JsonObject } from '../../domain/json.ts';
import type { Start } from './kept.ts';
import type { TicketRecord, Transaction } from './records.ts';
import { numberHere, priorityHere, statusHere } from './words.ts';

/** Name of the field that says whom a ticket is assigned to: teams and colleagues have no accounts there. */
export const ASSIGNEE = 'Assignee';

/** How what stands there is shown by the contract. */
export interface Viewer {
  readonly start: Start;
  readonly shiftMs: number;
  /** The account of the world, and the user for whom it writes. */
  readonly account: string;
  readonly actsFor: string;
}

/** A ticket as the contract has it. Of one of the start, what cannot be written there (when it was opened) is as in the start. */
export function ticketView({ start, shiftMs }: Viewer, record: TicketRecord, body: string): JsonObject {
  const first = start.tickets.get(record.id);
  const changed = !first || Date.parse(record.LastUpdated) > Date.parse(start.kept.at);
  return {
    id: start.here(record.id),
    subject: record.Subject,
    body,
    requester: record.Requestor[0]?.id ?? '',
    status: statusHere(record.Status),
    priority: priorityHere(record.Priority),
    assignee: record.CustomFields.find(({ name }) => name === ASSIGNEE)?.values[0] || null,
    created_at: first?.['created_at'] ?? shifted(record.Created, shiftMs),
    updated_at: changed ? shifted(record.LastUpdated, shiftMs) : (first?.['updated_at'] ?? null),
  };
}

export function isComment({ Type }: Pick<Transaction, 'Type'>): boolean {
  return Type === 'Comment' || Type === 'Correspond';
}

/** A comment as the contract has it. */
export function commentView(viewer: Viewer, made: Transaction, body: string): JsonObject {
  const { start, shiftMs, account, actsFor } = viewer;
  const first = start.comments.get(made.id);
  const by = made.Creator.id;
  return {
    id: first?.['id'] ?? numberHere(made.id),
    ticket_id: start.here(made.ObjectId),
    author: first?.['author'] ?? (by === account ? actsFor : by),
    body,
    public: made.Type === 'Correspond',
    created_at: first?.['created_at'] ?? shifted(made.Created, shiftMs),
  };
}

/** A time of the real service by the case's clock. */
export function shifted(instant: string, shiftMs: number): string {
  return new Date(Date.parse(instant) + shiftMs).toISOString();
}
