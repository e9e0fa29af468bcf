import pg from 'pg';
import { inTransaction, openPool, withDatabase } from '../hosts/connection.ts';
import type { Host } from '../hosts/host.ts';
import { WORLDS_DATABASE } from '../hosts/migrations.ts';
import { restrictDatabase } from '../hosts/privileges.ts';
import type { LoadedEnvironment } from '../world.ts';
import type { Blueprint } from './blueprint.ts';
import { buildContent } from './build.ts';
import { readSequences, readTables, type Sequences, type Tables } from './catalogue.ts';
import type { Layout } from './layout.ts';

const { escapeIdentifier, escapeLiteral } = pg;

/** Comment of every template; how one is told from a foreign database. */
const TEMPLATE_MARKER = 'trialbed template';

export interface Template {
  readonly database: string;
  readonly layout: Layout;
  readonly tables: Tables;
  readonly sequences: Sequences;
}

/** Fixed names inside a database of one world. A dump brings its own. */
export function schemasInDatabase(blueprint: Blueprint): Pick<Layout, 'schemas' | 'sys'> {
  return { schemas: [blueprint.needsDatabase ? 'public' : 'trialbed_world'], sys: 'trialbed_world_sys' };
}

/** The database that worlds of a generation are cloned from; made at first use, one builder at a time. */
export async function ensureTemplate(host: Host, environment: LoadedEnvironment, blueprint: Blueprint): Promise<Template> {
  const known = await findTemplate(host, environment);
  if (known) return known;
  const guard = new pg.Client({ connectionString: withDatabase(host.adminUrl, WORLDS_DATABASE), application_name: 'trialbed template' });
  guard.on('error', () => undefined);
  await guard.connect();
  try {
    await guard.query("SELECT pg_advisory_lock(hashtextextended('trialbed template ' || $1, 0))", [environment.generation]);
    return (await findTemplate(host, environment)) ?? (await makeTemplate(host, environment, blueprint));
  } finally {
    await guard.end().catch(() => undefined);
  }
}

async function makeTemplate(host: Host, environment: LoadedEnvironment, blueprint: Blueprint): Promise<Template> {
  const database = `trialbed_t_${environment.generation.slice(0, 24)}`;
  const name = escapeIdentifier(database);
  await host.admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await host.admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`);
  await host.admin.query(`COMMENT ON DATABASE ${name} IS ${escapeLiteral(TEMPLATE_MARKER)}`);
  const pool = openPool({ url: withDatabase(host.adminUrl, database), max: 1, name: 'trialbed template' });
  let template: Template;
  try {
    const empty: Layout = { database, ...schemasInDatabase(blueprint), role: '', direct: false };
    template = await inTransaction(pool, async (client) => {
      const built = await buildContent(client, empty, 'template', environment.environment, blueprint);
      await restrictDatabase(client, database, { shared: false });
      return {
        database,
        layout: built.layout,
        tables: await readTables(client, built.layout, environment.environment),
        sequences: await readSequences(client, built.layout),
      };
    });
  } finally {
    await pool.end();
  }
  // A database that somebody is connected to cannot be cloned.
  await host.admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
  await host.admin.query(
    `INSERT INTO trialbed.templates (generation, database, layout) VALUES ($1, $2, $3)
     ON CONFLICT (generation) DO UPDATE SET database = excluded.database, layout = excluded.layout, last_used = now()`,
    [environment.generation, database, JSON.stringify({ layout: template.layout, tables: template.tables, sequences: template.sequences })],
  );
  return template;
}

async function findTemplate(host: Host, environment: LoadedEnvironment): Promise<Template | null> {
  const { rows } = await host.admin.query<{ database: string; layout: Omit<Template, 'database'> }>(
    `UPDATE trialbed.templates t SET last_used = now() FROM pg_database d WHERE d.datname = t.database AND t.generation = $1 RETURNING t.database, t.layout`,
    [environment.generation],
  );
  const row = rows[0];
  return row ? { database: row.database, ...row.layout } : null;
}

/** Drops templates that nobody has used for a week. */
export async function dropOldTemplates(host: Host): Promise<void> {
  const { rows } = await host.admin.query<{ database: string }>(
    "DELETE FROM trialbed.templates WHERE last_used < now() - interval '7 days' RETURNING database",
  );
  for (const { database } of rows) {
    const ours = await host.admin.query("SELECT 1 FROM pg_database WHERE datname = $1 AND shobj_description(oid, 'pg_database') = $2", [
      database,
      TEMPLATE_MARKER,
    ]);
    if (ours.rowCount) await host.admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(database)} WITH (FORCE)`);
  }
}
