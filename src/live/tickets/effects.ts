import type { Effect, RowEffect } from '../../domain/effect.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TableFacts } from '../../domain/record.ts';
import type { LiveRequest, Observed } from '../live-service.ts';
import { attribute, type ChangedField, contentDigest, type Done } from './attribution.ts';
import type { TicketRecord, Transaction } from './records.ts';
import { commentView, isComment, shifted, ticketView, type Viewer } from './view.ts';
import { priorityHere, statusHere } from './words.ts';

/** What a queue shows after its start. */
export interface Seen {
  /** In order, those of the start left out. */
  readonly transactions: readonly Transaction[];
  /** As they stand, by their numbers there. */
  readonly tickets: ReadonlyMap<number, TicketRecord>;
  /** What was written, by transaction. */
  readonly contents: ReadonlyMap<number, string>;
}

/** Changes that the contract has no word for, so that none goes unseen. */
const ELSEWHERE = 'ticket_history';
/** The server's own hand: what its rules do after what somebody did. */
const SERVER = 'RT_System';

/**
 * Effects as the fixture's journal would have them: the server's history, in the contract's words, over the rows of the start. A change that the contract cannot say is a row
 * of `ticket_history`. What the server's own rules did to a ticket is of the operation that came before it.
 */
export function effectsOf(viewer: Viewer, seen: Seen, requests: readonly LiveRequest[]): Omit<Observed, 'version'> {
  const { tables } = viewer.start.kept;
  const changes = seen.transactions.filter((one) => !isNote(one));
  const done = changes.flatMap((one) => (one.Creator.id === viewer.account ? doneOf(viewer, seen, one) : []));
  const { operations, open } = attribute(done, requests);
  const rows = new Map<number, JsonObject>(viewer.start.tickets);
  const last = new Map<number, string | null>();
  const effects: Effect[] = [];
  for (const one of changes) {
    const operation = operations.get(one.id) ?? (one.Creator.id === SERVER ? (last.get(one.ObjectId) ?? null) : null);
    last.set(one.ObjectId, operation);
    const change = changeOf(viewer, seen, rows, one, tables);
    if (change) effects.push({ ...change, kind: 'row', seq: effects.length + 1, operation, at: shifted(one.Created, viewer.shiftMs) });
  }
  return { effects, open, tables: { [ELSEWHERE]: FACTS } };
}

const FACTS: TableFacts = { key: ['id'], ignored: [], scale: {} };

type Change = Pick<RowEffect, 'table' | 'change' | 'key' | 'before' | 'after'>;

/** Null: nothing that the contract shows is another than before. */
function changeOf(
  viewer: Viewer,
  seen: Seen,
  rows: Map<number, JsonObject>,
  one: Transaction,
  tables: { readonly tickets: string; readonly comments: string },
): Change | null {
  const ticket = one.ObjectId;
  const body = seen.contents.get(one.id) ?? '';
  if (isComment(one)) {
    const after = commentView(viewer, one, body);
    return { table: tables.comments, change: 'insert', key: { id: after['id'] ?? null }, before: null, after };
  }
  if (one.Type === 'Create') {
    const record = seen.tickets.get(ticket);
    if (!record) return null;
    const after = { ...ticketView(viewer, record, body), ...firstValues(viewer, seen, one), updated_at: shifted(one.Created, viewer.shiftMs) };
    rows.set(ticket, after);
    return { table: tables.tickets, change: 'insert', key: { id: viewer.start.here(ticket) }, before: null, after };
  }
  const before = rows.get(ticket);
  const value = columnOf(viewer, one, one.NewValue);
  if (!before || !value) {
    const id = viewer.start.here(ticket);
    const after = { id: one.id, ticket_id: id, type: one.Type, field: one.Field, old_value: one.OldValue, new_value: one.NewValue, by: one.Creator.id };
    return { table: ELSEWHERE, change: 'insert', key: { id: one.id }, before: null, after };
  }
  const after = { ...before, ...value, updated_at: shifted(one.Created, viewer.shiftMs) };
  rows.set(ticket, after);
  const same = Object.entries(value).every(([column, now]) => before[column] === now);
  return same ? null : { table: tables.tickets, change: 'update', key: { id: viewer.start.here(ticket) }, before, after };
}

/** What a new ticket was before all that became of it. */
function firstValues(viewer: Viewer, { transactions }: Seen, created: Transaction): JsonObject {
  const later = transactions.filter(({ id, ObjectId }) => ObjectId === created.ObjectId && id > created.id);
  return Object.assign({}, ...later.toReversed().map((one) => columnOf(viewer, one, one.OldValue)));
}

function columnOf({ start }: Viewer, { Type, Field }: Transaction, value: string): JsonObject | null {
  if (Type === 'CustomField') return Number(Field) === start.kept.assignee ? { assignee: value || null } : null;
  return Type === 'Set' || Type === 'Status' ? plainColumn(Field, value) : null;
}

function plainColumn(field: string, value: string): JsonObject | null {
  if (field === 'Status') return { status: statusHere(value) };
  if (field === 'Priority') return { priority: priorityHere(Number(value)) };
  return field === 'Subject' ? { subject: value } : null;
}

function doneOf({ account, start }: Viewer, { contents, tickets }: Seen, one: Transaction): readonly Done[] {
  const { id: transaction, ObjectId: ticket } = one;
  const written = contents.get(transaction) ?? '';
  if (one.Type === 'Create') {
    const subject = tickets.get(ticket)?.Subject ?? '';
    return [{ transaction, kind: 'create', ticket, content: contentDigest(account, [subject, written]) }];
  }
  if (isComment(one)) return [{ transaction, kind: 'comment', ticket, public: one.Type === 'Correspond', content: contentDigest(account, [written]) }];
  const field = one.Type === 'CustomField' ? (Number(one.Field) === start.kept.assignee ? 'Assignee' : null) : changedField(one.Field);
  return field === null ? [] : [{ transaction, kind: 'change', ticket, field, content: contentDigest(account, [one.NewValue]) }];
}

function changedField(field: string): ChangedField | null {
  return field === 'Status' || field === 'Priority' || field === 'Subject' ? field : null;
}

/** What the server notes of its own mails: no change of a ticket. */
function isNote({ Type, Field }: Transaction): boolean {
  return Type === 'EmailRecord' || Type === 'CommentEmailRecord' || (Type === 'Set' && Field === 'Told');
}
