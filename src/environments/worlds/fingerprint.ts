import pg from 'pg';
import { catalogueDigest, type Column, relationOf, type Table, type Tables } from './catalogue.ts';
import type { Layout } from './layout.ts';

const { escapeIdentifier, escapeLiteral } = pg;

/** What two worlds of a generation have in common before anything happened in them. */
export interface Fingerprint {
  /** sha256, hexadecimal. */
  readonly catalogue: string;
  /** By table: number of rows and a digest of them in any order. */
  readonly contents: { readonly [table: string]: string };
}

/** Reads the whole of a world. For small worlds milliseconds; used at creation, after a crash of the server, and on one reset in a hundred. */
export async function fingerprint(client: pg.ClientBase, layout: Layout, tables: Tables): Promise<Fingerprint> {
  return { catalogue: await catalogueDigest(client, layout), contents: await contents(client, tables) };
}

/** Digests of all tables. The session must print as `openPool` sets it. */
export async function contents(client: pg.ClientBase, tables: Tables): Promise<{ readonly [table: string]: string }> {
  const found: Record<string, string> = {};
  for (const table of Object.values(tables)) {
    const { rows } = await client.query<{ digest: string }>(
      `SELECT count(*) || ' ' || md5(coalesce(string_agg(h, ',' ORDER BY h), '')) AS digest FROM (SELECT ${rowHash('t')} AS h FROM ${relationOf(table)} t) r`,
    );
    found[table.name] = rows[0]?.digest ?? '';
  }
  return found;
}

/** Names what differs: `catalogue`, or tables. Empty: equal. */
export function differences(expected: Fingerprint, found: Fingerprint): string[] {
  const names = new Set([...Object.keys(expected.contents), ...Object.keys(found.contents)]);
  return [
    ...(expected.catalogue === found.catalogue ? [] : ['catalogue']),
    ...[...names].filter((name) => expected.contents[name] !== found.contents[name]).map((name) => `table ${name}`),
  ];
}

/** SQL for the hash of a row of alias `t`. The text of the row, not its JSON: there, a JSON null and a NULL look alike. */
export function rowHash(alias: string): string {
  return `md5(${alias}::text)`;
}

/** SQL for the key of a row of alias `t`, equal to the journal's `key`. */
export function keyOf(table: Table, alias: string): string {
  if (table.key.length === 0) return `row_to_json(${alias})::jsonb`;
  return `jsonb_build_object(${table.key.map((column) => `${escapeLiteral(column)}, row_to_json(${alias}) -> ${escapeLiteral(column)}`).join(', ')})`;
}

/** Columns that a row image can be written back to. */
export function writable(table: Table): readonly Column[] {
  return table.columns.filter((column) => !column.generated);
}

/** Comma-separated quoted names, with a prefix such as `r.`. */
export function columnList(columns: readonly Column[], prefix = ''): string {
  return columns.map((column) => `${prefix}${escapeIdentifier(column.name)}`).join(', ');
}
