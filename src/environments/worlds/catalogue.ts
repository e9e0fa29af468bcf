import { createHash } from 'node:crypto';
import pg from 'pg';
import type { TextComparison } from '../../domain/record.ts';
import { EnvironmentDefinitionError, type Environment } from '../define.ts';
import type { Layout } from './layout.ts';
import { mainSchema } from './layout.ts';

const { escapeIdentifier } = pg;

/** What building, undoing and grading need to know of a table. Kept with the world, so that no step asks the catalogue again. */
export interface Table {
  /** As effects name it: without schema in the main one, else `schema.table`. A partition goes by its root. */
  readonly name: string;
  readonly schema: string;
  readonly relation: string;
  /** Primary key columns; empty: the whole row is the key. */
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly ignored: readonly string[];
  readonly scale: { readonly [column: string]: number };
  readonly text?: { readonly [column: string]: TextComparison };
}

export interface Column {
  readonly name: string;
  /** `json` and `jsonb` as such; anything else by its SQL name. */
  readonly type: string;
  readonly generated: boolean;
}

export type Tables = { readonly [name: string]: Table };

/** Position of one sequence, as text: the last value, and `/f` behind it when that value has not been given out yet. */
export type Sequences = { readonly [name: string]: string };

/** The quoted name of a table. */
export function relationOf(table: Table): string {
  return `${escapeIdentifier(table.schema)}.${escapeIdentifier(table.relation)}`;
}

/**
 * Tables of a world with the pack's options.
 *
 * @throws {EnvironmentDefinitionError} when an option names a table or column that is not there.
 */
export async function readTables(client: pg.ClientBase, layout: Layout, environment: Environment): Promise<Tables> {
  const { rows } = await client.query<{ schema: string; relation: string; key: string[]; columns: Column[] }>(
    `SELECT n.nspname AS schema, c.relname AS relation,
            coalesce((SELECT json_agg(a.attname ORDER BY k.n)
                        FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
                        JOIN pg_attribute a ON a.attnum = k.attnum
                       WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid), '[]') AS key,
            (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'generated', a.attgenerated <> '') ORDER BY a.attnum)
               FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      ORDER BY array_position($1, n.nspname::text), c.relname`,
    [layout.schemas],
  );
  const options = environment.tables ?? {};
  const tables: Record<string, Table> = {};
  for (const row of rows) {
    const name = row.schema === mainSchema(layout) ? row.relation : `${row.schema}.${row.relation}`;
    const own = Object.hasOwn(options, name) ? options[name] : undefined;
    tables[name] = { name, ...row, columns: row.columns ?? [], ignored: own?.ignored ?? [], scale: own?.scale ?? {}, ...(own?.text && { text: own.text }) };
  }
  requireNames(environment, tables);
  return tables;
}

