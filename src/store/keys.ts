import { KeyMissingError } from '../keys/errors.ts';
import type { Sealing } from '../keys/sealing.ts';
import type { Database, Sql } from './database.ts';
import { placeOf, SEALED_COLUMNS, type SealedTable } from './sealed-columns.ts';

/** How much of the store a key opens. */
export interface KeyUse {
  /** Null: what is not encrypted. */
  readonly key: string | null;
  /** Everything new is encrypted with it. */
  readonly current: boolean;
  /** This process has it. */
  readonly known: boolean;
  /** Values in the store, by table. */
  readonly values: { readonly [table: string]: number };
  readonly firstUsed: string | null;
  /** Since when nothing in the store needs it; histories in Temporal may. */
  readonly retiredAt: string | null;
}

export interface Rotation {
  /** Values that were encrypted anew. */
  readonly changed: number;
  /** Values that another process held on to; asked again, they come next. */
  readonly left: number;
}

const PROOF = 'the store';

/** @throws {KeyMissingError} for a key that the store needs and the ring has not {@link KeyWrongError} for another one of that name */
export async function checkKeys(sql: Sql, now: Date): Promise<void> {
  const { sealing } = sql;
  const { ring } = sealing;
  const rows = await sql.query<KeyRow>('select id, proof, first_used, retired_at from trialbed.keys order by id');
  for (const { id, proof, retired_at } of rows) {
    if (ring.ids.includes(id)) sealing.open(proof, PROOF);
    else if (retired_at === null) throw new KeyMissingError(id, PROOF, ring.ids);
  }
  if (ring.current === null || rows.some(({ id, retired_at }) => id === ring.current && retired_at === null)) return;
  const [row] = await sql.query<Pick<KeyRow, 'proof'>>(
    `insert into trialbed.keys (id, proof, first_used) values ($1, $2, $3) on conflict (id) do update set retired_at = null returning proof`,
    [ring.current, sealing.text('trialbed', PROOF), now],
  );
  // Another process may have been first, with another key of this name.
  if (row) sealing.open(row.proof, PROOF);
}

/** The current key first, what is not encrypted last. */
export async function listKeys(sql: Sql): Promise<readonly KeyUse[]> {
  const { ring } = sql.sealing;
  const rows = await sql.query<KeyRow>('select id, proof, first_used, retired_at from trialbed.keys order by first_used desc, id');
  const counts = new Map<string | null, { [table: string]: number }>();
  for (const { table, column } of columns()) {
    const used = await sql.query<{ key: string | null; n: number }>(
      `select ${keyOf(column)} as key, count(*)::int as n from trialbed.${table} where ${holds(column)} group by 1`,
    );
    for (const { key, n } of used) {
      const values = counts.get(key) ?? {};
      values[table] = (values[table] ?? 0) + n;
      counts.set(key, values);
    }
  }
  const known = (id: string) => ring.ids.includes(id);
  const all: KeyUse[] = rows.map(({ id, first_used, retired_at }) => ({
    key: id,
    current: id === ring.current,
    known: known(id),
    values: counts.get(id) ?? {},
    firstUsed: first_used.toISOString(),
    // A worker that had it in front of the others may have written since it was retired.
    retiredAt: counts.has(id) ? null : (retired_at?.toISOString() ?? null),
  }));
  const unused = ring.ids.filter((id) => !rows.some((row) => row.id === id));
  all.push(...unused.map((key) => ({ key, current: false, known: true, values: {}, firstUsed: null, retiredAt: null })));
  const plain = counts.get(null);
  if (plain) all.push({ key: null, current: ring.current === null, known: true, values: plain, firstUsed: null, retiredAt: null });
  return all.toSorted((a, b) => Number(b.current) - Number(a.current));
}

/**
 * Encrypts with the current key what is in clear or under another one, in transactions of at most `batch` rows each, beside whatever runs. May be broken off at any time. Keys of
 * which nothing is left are marked as retired.
 */
