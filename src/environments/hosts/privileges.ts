import pg from 'pg';
import { sqlState } from './connection.ts';
import { TOOL_ROLE } from './migrations.ts';

const { escapeIdentifier } = pg;

/**
 * Takes from PUBLIC what a world's role must not have in this database: to connect, to make temporary tables, to create in `public`, large objects and
 * signals to other sessions. With `shared`, advisory locks too: they are one name space for the whole database, so one world could block another.
 *
 * Run as the database's owner. A managed server may not let its administrator change functions of `pg_catalog`; what could not be taken is returned by name.
 */
export async function restrictDatabase(client: pg.ClientBase, database: string, options: { readonly shared: boolean }): Promise<string[]> {
  await closeDatabase(client, database);
  const publicSchema = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = 'public'");
  if (publicSchema.rowCount) await client.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const { rows } = await client.query<{ name: string }>(
    `SELECT p.oid::regprocedure::text AS name
       FROM pg_proc p
      WHERE p.pronamespace = 'pg_catalog'::regnamespace
        AND (p.proname ~ '^(lo_|lo(read|write)$|pg_(terminate|cancel)_backend$|pg_logical_emit_message$)' OR ($1 AND p.proname ~ '^pg_(try_)?advisory_'))
        AND has_function_privilege('public', p.oid, 'EXECUTE')`,
    [options.shared],
  );
  const kept: string[] = [];
  for (const { name } of rows) {
    await client.query(`REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`);
    const still = await client.query<{ may: boolean }>("SELECT has_function_privilege('public', $1::regprocedure, 'EXECUTE') AS may", [name]);
    if (still.rows[0]?.may) kept.push(name);
  }
  return kept;
}

/** Only the tool role, and whoever is named afterwards, may connect to a database. */
export async function closeDatabase(client: pg.ClientBase | pg.Pool, database: string): Promise<void> {
  await changeDatabase(client, `REVOKE ALL ON DATABASE ${escapeIdentifier(database)} FROM PUBLIC`);
  await changeDatabase(client, `GRANT CONNECT ON DATABASE ${escapeIdentifier(database)} TO ${escapeIdentifier(TOOL_ROLE)}`);
}

/**
 * Databases beside ours into which every role may log in. A world with a login of its own could open a session there. On a server of our own they are
 * closed to PUBLIC (owners and superusers keep their access); on somebody else's they are only named.
 */
export async function closeOtherDatabases(client: pg.ClientBase, ownServer: boolean): Promise<string[]> {
  const { rows } = await client.query<{ datname: string }>(
    `SELECT datname FROM pg_database
      WHERE datallowconn AND EXISTS (
        SELECT 1 FROM aclexplode(coalesce(datacl, acldefault('d', datdba))) a WHERE a.grantee = 0 AND a.privilege_type = 'CONNECT')`,
  );
  const open: string[] = [];
  for (const { datname } of rows) {
    if (!ownServer) open.push(datname);
    else await changeDatabase(client, `REVOKE CONNECT, TEMPORARY ON DATABASE ${escapeIdentifier(datname)} FROM PUBLIC`);
  }
  return open;
}

/** Privileges of one database may be changed by several workers at once: the server refuses all but one, and the others try again. */
export async function changeDatabase(client: pg.ClientBase | pg.Pool, statement: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await client.query(statement);
      return;
    } catch (error) {
      const state = sqlState(error);
      // Dropped meanwhile: nothing is left to close.
      if (state === '3D000') return;
      if (state !== 'XX000' || tries === 10) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 * tries));
    }
  }
}
