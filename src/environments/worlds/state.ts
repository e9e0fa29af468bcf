import pg from 'pg';
import type { StateChange } from '../../domain/case.ts';
import type { JsonObject } from '../../domain/json.ts';
import { advanceSequences, type Column, relationOf, type Table, type Tables } from './catalogue.ts';
import { WorldStateError } from './errors.ts';
import { columnList, writable } from './fingerprint.ts';
import type { Layout } from './layout.ts';
import { searchPath } from './layout.ts';

const { escapeIdentifier } = pg;

/**
 * Applies changes of rows that are not the agent's, in the transaction of `client` as the administrator: those of a case's initial state (`byFault` null; in
 * the journal as phase `state`, and no effects), or those of a fault rule (phase `fault`, effects by somebody else's hand). A reset undoes both.
 *
 * @throws {WorldStateError} for an unknown table or column, a refused value, or an update or delete that meets no row.
 */
export async function applyState(
  client: pg.ClientBase,
  layout: Layout,
  tables: Tables,
  changes: readonly StateChange[],
  byFault: number | null = null,
): Promise<void> {
  if (changes.length === 0) return;
  await client.query("SELECT set_config('trialbed.phase', $2, true), set_config('trialbed.rule', $3, true), set_config('search_path', $1, true)", [
    searchPath(layout),
    byFault === null ? 'state' : 'fault',
    byFault === null ? '' : String(byFault),
  ]);
  for (const [index, change] of changes.entries()) {
    try {
      await applyOne(client, tables, change, index);
    } catch (error) {
      if (error instanceof WorldStateError) throw error;
      throw new WorldStateError(index, error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
  await advanceSequences(client, layout);
  await client.query("SELECT set_config('trialbed.phase', '', true), set_config('search_path', 'pg_catalog', true)");
}

async function applyOne(client: pg.ClientBase, tables: Tables, change: StateChange, index: number): Promise<void> {
  if ('insert' in change) {
    const table = tableOf(tables, change.insert, index);
    for (const row of change.rows) {
      const list = columnList(columnsOf(table, row, index));
      await client.query(`INSERT INTO ${relationOf(table)} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM ${image(table, 1)}`, [JSON.stringify(row)]);
    }
    return;
  }
  const update = 'update' in change;
  const table = tableOf(tables, update ? change.update : change.delete, index);
  const which = columnsOf(table, change.where, index);
  if (which.length === 0) throw new WorldStateError(index, 'where names no column');
  const relation = relationOf(table);
  const where = which.map((column) => `t.${escapeIdentifier(column.name)} IS NOT DISTINCT FROM w.${escapeIdentifier(column.name)}`).join(' AND ');
  let count: number | null;
  if (update) {
    const set = columnsOf(table, change.set, index);
    const assignments = `(${columnList(set)}) = (SELECT ${columnList(set, 'n.')} FROM ${image(table, 2)} n)`;
    count = (
      await client.query(`UPDATE ${relation} t SET ${assignments} FROM ${image(table, 1)} w WHERE ${where}`, [
        JSON.stringify(change.where),
        JSON.stringify(change.set),
      ])
    ).rowCount;
  } else {
    count = (await client.query(`DELETE FROM ${relation} t USING ${image(table, 1)} w WHERE ${where}`, [JSON.stringify(change.where)])).rowCount;
  }
  if (!count) throw new WorldStateError(index, `no row of ${table.name} is like ${JSON.stringify(change.where)}`);
}

function image(table: Table, parameter: number): string {
  return `json_populate_record(NULL::${relationOf(table)}, $${parameter}::json)`;
}

function tableOf(tables: Tables, name: string, index: number): Table {
  const table = Object.hasOwn(tables, name) ? tables[name] : undefined;
  if (!table) throw new WorldStateError(index, `there is no table ${name} (there are: ${Object.keys(tables).join(', ')})`);
  return table;
}

function columnsOf(table: Table, row: JsonObject, index: number): Column[] {
  return Object.keys(row).map((name) => {
    const column = writable(table).find((known) => known.name === name);
    if (!column) throw new WorldStateError(index, `table ${table.name} has no column ${name} that can be written`);
    return column;
  });
}