export async function rotateKeys(
  database: Database,
  options: { readonly batch: number; readonly now: Date; readonly onProgress: (changed: number) => void; readonly signal?: AbortSignal },
): Promise<Rotation> {
  const { current } = database.sealing.ring;
  if (current === null) return { changed: 0, left: 0 };
  let changed = 0;
  for (const { table, column } of columns()) {
    let after = '(0,0)';
    for (;;) {
      options.signal?.throwIfAborted();
      const done = await database.transaction((sql) => rotateSome(sql, table, column, after, options.batch));
      changed += done.changed;
      if (done.last === null) break;
      after = done.last;
      options.onProgress(changed);
    }
  }
  const uses = await listKeys(database);
  const left = uses.filter(({ key }) => key !== current).reduce((sum, { values }) => sum + Object.values(values).reduce((a, b) => a + b, 0), 0);
  const free = uses.flatMap(({ key, values }) => (key !== null && key !== current && Object.keys(values).length === 0 ? [key] : []));
  await database.query('update trialbed.keys set retired_at = $2 where id = any ($1::text[]) and retired_at is null', [free, options.now]);
  const used = uses.flatMap(({ key, values }) => (key !== null && Object.keys(values).length > 0 ? [key] : []));
  await database.query('update trialbed.keys set retired_at = null where id = any ($1::text[]) and retired_at is not null', [used]);
  return { changed, left };
}

async function rotateSome(sql: Sql, table: SealedTable, column: string, after: string, batch: number): Promise<{ changed: number; last: string | null }> {
  const { sealing } = sql;
  const rows = await sql.query<{ place: string; trial: string; value: unknown }>(
    `select ctid::text as place, trial, ${column} as value from trialbed.${table}
     where ctid > $1::tid and ${holds(column)} and ${keyOf(column)} is distinct from $2 order by ctid limit $3 for update skip locked`,
    [after, sealing.ring.current, batch],
  );
  for (const { place, trial, value } of rows) {
    await sql.query(`update trialbed.${table} set ${column} = $2 where ctid = $1::tid`, [
      place,
      sealedAgain(sealing, value, column, placeOf(table, column as never, trial)),
    ]);
  }
  return { changed: rows.length, last: rows.length < batch ? null : (rows.at(-1)?.place ?? null) };
}

function sealedAgain(sealing: Sealing, value: unknown, column: string, place: string): string {
  if (column === 'summary') {
    const summary = value as { readonly why: unknown };
    return JSON.stringify({ ...summary, why: JSON.parse(sealing.text(sealing.open(summary.why, place), place)) });
  }
  // Of a request for an approval the server has to see whether people are asked; it stands there in either form.
  const clear = column === 'subject' ? { people: (value as { readonly people?: unknown }).people } : {};
  return sealing.text(sealing.open(value, place), place, clear);
}

function columns(): { readonly table: SealedTable; readonly column: string }[] {
  return (Object.keys(SEALED_COLUMNS) as SealedTable[]).flatMap((table) => SEALED_COLUMNS[table].map((column) => ({ table, column })));
}

/** Of type json, of which no operator can be asked where it holds an escape such as \u0000, so it is read as the text that it is: ours begins like this. */
function keyOf(column: string): string {
  const before = column === 'summary' ? '"why":' : '^';
  return `substring(${column}::text from '${before}\\{"sealed":1,"key":"([a-z0-9-]+)"')`;
}

/** Whether there is anything to encrypt. */
function holds(column: string): string {
  if (column === 'summary') return `${column} is not null and ${column}::text !~ '"why":null'`;
  // Of mails that were removed nothing is left to encrypt.
  return column === 'raw_mails' ? `${column} is not null and ${column}::text <> '[]'` : `${column} is not null`;
}

interface KeyRow {
  readonly id: string;
  readonly proof: string;
  readonly first_used: Date;
  readonly retired_at: Date | null;
}
