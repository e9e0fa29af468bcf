import pg from 'pg';

/** The database that a Postgres URL names; empty where it names none. */
export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

/** The same server and user, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(database)}`;
  return changed.href;
}

/** The URL without its password, for people to read. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  return shown.href;
}

/** A Postgres cannot be used as it is configured. */
export class PostgresUnreachableError extends Error {
  override readonly name = 'PostgresUnreachableError';
  readonly code = 'postgres_unreachable';
  /** Without password. */
  readonly url: string;

  constructor(url: string, reason: string) {
    super(`the Postgres at ${withoutPassword(url)} cannot be used: ${reason}`);
    this.url = withoutPassword(url);
  }
}

/** Makes the database of the URL unless it is there. Two at once may call it. @throws {PostgresUnreachableError} */
export async function ensureDatabase(url: string): Promise<void> {
  try {
    if (await connects(url)) return;
    const client = new pg.Client({ connectionString: withDatabase(url, 'postgres'), connectionTimeoutMillis: 10_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(databaseOf(url))}`);
    } catch (error) {
      // 42P04 and, in a race, 23505: another process made it meanwhile.
      if (!hasCode(error, '42P04') && !hasCode(error, '23505')) throw error;
    } finally {
      await client.end();
    }
  } catch (error) {
    throw new PostgresUnreachableError(url, error instanceof Error ? error.message || String(error) : String(error));
  }
}

/** The server's version, such as `18.4`. @throws what the connection throws */
export async function serverVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string }>("SELECT current_setting('server_version') AS version");
    return rows[0]?.version ?? 'unknown';
  } finally {
    await client.end();
  }
}

async function connects(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (hasCode(error, '3D000')) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
