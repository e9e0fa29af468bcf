import pg from 'pg';
import { mayEndSessionsOf } from '../hosts/host.ts';
import { TOOL_ROLE } from '../hosts/migrations.ts';
import type { Environment } from '../define.ts';
import type { Blueprint, SqlText } from './blueprint.ts';
import { advanceSequences, readSequences, readTables, relationOf, type Sequences, type Tables } from './catalogue.ts';
import { WorldBuildError } from './errors.ts';
import { writable } from './fingerprint.ts';
import { inSys, type Layout, mainSchema, marker, searchPath, sysDdl, worldNowDdl } from './layout.ts';
import { insertRows } from './seed-rows.ts';

const { escapeIdentifier, escapeLiteral } = pg;

/** World time while a seed is applied: the same for all, so that a default of `world_now()` gives the same rows each time. */
const SEED_CLOCK = { now: '2000-01-01T00:00:00Z', timezone: 'UTC' };

export interface Built {
  readonly layout: Layout;
  readonly tables: Tables;
  readonly sequences: Sequences;
}

/**
 * Puts the pack's schema and seed, and our journal, into an empty schema or database. In the transaction of `client`; the world has no role yet.
 *
 * @throws {WorldBuildError} naming file and line when the server refuses the pack's SQL.
 */
export async function buildContent(client: pg.ClientBase, layout: Layout, worldId: string, environment: Environment, blueprint: Blueprint): Promise<Built> {
  await client.query(sysDdl(layout, SEED_CLOCK));
  await client.query(`COMMENT ON SCHEMA ${escapeIdentifier(layout.sys)} IS ${escapeLiteral(marker(worldId))}`);
  if (blueprint.isDump) await prepareForDump(client, blueprint);
  if (mainSchema(layout) !== 'public') {
    await client.query(`CREATE SCHEMA ${escapeIdentifier(mainSchema(layout))}`);
    await client.query(`COMMENT ON SCHEMA ${escapeIdentifier(mainSchema(layout))} IS ${escapeLiteral(marker(worldId))}`);
  }
  const path = async (of: Layout) => client.query("SELECT set_config('search_path', $1, true)", [searchPath(of)]);
  if (!blueprint.isDump) await client.query(worldNowDdl(layout));
  await path(layout);
  for (const text of blueprint.schema) await runSql(client, 'schema', text, blueprint.isDump);
  const whole = blueprint.needsDatabase ? { ...layout, schemas: await ownSchemas(client, layout) } : layout;
  if (blueprint.isDump) await client.query(worldNowDdl(whole));
  await path(whole);
  const tables = await readTables(client, whole, environment);
  for (const seed of blueprint.seed) {
    if ('sql' in seed) await runSql(client, 'seed', seed);
    else await insertRows(client, tables, seed);
  }
  await advanceSequences(client, whole);
  await addTriggers(client, whole);
  await noteTables(client, whole, tables);
  await client.query("SELECT set_config('search_path', 'pg_catalog', true)");
  return { layout: whole, tables, sequences: await readSequences(client, whole) };
}

/** Makes the world's role with what it may do. Objects are there already. */
export async function createRole(client: pg.ClientBase, layout: Layout, worldId: string, login: { readonly password: string } | null): Promise<void> {
  const role = escapeIdentifier(layout.role);
  await client.query(`CREATE ROLE ${role} ${login ? `LOGIN PASSWORD ${escapeLiteral(login.password)}` : 'NOLOGIN'} NOINHERIT CONNECTION LIMIT 8`);
  await setDefaults(client, layout, layout.role, worldId);
  await client.query(`GRANT ${role} TO ${escapeIdentifier(TOOL_ROLE)}`);
  if (login) await mayEndSessionsOf(client, layout.role);
  await grantContent(client, layout);
}

/** Makes the role that the environment's tool server logs in as, where the world has one: it may what the world's role may. Its writes belong to the operation that it serves. */
export async function createServerRole(client: pg.ClientBase, layout: Layout, worldId: string, password: string): Promise<void> {
  if (layout.serverRole === undefined) return;
  const role = escapeIdentifier(layout.serverRole);
  await client.query(`CREATE ROLE ${role} LOGIN PASSWORD ${escapeLiteral(password)} CONNECTION LIMIT ${SERVER_CONNECTIONS}`);
  await setDefaults(client, layout, layout.serverRole, worldId);
  await client.query(`GRANT ${escapeIdentifier(layout.role)} TO ${role}`);
  await mayEndSessionsOf(client, layout.serverRole);
  await client.query(`UPDATE ${inSys(layout, 'serving')} SET role = $1`, [layout.serverRole]);
}

/** A server may have a pool of its own. */
const SERVER_CONNECTIONS = 20;

async function setDefaults(client: pg.ClientBase, layout: Layout, name: string, worldId: string): Promise<void> {
  const role = escapeIdentifier(name);
  await client.query(`COMMENT ON ROLE ${role} IS ${escapeLiteral(marker(worldId))}`);
  // Defaults of a login session. The session may change them: they guard against accidents, the fence against the rest.
  for (const [setting, value] of Object.entries({ statement_timeout: '60s', lock_timeout: '10s', idle_in_transaction_session_timeout: '60s' })) {
    await client.query(`ALTER ROLE ${role} SET ${setting} = ${escapeLiteral(value)}`);
  }
  await client.query(`ALTER ROLE ${role} SET search_path = ${searchPath(layout)}`);
}

