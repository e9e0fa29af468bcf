/**
 * The store's PostgreSQL could not be reached, or the connection was lost under a query: whether a write was committed is not known.
 * Every method of the store may be called again with the same arguments.
 */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'store_unavailable';

  constructor(where: string, cause: unknown) {
    super(`the store at ${where} is out of reach (${reasonOf(cause)}); the caller repeats the call until it is back`, { cause });
  }
}

/** The store's PostgreSQL answers and refuses us: wrong password, no such database, no privilege. Repeating does not help. */
export class StoreAccessError extends Error {
  override readonly name = 'StoreAccessError';
  readonly code = 'store_access';

  constructor(where: string, cause: unknown) {
    super(`the store at ${where} refuses access (${reasonOf(cause)}); correct its URL, or make the database and grant its role CREATE on it`, { cause });
  }
}

/** The tables of the store are not those that this version works with. Nothing was changed. */
export class StoreMigrationError extends Error {
  override readonly name = 'StoreMigrationError';
  readonly code: 'store_not_migrated' | 'store_newer' | 'store_migration_changed' | 'store_migration_order';

  constructor(code: StoreMigrationError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** What `pg` and the sockets report when the server went away, in one list, since a query can meet any of them. */
const LOST_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_DESTROYED',
]);
const LOST_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|connection is closed|not queryable|socket disconnected before secure TLS/i;
/** Class 08, shutdown and start-up (57P01 to 57P05), too many connections, out of memory or disk. */
const LOST_STATE = /^(08...|57P0[1-5]|53...)$/;
const REFUSED_STATE = /^(28...|3D000|42501)$/;
const NO_TABLES_STATE = /^(42P01|3F000)$/;

/** Turns what `pg` threw into one of the store's errors; returns null where it is none of them. */
export function storeError(where: string, error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (LOST_STATE.test(code) || LOST_SOCKET.has(code) || LOST_TEXT.test(error.message)) return new StoreUnavailableError(where, error);
  if (error instanceof AggregateError) {
    for (const inner of error.errors) {
      const found = storeError(where, inner);
      if (found !== null) return found;
    }
  }
  if (REFUSED_STATE.test(code)) return new StoreAccessError(where, error);
  if (NO_TABLES_STATE.test(code)) {
    return new StoreMigrationError('store_not_migrated', `the store at ${where} has no tables of trialbed yet; call migrate() first`);
  }
  return null;
}

/** SQLSTATE of an error of PostgreSQL. */
export function sqlState(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
