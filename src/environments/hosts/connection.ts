import pg from 'pg';
import { TogetherSocket } from '../../postgres/together-socket.ts';

/** The same server and options, another database; and another role where one is given. */
export function withDatabase(url: string, database: string, login?: { readonly user: string; readonly password: string }): string {
  const result = new URL(url);
  result.pathname = `/${encodeURIComponent(database)}`;
  if (login) {
    result.username = encodeURIComponent(login.user);
    result.password = encodeURIComponent(login.password);
  }
  return result.toString();
}

export interface PoolOptions {
  readonly url: string;
  readonly max: number;
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** Milliseconds; 0: none. */
  readonly statementTimeoutMs?: number;
  readonly idleInTransactionMs?: number;
  /** Connections without work are closed after so long. Default 10 s. */
  readonly idleMs?: number;
}

/**
 * A pool whose sessions all print values alike, whatever the server's or the role's defaults are: row images and fingerprints depend on it.
 * Commits are synchronous, because an effect that a crash takes back would have been graded. Statements that do not wait for each other go to the server together, and
 * are carried out in order; one that fails takes none of those behind it with it, outside a transaction.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const settings = {
    timezone: 'UTC',
    datestyle: 'ISO,MDY',
    intervalstyle: 'postgres',
    bytea_output: 'hex',
    extra_float_digits: '1',
    synchronous_commit: 'on',
    ...(options.statementTimeoutMs ? { statement_timeout: String(options.statementTimeoutMs) } : {}),
    ...(options.idleInTransactionMs ? { idle_in_transaction_session_timeout: String(options.idleInTransactionMs) } : {}),
  };
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.name,
    pipeline: true,
    stream: () => new TogetherSocket(),
    idleTimeoutMillis: options.idleMs ?? 10_000,
    connectionTimeoutMillis: 60_000,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  });
  // A connection that dies while idle is replaced by the pool. One that dies in use fails its query; without a listener it would end the process too.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Runs `work` with a connection; a connection on which something failed is closed, since its state is not known. */
export async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    const value = await work(client);
    client.release();
    return value;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Runs `work` in a transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await client.query('BEGIN');
    let value: T;
    try {
      value = await work(client);
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
    await client.query('COMMIT');
    return value;
  });
}

/** SQLSTATE of a server's error, else null. */
export function sqlState(error: unknown): string | null {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Connections of a pool now, and those who wait for one. */
export function useOf(pool: pg.Pool): { readonly inUse: number; readonly idle: number; readonly awaited: number } {
  return { inUse: pool.totalCount - pool.idleCount, idle: pool.idleCount, awaited: pool.waitingCount };
}