async function grantContent(client: pg.ClientBase, layout: Layout): Promise<void> {
  const role = escapeIdentifier(layout.role);
  for (const name of layout.schemas) {
    const schema = escapeIdentifier(name);
    await client.query(
      `GRANT USAGE ON SCHEMA ${schema} TO ${role};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
       GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role};`,
    );
  }
}

async function prepareForDump(client: pg.ClientBase, blueprint: Blueprint): Promise<void> {
  if (blueprint.schema.some((text) => /^CREATE SCHEMA public;/m.test(text.sql))) await client.query('DROP SCHEMA public');
  await client.query('SET LOCAL check_function_bodies = false');
}

async function ownSchemas(client: pg.ClientBase, layout: Layout): Promise<string[]> {
  const { rows } = await client.query<{ nspname: string }>(
    `SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', $1) ORDER BY nspname <> $2, nspname`,
    [layout.sys, mainSchema(layout)],
  );
  return rows.map((row) => row.nspname);
}

/** Runs a file of the pack. It may hold many statements, and none that ends the transaction that all of this is in. */
async function runSql(client: pg.ClientBase, what: string, text: SqlText, dump = false): Promise<void> {
  const transaction = async () => (await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id')).rows[0]?.id;
  const before = await transaction();
  let sql = text.sql;
  try {
    if (dump) sql = await fitToServer(client, sql);
    await client.query(sql);
  } catch (error) {
    const position = Number((error as { position?: string }).position);
    const line = position > 0 ? sql.slice(0, position).split('\n').length : null;
    throw new WorldBuildError(`${what} ${text.file}${line ? `:${line}` : ''}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if ((await transaction()) !== before)
    throw new WorldBuildError(`${what} ${text.file} must not hold BEGIN, COMMIT or ROLLBACK: a world is made in one transaction`);
}

/** Blanks the settings at a dump's head that this server does not know: a newer pg_dump writes some. A line stays a line, so that an error names the file's. */
async function fitToServer(client: pg.ClientBase, sql: string): Promise<string> {
  const end = sql.search(/^(CREATE|ALTER|COMMENT) /m);
  const head = end < 0 ? sql : sql.slice(0, end);
  const names = [...head.matchAll(/^SET ([a-z_]+) = .*;$/gm)].map((match) => match[1] ?? '');
  const { rows } = await client.query<{ name: string }>('SELECT name FROM pg_settings WHERE name = ANY($1)', [names]);
  const known = new Set(rows.map((row) => row.name));
  return head.replace(/^SET ([a-z_]+) = .*;$/gm, (line, name: string) => (known.has(name) ? line : '')) + sql.slice(head.length);
}

/** After the seed, so that it is not in the journal. The name sorts first: a row is journaled before what other triggers do because of it. */
async function addTriggers(client: pg.ClientBase, layout: Layout): Promise<void> {
  const { rows } = await client.query<{ relation: string; name: string; key: string[] }>(
    `SELECT c.oid::regclass::text AS relation,
            CASE WHEN n.nspname = $2 THEN root.relname ELSE n.nspname || '.' || root.relname END AS name,
            coalesce((SELECT json_agg(a.attname ORDER BY k.n)
                        FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
                        JOIN pg_attribute a ON a.attnum = k.attnum
                       WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid), '[]') AS key
       FROM pg_class c
       JOIN pg_class root ON root.oid = coalesce(pg_partition_root(c.oid), c.oid)
       JOIN pg_namespace n ON n.oid = root.relnamespace
      WHERE n.nspname = ANY($1) AND c.relkind = 'r'`,
    [layout.schemas, mainSchema(layout)],
  );
  for (const { relation, name, key } of rows) {
    await client.query(
      `CREATE TRIGGER "0_trialbed_journal" AFTER INSERT OR UPDATE OR DELETE ON ${relation} FOR EACH ROW EXECUTE FUNCTION ${inSys(layout, 'journal')}(${[name, ...key].map(escapeLiteral).join(', ')});
       CREATE TRIGGER "0_trialbed_truncate" BEFORE TRUNCATE ON ${relation} FOR EACH STATEMENT EXECUTE FUNCTION ${inSys(layout, 'refuse_truncate')}();`,
    );
  }
}

/** What a stale read needs to know, where the world's own functions find it. */
async function noteTables(client: pg.ClientBase, layout: Layout, tables: Tables): Promise<void> {
  const rows = Object.values(tables).map((table) => ({
    name: table.name,
    relation: relationOf(table),
    key: table.key,
    columns: writable(table).map((column) => column.name),
  }));
  const relation = inSys(layout, 'tables');
  await client.query(`INSERT INTO ${relation} SELECT * FROM json_populate_recordset(NULL::${relation}, $1::json)`, [JSON.stringify(rows)]);
}
