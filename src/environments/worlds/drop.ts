import pg from 'pg';
import { inTransaction, openPool, sqlState, withClient, withDatabase } from '../hosts/connection.ts';
import { removeContainer } from '../hosts/container.ts';
import type { Host } from '../hosts/host.ts';
import { endSessions, lockOrEvict, rollbackPrepared } from './evict.ts';
import { marker } from './layout.ts';
import type { WorldRow } from './registry.ts';

const { escapeIdentifier } = pg;

/** How long dropping waits for a session that uses the world before it ends it. */
const PATIENCE_MS = 500;

/**
 * Drops a world and its row of the registry. Bounded even when a session idles in a transaction on it. Idempotent; after a crash in the middle the row is
 * still there as `dropping`, and the sweeper calls this again.
 */
export async function dropWorld(host: Host, row: Pick<WorldRow, 'id' | 'isolation' | 'layout'>, failpoint: (name: string) => void): Promise<void> {
  // A sweeper leaves it to us for a minute.
  await host.admin.query("UPDATE trialbed.worlds SET state = 'dropping', owner = NULL, lease_until = now() + interval '1 minute' WHERE id = $1", [row.id]);
  if (row.isolation === 'container') await removeContainer(row.id);
  else if (row.isolation === 'database') await dropDatabase(host, row.layout.database, row.layout.role, row.id);
  else await dropSchemas(host, row.id, [row.layout.sys, ...row.layout.schemas], row.layout.role);
  failpoint('world_dropped_before_forgotten');
  await host.admin.query('DELETE FROM trialbed.worlds WHERE id = $1', [row.id]);
}

/** Drops the schemas that carry the world's marker, and its role. */
export async function dropSchemas(host: Host, worldId: string, schemas: readonly string[], role: string): Promise<void> {
  await withClient(host.admin, async (client) => {
    const { rows } = await client.query<{ nspname: string }>(
      "SELECT nspname FROM pg_namespace WHERE nspname = ANY($1) AND obj_description(oid, 'pg_namespace') = $2",
      [schemas, marker(worldId)],
    );
    if (rows.length > 0) {
      const names = rows.map((row) => escapeIdentifier(row.nspname)).join(', ');
      await lockOrEvict(client, host.control, PATIENCE_MS, () => client.query(`DROP SCHEMA IF EXISTS ${names} CASCADE`));
    }
  });
  await dropRole(host.admin, worldId, role);
}

export async function dropDatabase(host: Host, database: string, role: string, worldId: string): Promise<void> {
  const { rows } = await host.admin.query<{ ours: boolean }>(
    "SELECT coalesce(shobj_description(oid, 'pg_database') = $2, false) AS ours FROM pg_database WHERE datname = $1",
    [database, marker(worldId)],
  );
  // Between CREATE DATABASE and its comment there is a moment; the registry's row says then that it is ours. A foreign one has no row.
  if (rows.length > 0) {
    await forgetPrepared(host, database, role);
    await host.admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(database)} WITH (FORCE)`);
  }
  // Member of the world's role, where there is one.
  await dropRole(host.admin, worldId, `${role}_server`);
  await dropRole(host.admin, worldId, role);
}

/** A prepared transaction keeps its database from being dropped, and can be rolled back only there. */
async function forgetPrepared(host: Host, database: string, role: string): Promise<void> {
  const { rowCount } = await host.admin.query('SELECT 1 FROM pg_prepared_xacts WHERE database = $1', [database]);
  if (!rowCount) return;
  const pool = openPool({ url: withDatabase(host.adminUrl, database), max: 1, name: 'trialbed drop' });
  try {
    await endSessions(host.control, role);
    await rollbackPrepared(pool, role);
  } finally {
    await pool.end();
  }
}

async function dropRole(admin: pg.Pool, worldId: string, role: string): Promise<void> {
  const { rows } = await admin.query("SELECT 1 FROM pg_roles WHERE rolname = $1 AND shobj_description(oid, 'pg_authid') = $2", [role, marker(worldId)]);
  if (rows.length === 0) return;
  await endSessions(admin, role);
  const name = escapeIdentifier(role);
  try {
    await admin.query(`DROP ROLE IF EXISTS ${name}`);
  } catch (error) {
    if (sqlState(error) !== '2BP01') throw error;
    // Something was granted to it beside what a world has.
    await inTransaction(admin, (client) => client.query(`DROP OWNED BY ${name}; DROP ROLE IF EXISTS ${name};`));
  }
}
