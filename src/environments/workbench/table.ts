import pg from 'pg';
import type { JsonObject } from '../../domain/json.ts';
import { type TableOptions, ToolFailure, type WorldSql } from '../define.ts';

/**
 * A table whose row order is part of the world. Rows of the data folder have positions from 0, in the order of the file; rows made in a world start
 * at {@link FIRST_NEW_POSITION}, so that a deleted row of the folder never lends its position to a new one. The position is the primary key, and
 * the id an ordinary cell: an update may set the id, also to one that another row has.
 */
export interface OrderedTable {
  readonly name: string;
  /** Column that holds the id. */
  readonly id: string;
  /** The cells that tools show, in the order of the data file. */
  readonly columns: readonly string[];
}

/** Letter case does not count, except in columns that hold one of a few words. Positions count, and with them the order of rows. */
export function comparisonOf(table: OrderedTable, exact: readonly string[] = []): { readonly [table: string]: TableOptions } {
  return { [table.name]: { text: Object.fromEntries(table.columns.map((column) => [column, exact.includes(column) ? 'exact' : 'caseless'])) } };
}

const FIRST_NEW_POSITION = 1_000_000;

/** A row as tools show it. */
export type Cells = { readonly [column: string]: string | null };

/** The select list of the cells that tools show. */
export function cellsOf(table: OrderedTable): string {
  return table.columns.map(quoted).join(', ');
}

export function quoted(identifier: string): string {
  return pg.escapeIdentifier(identifier);
}

/** The first row of this id in row order, or null. */
export async function rowById(db: WorldSql, table: OrderedTable, id: string): Promise<Cells | null> {
  const rows = await db.query<Cells>(`select ${cellsOf(table)} from ${quoted(table.name)} where ${quoted(table.id)} = $1 order by position limit 1`, [id]);
  return rows[0] ?? null;
}

/** Keeps other writers of the table out until the transaction ends: what comes next depends on its largest id and its last row. */
export async function lockForAppend(db: WorldSql, table: OrderedTable): Promise<void> {
  await db.query(`lock table ${quoted(table.name)} in share row exclusive mode`);
}

/**
 * The largest id as text, read as an integer, plus one.
 * @throws {ToolFailure} `id_not_a_number` when there is no row, or the largest id is no integer.
 */
export async function nextId(db: WorldSql, table: OrderedTable): Promise<string> {
  const id = quoted(table.id);
  const rows = await db.query<{ largest: string | null }>(`select max(${id} collate "C") as largest from ${quoted(table.name)}`);
  const largest = rows[0]?.largest ?? null;
  if (largest === null || !/^\s*[+-]?\d+\s*$/.test(largest)) {
    throw new ToolFailure(
      'id_not_a_number',
      `The largest ${table.id} is ${largest === null ? 'missing' : `"${largest}"`}, so that no new one can be made. Nothing was changed.`,
    );
  }
  return String(BigInt(largest.trim()) + 1n);
}

/** Adds a row at the end. Call {@link lockForAppend} before. */
export async function append(db: WorldSql, table: OrderedTable, cells: JsonObject): Promise<void> {
  const columns = Object.keys(cells);
  const places = columns.map((_, i) => `$${i + 2}`);
  await db.query(
    `insert into ${quoted(table.name)} (position, ${columns.map(quoted).join(', ')})
     select greatest($1::bigint, max(position) + 1), ${places.join(', ')} from ${quoted(table.name)}`,
    [FIRST_NEW_POSITION, ...columns.map((column) => cells[column])],
  );
}

/** Sets one cell of every row of this id. Returns how many there were. */
export async function setCell(db: WorldSql, table: OrderedTable, id: string, column: string, value: string): Promise<number> {
  const rows = await db.query(`update ${quoted(table.name)} set ${quoted(column)} = $2 where ${quoted(table.id)} = $1 returning position`, [id, value]);
  return rows.length;
}

/** Removes every row of this id. Returns how many there were. */
export async function removeById(db: WorldSql, table: OrderedTable, id: string): Promise<number> {
  const rows = await db.query(`delete from ${quoted(table.name)} where ${quoted(table.id)} = $1 returning position`, [id]);
  return rows.length;
}
