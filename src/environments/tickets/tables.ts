import pg from 'pg';
import type { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import type { TicketsOptions, WorldSql } from '../define.ts';
import { TicketProblem } from './problem.ts';
import type { NewComment, NewTicket, PageQuery, TicketChange, TicketQuery } from './schema.ts';

/** One page of a listing. */
export interface Page {
  readonly rows: readonly JsonObject[];
  readonly total: number;
}

/**
 * The service's statements over a pack's two tables. Ids are compared as text, so the table may number them as it likes.
 * A comment does not touch its ticket's `updated_at`: one call, one effect.
 */
export class TicketTables {
  readonly #tickets: string;
  readonly #comments: string;

  constructor(options: TicketsOptions) {
    this.#tickets = pg.escapeIdentifier(options.tickets);
    this.#comments = pg.escapeIdentifier(options.comments);
  }

  async list(sql: WorldSql, query: z.output<typeof TicketQuery>): Promise<Page> {
    const values: unknown[] = [];
    const conditions = ['true'];
    const where = (condition: (placeholder: string) => string, value: string | undefined): void => {
      if (value === undefined) return;
      values.push(value);
      conditions.push(condition(`$${values.length}`));
    };
    where((p) => `status::text = ${p}`, query.status);
    where((p) => `lower(requester::text) = lower(${p})`, query.requester);
    where((p) => `(strpos(lower(subject), lower(${p})) > 0 or strpos(lower(body), lower(${p})) > 0)`, query.q);
    const from = `from ${this.#tickets} where ${conditions.join(' and ')}`;
    return page(sql, `select ${TICKET} ${from} order by created_at, id`, `select count(*)::int as total ${from}`, values, query);
  }

  /** @throws {TicketProblem} 404 */
  async get(sql: WorldSql, id: string): Promise<JsonObject> {
    const rows = await sql.query(`select ${TICKET} from ${this.#tickets} where id::text = $1`, [id]);
    return rows[0] ?? missing(id);
  }

  async create(sql: WorldSql, ticket: z.output<typeof NewTicket>, now: Date): Promise<JsonObject> {
    return insert(sql, this.#tickets, { ...ticket, created_at: now.toISOString(), updated_at: now.toISOString() }, TICKET);
  }

  /** @throws {TicketProblem} 404; 409 when `if_updated_at` does not hold */
  async change(sql: WorldSql, id: string, { if_updated_at: expected, ...changes }: z.output<typeof TicketChange>, now: Date): Promise<JsonObject> {
    const found = await sql.query(`select updated_at = $2::timestamptz as same from ${this.#tickets} where id::text = $1 for update`, [id, expected ?? null]);
    if (found[0] === undefined) missing(id);
    else if (expected !== undefined && found[0].same !== true)
      throw new TicketProblem(409, 'conflict', `ticket ${id} was changed since ${expected}; read it and try again`);
    const entries = Object.entries({ ...changes, updated_at: now.toISOString() }).filter(([, value]) => value !== undefined);
    const set = entries.map(([column], index) => `${pg.escapeIdentifier(column)} = $${index + 2}`).join(', ');
    const rows = await sql.query(`update ${this.#tickets} set ${set} where id::text = $1 returning ${TICKET}`, [id, ...entries.map(([, value]) => value)]);
    return rows[0] ?? missing(id);
  }

  /** @throws {TicketProblem} 404 */
  async comments(sql: WorldSql, id: string, query: z.output<typeof PageQuery>): Promise<Page> {
    await this.get(sql, id);
    const from = `from ${this.#comments} where ticket_id::text = $1`;
    return page(sql, `select ${COMMENT} ${from} order by created_at, id`, `select count(*)::int as total ${from}`, [id], query);
  }

  /** @throws {TicketProblem} 404 */
  async comment(sql: WorldSql, id: string, comment: z.output<typeof NewComment>, now: Date): Promise<JsonObject> {
    const ticket = await this.get(sql, id);
    return insert(sql, this.#comments, { ticket_id: ticket.id, ...comment, created_at: now.toISOString() }, COMMENT);
  }
}

const TICKET = 'id, subject, body, requester, status, priority, assignee, created_at, updated_at';
const COMMENT = 'id, ticket_id, author, body, public, created_at';

async function page(sql: WorldSql, rows: string, count: string, values: readonly unknown[], query: z.output<typeof PageQuery>): Promise<Page> {
  const counted = await sql.query<{ total: number }>(count, values);
  const limit = `limit $${values.length + 1} offset $${values.length + 2}`;
  return { total: counted[0]?.total ?? 0, rows: await sql.query(`${rows} ${limit}`, [...values, query.per_page, (query.page - 1) * query.per_page]) };
}

async function insert(sql: WorldSql, table: string, record: { readonly [column: string]: unknown }, returning: string): Promise<JsonObject> {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  const columns = entries.map(([column]) => pg.escapeIdentifier(column)).join(', ');
  const places = entries.map((_, index) => `$${index + 1}`).join(', ');
  const rows = await sql.query(
    `insert into ${table} (${columns}) values (${places}) returning ${returning}`,
    entries.map(([, value]) => value),
  );
  const row = rows[0];
  if (row === undefined) throw new TicketProblem(409, 'conflict', 'the record was not stored: a rule of the table left it out');
  return row;
}

function missing(id: string): never {
  throw new TicketProblem(404, 'not_found', `there is no ticket ${id}`);
}
