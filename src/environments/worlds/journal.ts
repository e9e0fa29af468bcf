import pg from 'pg';
import type { Effect, MailEffect, RowChange, RowEffect } from '../../domain/effect.ts';
import { relationOf, type Table, type Tables } from './catalogue.ts';
import { JournalMismatchError } from './errors.ts';
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
  /** The rule of the fault schedule by which somebody else changed the row; null: the agent's part. */
  readonly rule: number | null;
  readonly at: string;
}

/** Changes since the trial began (`run`: the agent's and those of faults), or also those that made the case's initial state. In order. `limit`: no more than the first so many; null: all. */
export async function readJournal(client: pg.ClientBase | pg.Pool, layout: Layout, phase: 'run' | 'all', limit: number | null = null): Promise<JournalRow[]> {
  const { rows } = await client.query<Omit<JournalRow, 'seq'> & { seq: string }>(
    `SELECT seq, tbl, change, key::text AS key, before::text AS before, after::text AS after, operation, attempt, rule, ${isoUtc('at')} AS at
       FROM ${inSys(layout, 'journal')} WHERE $1 = 'all' OR phase <> 'state' ORDER BY seq LIMIT $2`,
    [phase, limit],
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
      ...(row.rule === null ? {} : { byFault: row.rule }),
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
 * Takes all changes back (`back`), or makes them (`forth`), without firing any trigger. In the transaction of `client`, whose role must be able to set
 * `session_replication_role`. Tables with a key go in one step each; rows of a table without one, change by change.
 *
 * @throws {JournalMismatchError}
 */
export async function replay(
  client: pg.ClientBase,
  tables: Tables,
  journal: readonly Pick<JournalRow, 'tbl' | 'before' | 'after' | 'seq'>[],
  direction: 'back' | 'forth',
): Promise<void> {
  await client.query("SET LOCAL session_replication_role = 'replica'");
  const ordered = (direction === 'back' ? [...journal].reverse() : journal).map((row) => ({
    tbl: row.tbl,
    from: direction === 'back' ? row.after : row.before,
    to: direction === 'back' ? row.before : row.after,
  }));
  for (const name of new Set(ordered.map((row) => row.tbl))) {
    const table = Object.hasOwn(tables, name) ? tables[name] : undefined;
    if (!table) throw new Error(`the journal names table ${name}, which is not there`);
    const changes = ordered.filter((row) => row.tbl === name);
    if (table.key.length > 0) await replaceRows(client, table, changes);
    else for (const change of changes) await changeRow(client, table, change);
  }
  await client.query("SET LOCAL session_replication_role = 'origin'");
}

/** Tables with a touched row that is not as the seed has it; empty when all is back. A table without a key is compared whole. */
export async function touchedUnlikeSeed(
  client: pg.ClientBase,
  generation: string,
  tables: Tables,
  journal: readonly Pick<JournalRow, 'tbl' | 'before' | 'after'>[],
): Promise<string[]> {
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
  const { rows } = await client.query<{ digest: string | null }>('SELECT contents ->> $2 AS digest FROM trialbed.generations WHERE generation = $1', [
    generation,
    table.name,
  ]);
  return rows[0]?.digest === now[table.name];
}

/** A change of one row, in the direction in which it is made. */
interface Change {
  readonly from: string | null;
  readonly to: string | null;
}

/** Removes every touched row and puts in those that stand at the end: no order of changes can then collide with a unique constraint. */
async function replaceRows(client: pg.ClientBase, table: Table, changes: readonly Change[]): Promise<void> {
  /** By key: the image at the start and at the end; null: no row of that key. */
  const rows = new Map<string, { readonly start: string | null; end: string | null }>();
  const touch = (image: string | null, started: boolean, ended: boolean) => {
    if (image === null) return;
    const parsed = parseImage(image);
    const key = JSON.stringify(table.key.map((column) => parsed[column]));
    const known = rows.get(key) ?? { start: started ? image : null, end: null };
    known.end = ended ? image : null;
    rows.set(key, known);
  };
  for (const { from, to } of changes) {
    touch(from, true, false);
    touch(to, false, true);
  }
  const relation = relationOf(table);
  const starts = [...rows.values()].flatMap((row) => row.start ?? []);
  const ends = [...rows.values()].flatMap((row) => row.end ?? []);
  const all = [...rows.values()].flatMap((row) => row.start ?? row.end ?? []);
  // Rows that are new in between and gone at the end are in neither list; a left-over of theirs would show in the check of touched rows.
  const deleted = await client.query(
    `DELETE FROM ${relation} t WHERE (${keyTuple(table, 't')}) IN (SELECT ${keyTuple(table, 'r')} FROM json_populate_recordset(NULL::${relation}, $1::json) r)`,
    [`[${all.join(',')}]`],
  );
  if (deleted.rowCount !== starts.length) throw new JournalMismatchError(table.name, `speaks of ${starts.length} rows, and ${deleted.rowCount} are there`);
  if (ends.length === 0) return;
  const list = columnList(writable(table));
  await client.query(`INSERT INTO ${relation} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM json_populate_recordset(NULL::${relation}, $1::json)`, [
    `[${ends.join(',')}]`,
  ]);
}

/** One change of a table without a key: of one of the rows that look so, since they cannot be told apart. */
async function changeRow(client: pg.ClientBase, table: Table, { from, to }: Change): Promise<void> {
  const relation = relationOf(table);
  const list = columnList(writable(table));
  if (from !== null) {
    const { rowCount } = await client.query(
      `DELETE FROM ${relation} t WHERE t.ctid = (SELECT u.ctid FROM ${relation} u WHERE row_to_json(u)::text = $1 LIMIT 1)`,
      [from],
    );
    if (rowCount !== 1) throw new JournalMismatchError(table.name, 'speaks of a row that is not there');
  }
  if (to !== null)
    await client.query(`INSERT INTO ${relation} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM json_populate_record(NULL::${relation}, $1::json)`, [to]);
}

function keyTuple(table: Table, alias: string): string {
  return table.key.map((column) => `${alias}.${escapeIdentifier(column)}`).join(', ');
}
