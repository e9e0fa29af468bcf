import type { PreviewRows } from '../../domain/approval.ts';
import type { JsonObject } from '../../domain/json.ts';
import pg from 'pg';
import type { PreviewQuery, WorldSql } from '../define.ts';
import { sqlState } from '../hosts/connection.ts';
import { relationOf, type Table, type Tables } from './catalogue.ts';
import { PreviewError } from './errors.ts';

const { escapeIdentifier } = pg;

/** More than a person reads of one table. */
const MAX_ROWS = 200;
/** How long an approved call waits for writers of its rows before it lets go of what it holds: shorter than the server takes to look for a deadlock. */
const LOCK_MS = 500;

/** SQLSTATE of a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Others held on to the tables for a moment: to be tried again in a new transaction. */
export class HeldByOthersError extends Error {
  override readonly name = 'HeldByOthersError';
  readonly code = 'held_by_others';

  constructor(options: ErrorOptions) {
    super('others are writing to the tables of the preview', options);
  }
}

/**
 * The rows that a preview names, in order of their key, without the columns that never count in a comparison.
 *
 * @throws {PreviewError} for a table or column that is not there, or more rows than an approver reads.
 */
export async function readPreview(sql: WorldSql, tables: Tables, queries: readonly PreviewQuery[]): Promise<readonly PreviewRows[]> {
  const shown: PreviewRows[] = [];
  for (const query of queries) {
    const table = tableOf(tables, query);
    const columns = (query.columns ?? table.columns.map(({ name }) => name)).filter((name) => !table.ignored.includes(name));
    for (const name of [...columns, ...Object.keys(query.where)]) {
      if (!table.columns.some((column) => column.name === name)) throw new PreviewError(`table ${query.table} has no column ${name}`);
    }
    const conditions = Object.entries(query.where);
    const where = conditions.map(([name, value], n) =>
      value === null ? `${escapeIdentifier(name)} IS NULL` : `${escapeIdentifier(name)} = $${n + 1 - nullsBefore(conditions, n)}`,
    );
    const order = (table.key.length > 0 ? table.key : table.columns.map(({ name }) => `${name}`)).map((name) =>
      table.key.length > 0 ? escapeIdentifier(name) : `${escapeIdentifier(name)}::text`,
    );
    const text = `SELECT ${columns.map((name) => escapeIdentifier(name)).join(', ') || '1'} FROM ${relationOf(table)} ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY ${order.join(', ')} LIMIT ${MAX_ROWS + 1}`;
    const rows = await sql.query<JsonObject>(
      text,
      conditions.flatMap(([, value]) => (value === null ? [] : [value])),
    );
    if (rows.length > MAX_ROWS) throw new PreviewError(`it names more than ${MAX_ROWS} rows of ${query.table}; an approver reads fewer`);
    shown.push({ table: query.table, where: query.where, rows });
  }
  return shown;
}

/**
 * Keeps others from writing to the tables that a preview names until the transaction ends: what it then reads is what stands when the write commits. Waits for
 * writers a short while only, so that two that wait for each other never do so for long.
 */
export async function holdStill(client: pg.ClientBase, tables: Tables, queries: readonly PreviewQuery[]): Promise<void> {
  const names = [...new Set(queries.map((query) => relationOf(tableOf(tables, query))))].sort();
  if (names.length === 0) return;
  await client.query(`SELECT set_config('lock_timeout', '${LOCK_MS}', true)`);
  // Also whoever has locked a row to write later is waited for: neither then waits for the other.
  await client.query(`LOCK TABLE ${names.join(', ')} IN EXCLUSIVE MODE`).catch((error: unknown) => {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new HeldByOthersError({ cause: error }) : error;
  });
  await client.query(`SELECT set_config('lock_timeout', '0', true)`);
}

function tableOf(tables: Tables, { table }: PreviewQuery): Table {
  const found = Object.hasOwn(tables, table) ? tables[table] : undefined;
  if (!found) throw new PreviewError(`there is no table ${table}`);
  return found;
}

function nullsBefore(conditions: readonly (readonly [string, unknown])[], n: number): number {
  return conditions.slice(0, n).filter(([, value]) => value === null).length;
}
