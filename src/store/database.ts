import pg from 'pg';
import { KeyRing } from '../keys/key-ring.ts';
import { Sealing } from '../keys/sealing.ts';
import { storeError } from './errors.ts';

/** One statement on a connection, parameterised (`$1`). */
export interface Sql {
  /** What was said and done passes through it on its way into columns of type json, and back. */
  readonly sealing: Sealing;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** The store's connections. A lost connection fails the statement that was on it and is replaced at the next one. */
export interface Database extends Sql, AsyncDisposable {
  /** One transaction on one connection; rolled back when `work` throws. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Connections now, and those who wait for one. */
  use(): { readonly inUse: number; readonly idle: number; readonly awaited: number };
}

const STATEMENT_MS = 120_000;

/** Opens no connection yet. `connections` is the most that are open at once, `statementMs` the time of one statement. `sealing`: default none. */
export function openDatabase(url: string, connections: number, sealing: Sealing = new Sealing(new KeyRing([])), statementMs: number = STATEMENT_MS): Database {
  const where = nameOf(url);
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    application_name: 'trialbed-store',
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: statementMs,
    // Longer than the server's own limit: only a connection that no longer answers meets it.
    query_timeout: STATEMENT_MS + 10_000,
  });
  // A server that goes away raises `error` on idle clients (through the pool) and on those that are checked out between two
  // statements. Neither may end the process: the statement that needs the connection reports it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  let closing: Promise<void> | null = null;

  return {
    sealing,

    async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
      try {
        return (await pool.query(prepared(text, values))).rows as Row[];
      } catch (error) {
        throw storeError(where, error) ?? error;
      }
    },

    async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      let client: pg.PoolClient;
      try {
        client = await pool.connect();
      } catch (error) {
        throw storeError(where, error) ?? error;
      }
      try {
        await client.query('begin');
        const value = await work({
          sealing,
          query: async <Row>(text: string, values: readonly unknown[] = []) => (await client.query(prepared(text, values))).rows as Row[],
        });
        await client.query('commit');
        client.release();
        return value;
      } catch (error) {
        // A connection that cannot roll back is of no more use.
        const broken = await client.query('rollback').then(
          () => false,
          () => true,
        );
        client.release(broken);
        throw storeError(where, error) ?? error;
      }
    },

    use: () => ({ inUse: pool.totalCount - pool.idleCount, idle: pool.idleCount, awaited: pool.waitingCount }),

    async [Symbol.asyncDispose](): Promise<void> {
      closing ??= pool.end();
      await closing;
    },
  };
}

/** Names of statements, which are planned once for each connection: a trial asks the same few again and again. */
const names = new Map<string, string>();
/** What is put together from parts has many texts, and is not worth a plan that is kept. */
const MAX_PREPARED = 200;

function prepared(text: string, values: readonly unknown[]): pg.QueryConfig {
  const name = names.get(text) ?? (names.size < MAX_PREPARED && values.length > 0 ? `trialbed ${names.size}` : undefined);
  if (name === undefined) return { text, values: [...values] };
  names.set(text, name);
  return { name, text, values: [...values] };
}

/** Host, port and database of a URL, without the password. */
function nameOf(url: string): string {
  try {
    const parsed = new URL(url);
    return `${parsed.host || 'local socket'}${parsed.pathname}`;
  } catch {
    return 'the configured address';
  }
}
