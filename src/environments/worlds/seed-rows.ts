import pg from 'pg';
import type { SeedRows } from './blueprint.ts';
import { type Column, relationOf, type Table, type Tables } from './catalogue.ts';
import { WorldBuildError } from './errors.ts';
import { columnList, writable } from './fingerprint.ts';

const { escapeIdentifier } = pg;

/** Rows to an INSERT of a seed. */
const CHUNK = 1000;

/**
 * Inserts the rows of a seed file, in the transaction of `client`.
 *
 * @throws {WorldBuildError} naming the file, and the line (of a CSV file) or the row that the server refuses.
 */
export async function insertRows(client: pg.ClientBase, tables: Tables, seed: SeedRows): Promise<void> {
  const table = Object.hasOwn(tables, seed.table) ? tables[seed.table] : undefined;
  if (!table) throw new WorldBuildError(`seed ${seed.file}: there is no table ${seed.table} (there are: ${Object.keys(tables).join(', ')})`);
  const insert = seed.keyed ? inserterOfKeyed(client, table, seed, seed.keyed) : inserterOf(client, table, seed);
  // Rows with the same columns go together: a column that a row does not name gets its default.
  const groups = Map.groupBy(seed.rows.keys(), (at) => JSON.stringify(Object.keys(seed.rows[at] ?? {}).filter((name) => name !== seed.keyed?.column)));
  for (const [names, rows] of groups) {
    const some = insert(JSON.parse(names) as string[]);
    for (let at = 0; at < rows.length; at += CHUNK) await insertChunk(client, seed, rows.slice(at, at + CHUNK), some);
  }
}

/** Inserts rows, by their places in the seed. */
type Insert = (rows: readonly number[]) => Promise<unknown>;

function inserterOf(client: pg.ClientBase, table: Table, seed: SeedRows): (names: readonly string[]) => Insert {
  return (names) => {
    const list = columnList(columnsOf(table, seed, names));
    const text = `INSERT INTO ${relationOf(table)} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM json_populate_recordset(NULL::${relationOf(table)}, $1::json)`;
    return (rows) => client.query(text, [JSON.stringify(rows.map((at) => (seed.textual ? parsedJsonColumns(table, seed, at) : seed.rows[at])))]);
  };
}

/** The server takes the file's own text apart: a value parsed and printed here would lose the order of members whose names are numbers. */
function inserterOfKeyed(client: pg.ClientBase, table: Table, seed: SeedRows, keyed: NonNullable<SeedRows['keyed']>): (names: readonly string[]) => Insert {
  return (names) => {
    const [key, ...columns] = columnsOf(table, seed, [keyed.column, ...names]);
    const values = [`m.key::${key?.type}`, ...columns.map((column) => `r.${escapeIdentifier(column.name)}`)];
    const text = `INSERT INTO ${relationOf(table)} (${columnList(key ? [key, ...columns] : columns)}) OVERRIDING SYSTEM VALUE
      SELECT ${values.join(', ')} FROM json_each($1::json) m, json_populate_record(NULL::${relationOf(table)}, m.value) r WHERE m.key = ANY($2)`;
    return (rows) => client.query(text, [keyed.text, rows.map((at) => keyed.names[at] ?? '')]);
  };
}

/** The server does not say which of many rows it refuses, so that one is searched for by halves. */
async function insertChunk(client: pg.ClientBase, seed: SeedRows, rows: readonly number[], insert: Insert): Promise<void> {
  const refusal = await tryInsert(client, rows, insert);
  if (refusal === null) return;
  let left = rows;
  let last = refusal;
  while (left.length > 1) {
    const half = left.slice(0, Math.ceil(left.length / 2));
    const failed = await tryInsert(client, half, insert);
    left = failed === null ? left.slice(half.length) : half;
    last = failed ?? last;
  }
  // The last one by itself says what is wrong with it, after all before it are in.
  last = (await tryInsert(client, left, insert)) ?? last;
  const detail = last.detail === undefined ? '' : ` (${last.detail.replace(/\.$/, '')})`;
  throw new WorldBuildError(`seed ${placeOf(seed, left[0] ?? 0)}, table ${seed.table}: ${last.message}${detail}`, { cause: last });
}

/** What the server says against the rows; null when they are in. @throws what is no refusal, such as a lost connection. */
async function tryInsert(client: pg.ClientBase, rows: readonly number[], insert: Insert): Promise<pg.DatabaseError | null> {
  await client.query('SAVEPOINT seed_rows');
  try {
    await insert(rows);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT seed_rows');
    return error;
  }
  await client.query('RELEASE SAVEPOINT seed_rows');
  return null;
}

function placeOf(seed: SeedRows, at: number): string {
  const line = seed.lines?.[at];
  if (line !== undefined) return `${seed.file}:${line}`;
  return `${seed.file}, ${seed.keyed ? `member ${seed.keyed.names[at]}` : `row ${at + 1}`}`;
}

function columnsOf(table: Table, seed: SeedRows, names: readonly string[]): Column[] {
  return names.map((name) => {
    const column = writable(table).find((known) => known.name === name);
    if (column) return column;
    const known = writable(table).map((one) => one.name);
    throw new WorldBuildError(`seed ${seed.file}: table ${seed.table} has no column ${name} that can be written (there are: ${known.join(', ')})`);
  });
}

function parsedJsonColumns(table: Table, seed: SeedRows, at: number): Record<string, unknown> {
  const result: Record<string, unknown> = { ...seed.rows[at] };
  for (const column of table.columns) {
    const value = result[column.name];
    if ((column.type !== 'json' && column.type !== 'jsonb') || typeof value !== 'string') continue;
    try {
      result[column.name] = JSON.parse(value);
    } catch (error) {
      throw new WorldBuildError(`seed ${placeOf(seed, at)}: column ${column.name} holds text that is not JSON`, { cause: error });
    }
  }
  return result;
}
