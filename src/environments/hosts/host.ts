import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { WorldHostConfig } from '../../worker/config.ts';
import { inTransaction, openPool, sqlState, withClient, withDatabase } from './connection.ts';
import { MIGRATIONS, TOOL_ROLE, WORLDS_DATABASE } from './migrations.ts';
import { closeOtherDatabases, restrictDatabase } from './privileges.ts';

const { escapeIdentifier, escapeLiteral } = pg;

/** Taken by everyone who prepares a host, in its database for worlds. */
const PREPARE_LOCK = 7_211_904_001;

/** How long a connection may take to stand. */
const CONNECT_MS = 10_000;

/** A prepared Postgres server: its database for worlds is there, with the registry, the tool role, and nothing left to PUBLIC. */
export interface Host {
  readonly name: string;
  readonly kind: WorldHostConfig['kind'];
  readonly adminUrl: string;
  /** Random id of its registry. */
  readonly registry: string;
  /** Credentials of the tool role, for any database of this host. */
  readonly tool: { readonly user: string; readonly password: string };
  /** Administrator's connections to the database for worlds. */
  readonly admin: pg.Pool;
  /** A few connections beside, for ending sessions that another connection waits for. */
  readonly control: pg.Pool;
  /** The administrator may switch triggers off for a transaction: needed to undo a journal, hence to reuse and to restore worlds. */
  readonly canReplay: boolean;
  /** What could not be taken from PUBLIC here; named in the log and in `docs/isolation.md`. */
  readonly weaknesses: readonly string[];
  close(): Promise<void>;
}

/** The server cannot hold worlds. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code = 'world_host';
  readonly host: string;

  constructor(host: string, problem: string, options?: ErrorOptions) {
    super(`world host ${host}: ${problem}`, options);
    this.host = host;
  }
}

/**
 * Prepares a host; safe to call by several processes at once and again later. Needs PostgreSQL 15 or newer.
 *
 * @throws {HostError} when the server is too old, or its administrator may not create roles and databases.
 */
export async function prepareHost(config: WorldHostConfig, connections: { readonly admin: number; readonly control: number }): Promise<Host> {
  const outside = new pg.Client({ connectionString: config.adminUrl, application_name: 'trialbed prepare', connectionTimeoutMillis: CONNECT_MS });
  outside.on('error', () => undefined);
  try {
    await outside.connect();
  } catch (error) {
    throw new HostError(config.name, `cannot connect: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  // An advisory lock is of one database, and the URLs of two processes may name different ones: they meet in the database for worlds.
  const inside = new pg.Client({
    connectionString: withDatabase(config.adminUrl, WORLDS_DATABASE),
    application_name: 'trialbed prepare',
    connectionTimeoutMillis: CONNECT_MS,
  });
  inside.on('error', () => undefined);
  try {
    await requireRights(config, outside);
    await createDatabase(outside);
    await inside.connect();
    await inside.query('SELECT pg_advisory_lock($1)', [PREPARE_LOCK]);
    const admin = openPool({ url: withDatabase(config.adminUrl, WORLDS_DATABASE), max: connections.admin, name: 'trialbed admin' });
    const control = openPool({ url: withDatabase(config.adminUrl, WORLDS_DATABASE), max: connections.control, name: 'trialbed control', idleMs: 2000 });
    try {
      await migrate(admin);
      const password = await setting(admin, 'tool_password');
      await withClient(admin, (client) => ensureToolRole(client, password));
      const weaknesses = await withClient(admin, (client) => restrictDatabase(client, WORLDS_DATABASE, { shared: true }));
      const open = await closeOtherDatabases(outside, config.kind !== 'external');
      return {
        name: config.name,
        kind: config.kind,
        adminUrl: config.adminUrl,
        registry: await setting(admin, 'registry'),
        tool: { user: TOOL_ROLE, password },
        admin,
        control,
        canReplay: await mayReplay(admin),
        weaknesses: [...weaknesses, ...open.map((name) => `CONNECT on database ${name}`)],
        close: async () => {
          await Promise.all([admin.end(), control.end()]);
        },
      };
    } catch (error) {
      await Promise.all([admin.end(), control.end()]);
      throw error;
    }
  } finally {
    // Ends the session, and with it the lock.
    await inside.end().catch(() => undefined);
    await outside.end().catch(() => undefined);
  }
}

async function requireRights(config: WorldHostConfig, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; rights: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, (rolsuper OR (rolcreaterole AND rolcreatedb)) AS rights
       FROM pg_roles WHERE rolname = current_user`,
  );
  const found = rows[0];
  if (!found || found.version < 150_000) throw new HostError(config.name, 'needs PostgreSQL 15 or newer');
  if (!found.rights) throw new HostError(config.name, 'the administrator of the URL needs CREATEROLE and CREATEDB (or SUPERUSER)');
}

async function createDatabase(client: pg.Client): Promise<void> {
  const there = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [WORLDS_DATABASE]);
  // template0: what an administrator put into template1 must not be in any world. UTF8 and C: text sorts alike on every machine.
  if (there.rowCount) return;
  try {
    await client.query(`CREATE DATABASE ${escapeIdentifier(WORLDS_DATABASE)} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`);
  } catch (error) {
    // Another process was faster.
    if (!['42P04', '23505'].includes(sqlState(error) ?? '')) throw error;
  }
}

async function migrate(admin: pg.Pool): Promise<void> {
  await admin.query('CREATE SCHEMA IF NOT EXISTS trialbed');
  await admin.query('CREATE TABLE IF NOT EXISTS trialbed.migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())');
  const { rows } = await admin.query<{ version: number }>('SELECT version FROM trialbed.migrations');
  const applied = new Set(rows.map((row) => row.version));
  for (const step of MIGRATIONS) {
    if (applied.has(step.version)) continue;
    await inTransaction(admin, async (client) => {
      await client.query(step.sql);
      await client.query('INSERT INTO trialbed.migrations (version) VALUES ($1)', [step.version]);
    });
  }
}

/** A random value that the registry keeps; made at first use. */
async function setting(admin: pg.Pool, name: string): Promise<string> {
  await admin.query('INSERT INTO trialbed.settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, randomBytes(24).toString('base64url')]);
  const { rows } = await admin.query<{ value: string }>('SELECT value FROM trialbed.settings WHERE name = $1', [name]);
  return rows[0]?.value ?? '';
}

/** Makes the tool role of a server, or gives it the password that the registry has. The caller sees to it that one does so at a time. */
export async function ensureToolRole(client: pg.ClientBase, password: string): Promise<void> {
  const role = escapeIdentifier(TOOL_ROLE);
  const there = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [TOOL_ROLE]);
  if (!there.rowCount) await client.query(`CREATE ROLE ${role} NOINHERIT NOCREATEROLE NOCREATEDB`);
  await client.query(`ALTER ROLE ${role} LOGIN PASSWORD ${escapeLiteral(password)}`);
  await mayEndSessionsOf(client, TOOL_ROLE);
}

/** Without superuser, ending a session of a role needs membership in it. */
export async function mayEndSessionsOf(client: pg.ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ super: boolean }>('SELECT rolsuper AS super FROM pg_roles WHERE rolname = current_user');
  if (!rows[0]?.super) await client.query(`GRANT ${escapeIdentifier(role)} TO CURRENT_USER`);
}

async function mayReplay(admin: pg.Pool): Promise<boolean> {
  try {
    await inTransaction(admin, (client) => client.query("SET LOCAL session_replication_role = 'replica'"));
    return true;
  } catch (error) {
    if (sqlState(error) === '42501') return false;
    throw error;
  }
}
