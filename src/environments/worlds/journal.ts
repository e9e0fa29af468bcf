import pg from 'pg';
import type { Effect, MailEffect, RowChange, RowEffect } from '../../domain/effect.ts';
import { relationOf, type Table, type Tables } from './catalogue.ts';
import { parseImage } from './exact.ts';
import { columnList, contents, keyOf, rowHash, writable } from './fingerprint.ts';
import { inSys, type Layout } from './layout.ts';

const { escapeIdentifier } = pg;

/** A change as the journal has it; images are the server's own JSON text. */
export interface JournalRow {
  readonly seq: number;
  readonly tbl: string;
  readonly change: RowChange;
  readonly key: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly operation: string | null;
  readonly attempt: number | null;
  readonly at: string;
}

/** Changes of the agent's part (`run`), or also those that made the case's initial state. In order. */
export async function readJournal(client: pg.ClientBase | pg.Pool, layout: Layout, phase: 'run' | 'all'): Promise<JournalRow[]> {
  const { rows } = await client.query<Omit<JournalRow, 'seq'> & { seq: string }>(
    `SELECT seq, tbl, change, key::text AS key, before::text AS before, after::text AS after, operation, attempt, ${isoUtc('at')} AS at
       FROM ${inSys(layout, 'journal')} WHERE $1 = 'all' OR phase = 'run' ORDER BY seq`,
    [phase],
  );
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

/** Journal and mails as effects, merged in order. */
export async function readEffects(client: pg.ClientBase | pg.Pool, layout: Layout): Promise<Effect[]> {
  const rows = (await readJournal(client, layout, 'run')).map(
    (row): RowEffect => ({
      kind: 'row',
      seq: row.seq,
      table: row.tbl,
      change: row.change,
      key: parseImage(row.key),
      before: row.before === null ? null : parseImage(row.before),
      after: row.after === null ? null : parseImage(row.after),
      operation: row.operation,
      at: row.at,
    }),
  );
  const mails = await client.query<{ seq: string; mail: Omit<MailEffect, 'kind' | 'seq' | 'at' | 'operation'>; operation: string | null; at: string }>(
    `SELECT seq, mail, operation, ${isoUtc('at')} AS at FROM ${inSys(layout, 'mails')} ORDER BY seq`,
  );
  const sent = mails.rows.map((row): MailEffect => ({ ...row.mail, kind: 'mail', seq: Number(row.seq), operation: row.operation, at: row.at }));
  return [...rows, ...sent].sort((a, b) => a.seq - b.seq);
}

/** SQL for a time as ISO 8601 in UTC with milliseconds. */
export function isoUtc(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/**
 * Applies changes without firing any trigger: `back` from last to first, `forth` from first to last. In the transaction of `client`, whose role must be
 * able to set `session_replication_role`. A change whose row is not as the journal says throws.
 */
export async function replay(client: pg.ClientBase, tables: Tables, journal: readonly Pick<JournalRow, 'tbl' | 'before' | 'after' | 'seq'>[], direction: 'back' | 'forth'): Promise<void> {
  await client.query("SET LOCAL session_replication_role = 'replica'");
  const ordered = direction === 'back' ? [...journal].reverse() : journal;
  for (const row of ordered) {
    const table = Object.hasOwn(tables, row.tbl) ? tables[row.tbl] : undefined;
    if (!table) throw new Error(`the journal names table ${row.tbl}, which is not there`);
    const [from, to] = direction === 'back' ? [row.after, row.before] : [row.before, row.after];
    const changed = await applyImage(client, table, from, to);
    if (changed !== 1) throw new Error(`change ${row.seq} of table ${row.tbl} met ${changed} rows instead of one`);
  }
  await client.query("SET LOCAL session_replication_role = 'origin'");
}

/** Tables with a touched row that is not as the seed has it; empty when all is back. A table without a key is compared whole. */
export async function touchedUnlikeSeed(client: pg.ClientBase, generation: string, tables: Tables, journal: readonly Pick<JournalRow, 'tbl' | 'before' | 'after'>[]): Promise<string[]> {
  const touched = new Map<Table, Set<string>>();
  for (const row of journal) {
    const table = tables[row.tbl];
    if (!table) continue;
    const images = touched.get(table) ?? new Set<string>();
    for (const image of [row.before, row.after]) if (image !== null) images.add(image);
    touched.set(table, images);
  }
  const unlike: string[] = [];
  for (const [table, images] of touched) {
    const same = table.key.length > 0 ? await rowsLikeSeed(client, generation, table, [...images]) : await tableLikeSeed(client, generation, table);
    if (!same) unlike.push(`table ${table.name}`);
  }
  return unlike;
}

async function rowsLikeSeed(client: pg.ClientBase, generation: string, table: Table, images: readonly string[]): Promise<boolean> {
  const relation = relationOf(table);
  const { rows } = await client.query(
    `WITH r AS (SELECT * FROM json_populate_recordset(NULL::${relation}, $2::json)),
          touched AS (SELECT DISTINCT md5((${keyOf(table, 'r')})::text) AS key FROM r),
          now AS (SELECT md5((${keyOf(table, 't')})::text) AS key, ${rowHash('t')} AS hash FROM ${relation} t WHERE (${keyTuple(table, 't')}) IN (SELECT ${keyTuple(table, 'r')} FROM r)),
          seed AS (SELECT key, hash FROM trialbed.seed_rows WHERE generation = $1 AND tbl = $3)
     SELECT 1 FROM touched LEFT JOIN now USING (key) LEFT JOIN seed USING (key) WHERE now.hash IS DISTINCT FROM seed.hash LIMIT 1`,
    [generation, `[${images.join(',')}]`, table.name],
  );
  return rows.length === 0;
}

async function tableLikeSeed(client: pg.ClientBase, generation: string, table: Table): Promise<boolean> {
  const now = await contents(client, { [table.name]: table });
  const { rows } = await client.query<{ digest: string | null }>('SELECT contents ->> $2 AS digest FROM trialbed.generations WHERE generation = $1', [generation, table.name]);
  return rows[0]?.digest === now[table.name];
}

async function applyImage(client: pg.ClientBase, table: Table, from: string | null, to: string | null): Promise<number> {
  const relation = relationOf(table);
  const image = (parameter: number) => `json_populate_record(NULL::${relation}, $${parameter}::json)`;
  if (from === null) {
    const list = columnList(writable(table, { update: false }));
    const result = await client.query(`INSERT INTO ${relation} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM ${image(1)}`, [to]);
    return result.rowCount ?? 0;
  }
  // Without a key, one of the rows that look so; they cannot be told apart.
  const which =
    table.key.length > 0
      ? `(${keyTuple(table, 't')}) = (SELECT ${keyTuple(table, 'f')} FROM ${image(1)} f)`
      : `t.ctid = (SELECT u.ctid FROM ${relation} u WHERE row_to_json(u)::text = $1::text LIMIT 1)`;
  if (to === null) return (await client.query(`DELETE FROM ${relation} t WHERE ${which}`, [from])).rowCount ?? 0;
  const columns = writable(table, { update: true });
  const result = await client.query(`UPDATE ${relation} t SET (${columnList(columns)}) = (SELECT ${columnList(columns, 'n.')} FROM ${image(2)} n) WHERE ${which}`, [from, to]);
  return result.rowCount ?? 0;
}

function keyTuple(table: Table, alias: string): string {
  return table.key.map((column) => `${alias}.${escapeIdentifier(column)}`).join(', ');
}