/** Positions of all sequences of the pack. */
export async function readSequences(client: pg.ClientBase, layout: Layout): Promise<Sequences> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'S' AND n.nspname = ANY($1) ORDER BY 1, 2`,
    [layout.schemas],
  );
  return positionsOf(
    client,
    layout,
    rows.map(({ schema, name }) => (schema === mainSchema(layout) ? name : `${schema}.${name}`)),
  );
}

/** Positions of sequences whose names are known, without a look at the catalogue, which has those of all worlds. */
export async function positionsOf(client: pg.ClientBase, layout: Layout, names: readonly string[]): Promise<Sequences> {
  if (names.length === 0) return {};
  const { rows } = await client.query<{ name: string; position: string }>(
    names
      .map((name) => {
        const position = `last_value::text || CASE WHEN is_called THEN '' ELSE '/f' END`;
        return `SELECT ${pg.escapeLiteral(name)} AS name, ${position} AS position FROM ${sequenceOf(layout, name)}`;
      })
      .join(' UNION ALL '),
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.position]));
}

/** A sequence of the pack, by the name that the registry has for it. */
export function sequenceOf(layout: Layout, name: string): string {
  const dot = name.indexOf('.');
  const relation = dot < 0 ? [mainSchema(layout), name] : [name.slice(0, dot), name.slice(dot + 1)];
  return relation.map((part) => escapeIdentifier(part)).join('.');
}

/** Puts sequences back where they were. Not undone by a rollback, as sequences are. */
export async function setSequences(client: pg.ClientBase, layout: Layout, sequences: Sequences): Promise<void> {
  const now = await positionsOf(client, layout, Object.keys(sequences));
  for (const [name, position] of Object.entries(sequences)) {
    if (now[name] === position) continue;
    const [value, unused] = position.split('/');
    await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [sequenceOf(layout, name), value, unused === undefined]);
  }
}

/** Moves sequences of serial and identity columns past the values that rows hold, so that the next insert does not collide. */
export async function advanceSequences(client: pg.ClientBase, layout: Layout): Promise<void> {
  const { rows } = await client.query<{ sequence: string; relation: string; column: string; up: boolean; position: string; called: boolean }>(
    `SELECT s.oid::regclass::text AS sequence, t.oid::regclass::text AS relation, quote_ident(a.attname) AS column, q.seqincrement > 0 AS up
       FROM pg_depend d
       JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
       JOIN pg_sequence q ON q.seqrelid = s.oid
       JOIN pg_class t ON t.oid = d.refobjid
       JOIN pg_namespace n ON n.oid = t.relnamespace
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
      WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
        AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) AND n.nspname = ANY($1)`,
    [layout.schemas],
  );
  for (const { sequence, relation, column, up } of rows) {
    await client.query(
      `SELECT setval($1::regclass, v.value)
         FROM (SELECT ${up ? 'max' : 'min'}(${column})::bigint AS value FROM ${relation}) v, ${sequence} s
        WHERE v.value ${up ? '>' : '<'} s.last_value OR (v.value = s.last_value AND NOT s.is_called)`,
      [sequence],
    );
  }
}

/**
 * Digest of everything that the catalogue says of a world: tables, columns, constraints, indexes, triggers, functions, types, sequences, views, policies,
 * privileges. Does not depend on the server's version, the world's name or its isolation level.
 */
export async function catalogueDigest(client: pg.ClientBase, layout: Layout): Promise<string> {
  const { rows } = await client.query<{ line: string }>(CATALOGUE, [layout.schemas]);
  const main = mainSchema(layout);
  // The world's own names stand for themselves in every world.
  const lines = rows.map(({ line }) =>
    line
      .replaceAll(layout.sys, '$sys')
      .replaceAll(layout.role, '$world')
      .replaceAll(main === 'public' ? '\0' : main, '$world'),
  );
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

/**
 * Digest of which transactions last wrote the catalogue's rows about a world. Cheap, and equal only while no DDL has touched the world; says nothing across
 * worlds or servers. Where it differs, {@link catalogueDigest} decides.
 */
export async function catalogueStamp(client: pg.ClientBase, layout: Layout): Promise<string> {
  // Named, so that a connection plans it once.
  const { rows } = await client.query<{ stamp: string }>({ name: 'trialbed_stamp', text: STAMP, values: [layout.schemas] });
  return rows[0]?.stamp ?? '';
}

const STAMP = `
  WITH o AS MATERIALIZED (SELECT d.classid, d.objid FROM pg_namespace n JOIN pg_depend d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid WHERE n.nspname = ANY($1)),
       rel AS MATERIALIZED (SELECT c.oid, c.xmin FROM o JOIN pg_class c ON c.oid = o.objid WHERE o.classid = 'pg_class'::regclass)
  SELECT md5(string_agg(x, ',' ORDER BY x)) AS stamp FROM (
    SELECT concat('n', n.oid, ':', n.xmin) AS x FROM pg_namespace n WHERE n.nspname = ANY($1)
    UNION ALL SELECT concat('r', oid, ':', xmin) FROM rel
    UNION ALL SELECT concat('a', a.attrelid, ':', a.attnum, ':', a.xmin) FROM rel JOIN pg_attribute a ON a.attrelid = rel.oid
    UNION ALL SELECT concat('d', d.oid, ':', d.xmin) FROM rel JOIN pg_attrdef d ON d.adrelid = rel.oid
    UNION ALL SELECT concat('k', k.oid, ':', k.xmin) FROM rel JOIN pg_constraint k ON k.conrelid = rel.oid
    UNION ALL SELECT concat('i', i.indexrelid, ':', i.xmin) FROM rel JOIN pg_index i ON i.indrelid = rel.oid
    UNION ALL SELECT concat('t', t.oid, ':', t.xmin) FROM rel JOIN pg_trigger t ON t.tgrelid = rel.oid
    UNION ALL SELECT concat('p', y.oid, ':', y.xmin) FROM rel JOIN pg_policy y ON y.polrelid = rel.oid
    UNION ALL SELECT concat('v', w.oid, ':', w.xmin) FROM rel JOIN pg_rewrite w ON w.ev_class = rel.oid
    UNION ALL SELECT concat('s', q.seqrelid, ':', q.xmin) FROM rel JOIN pg_sequence q ON q.seqrelid = rel.oid
    UNION ALL SELECT concat('f', p.oid, ':', p.xmin) FROM o JOIN pg_proc p ON p.oid = o.objid WHERE o.classid = 'pg_proc'::regclass
    UNION ALL SELECT concat('y', t.oid, ':', t.xmin) FROM o JOIN pg_type t ON t.oid = o.objid WHERE o.classid = 'pg_type'::regclass
    UNION ALL SELECT concat('e', e.oid, ':', e.xmin) FROM o JOIN pg_enum e ON e.enumtypid = o.objid WHERE o.classid = 'pg_type'::regclass
  ) s`;

function requireNames(environment: Environment, tables: Tables): void {
  const known = Object.keys(tables).join(', ');
  for (const [name, options] of Object.entries(environment.tables ?? {})) {
    const table = Object.hasOwn(tables, name) ? tables[name] : undefined;
    if (!table) throw new EnvironmentDefinitionError(environment.name, `tables.${name}: there is no such table (there are: ${known})`);
    for (const column of [...(options.ignored ?? []), ...Object.keys(options.scale ?? {}), ...Object.keys(options.text ?? {})]) {
      if (!table.columns.some((known) => known.name === column))
        throw new EnvironmentDefinitionError(environment.name, `tables.${name}: there is no column ${column}`);
    }
  }
  const tickets = environment.services?.tickets;
  for (const name of tickets ? [tickets.tickets, tickets.comments] : []) {
    if (!Object.hasOwn(tables, name))
      throw new EnvironmentDefinitionError(environment.name, `services.tickets: there is no table ${name} (there are: ${known})`);
  }
}

// Servers print one expression with more or fewer parentheses, blanks and qualifiers; without these they agree.
const plain = (expression: string) => `regexp_replace(coalesce(${expression}, ''), '[\\s()]|"?[a-z_0-9$]+"?\\.', '', 'g')`;

const CATALOGUE = `
  WITH ns AS (SELECT oid, array_position($1, nspname::text) AS n FROM pg_namespace WHERE nspname = ANY($1)),
       rel AS (SELECT c.*, ns.n FROM pg_class c JOIN ns ON ns.oid = c.relnamespace)
  SELECT concat_ws('|', 'relation', n, relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity) AS line FROM rel WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
  UNION ALL
  SELECT concat_ws('|', 'column', n, relname, row_number() OVER (PARTITION BY rel.oid ORDER BY attnum), attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, ${plain('pg_get_expr(d.adbin, d.adrelid)')})
    FROM rel JOIN pg_attribute a ON a.attrelid = rel.oid LEFT JOIN pg_attrdef d ON d.adrelid = rel.oid AND d.adnum = a.attnum
   WHERE relkind IN ('r', 'p', 'v', 'm') AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT concat_ws('|', 'constraint', n, relname, conname, contype, condeferrable, condeferred, convalidated, confupdtype, confdeltype, confmatchtype,
           (SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(conkey) WITH ORDINALITY k(attnum, n) JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.attnum),
           (SELECT relname FROM pg_class WHERE oid = confrelid),
           (SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(confkey) WITH ORDINALITY k(attnum, n) JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.attnum),
           ${plain('pg_get_expr(conbin, conrelid)')})
    FROM rel JOIN pg_constraint k ON k.conrelid = rel.oid WHERE contype IN ('p', 'u', 'f', 'c', 'x')
  UNION ALL
  SELECT concat_ws('|', 'index', n, relname, indisunique, indisprimary, indisvalid, ${plain('pg_get_indexdef(i.indexrelid)')})
    FROM rel JOIN pg_index i ON i.indexrelid = rel.oid
  UNION ALL
  SELECT concat_ws('|', 'trigger', n, relname, tgname, tgtype, tgenabled, p.proname, encode(tgargs, 'escape'), ${plain('pg_get_expr(tgqual, tgrelid)')})
    FROM rel JOIN pg_trigger t ON t.tgrelid = rel.oid JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT tgisinternal
  UNION ALL
  SELECT concat_ws('|', 'function', ns.n, proname, pg_get_function_identity_arguments(p.oid), prorettype::regtype, prokind, provolatile, prosecdef, proconfig::text, md5(prosrc),
           (SELECT string_agg(coalesce(r.rolname, 'public'), ',' ORDER BY r.rolname) FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) a LEFT JOIN pg_roles r ON r.oid = a.grantee WHERE a.grantee <> proowner))
    FROM pg_proc p JOIN ns ON ns.oid = p.pronamespace
   WHERE proname <> 'world_now' AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  UNION ALL
  SELECT concat_ws('|', 'type', ns.n, typname, typtype, typnotnull, CASE WHEN typtype = 'd' THEN format_type(typbasetype, typtypmod) END,
           (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid),
           (SELECT string_agg(${plain('pg_get_expr(conbin, 0)')}, ',' ORDER BY conname) FROM pg_constraint WHERE contypid = t.oid AND contype = 'c'))
    FROM pg_type t JOIN ns ON ns.oid = t.typnamespace WHERE typtype IN ('e', 'd', 'r')
  UNION ALL
  SELECT concat_ws('|', 'sequence', n, relname, seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle) FROM rel JOIN pg_sequence q ON q.seqrelid = rel.oid
  UNION ALL
  SELECT concat_ws('|', 'view', n, relname, ${plain('pg_get_viewdef(rel.oid)')}) FROM rel WHERE relkind IN ('v', 'm')
  UNION ALL
  SELECT concat_ws('|', 'policy', n, relname, polname, polcmd, polpermissive, ${plain('pg_get_expr(polqual, polrelid)')}, ${plain('pg_get_expr(polwithcheck, polrelid)')}) FROM rel JOIN pg_policy y ON y.polrelid = rel.oid
  UNION ALL
  SELECT concat_ws('|', 'privilege', n, relname, coalesce(r.rolname, 'public'), a.privilege_type, a.is_grantable)
    FROM rel, aclexplode(relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee WHERE a.grantee <> relowner`;
