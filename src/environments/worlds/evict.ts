import type pg from 'pg';
import { sqlState, withClient } from '../hosts/connection.ts';
import type { Access } from './access.ts';

/** Milliseconds between two looks at who is still in the way. */
const POLL_MS = 20;

/** After evicting for so long, something other than a session is in the way. */
const GIVE_UP_MS = 15_000;

/**
 * Runs a statement that waits for a lock, for `patienceMs` at most; then ends the sessions that it waits for, until it gets through.
 * `control` is a pool beside that of `client`.
 */
export async function lockOrEvict<T>(client: pg.PoolClient, control: pg.Pool, patienceMs: number, statement: () => Promise<T>): Promise<T> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = rows[0]?.pid;
  let done = false;
  const running = statement().finally(() => {
    done = true;
  });
  // Observed below; without this a failure while we look at the blockers would count as unhandled.
  running.catch(() => undefined);
  await settledWithin(running, patienceMs);
  const started = Date.now();
  while (!done) {
    await control.query('SELECT pg_terminate_backend(b) FROM unnest(pg_blocking_pids($1)) AS b WHERE b <> 0', [pid]);
    await settledWithin(running, POLL_MS);
    if (!done && Date.now() - started > GIVE_UP_MS) await control.query('SELECT pg_cancel_backend($1)', [pid]);
  }
  return running;
}

/**
 * Does `work` in a transaction that holds row locks. For `patienceMs` it only tries, without a connection in between, so that whoever is waited for does not
 * keep others from theirs; then it ends the sessions that hold on.
 */
export async function underLock<T>(
  access: Pick<Access, 'admin' | 'control'>,
  patienceMs: number,
  lock: { readonly sql: string; readonly values: readonly unknown[] },
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const last = Date.now() >= deadline;
    const done = await withClient(access.admin, async (client): Promise<{ readonly value: T } | null> => {
      await client.query('BEGIN');
      if (last) await lockOrEvict(client, access.control, 0, () => client.query(lock.sql, [...lock.values]));
      else if (!(await lockedAtOnce(client, lock))) return null;
      const value = await work(client);
      await client.query('COMMIT');
      return { value };
    });
    if (done) return done.value;
    await pause(POLL_MS);
  }
}

async function lockedAtOnce(client: pg.PoolClient, lock: { readonly sql: string; readonly values: readonly unknown[] }): Promise<boolean> {
  try {
    await client.query(`${lock.sql} NOWAIT`, [...lock.values]);
    return true;
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    await client.query('ROLLBACK');
    return false;
  }
}

/**
 * Ends sessions that are logged in as a role, and waits, bounded, until they are gone; with `busy`, only those in a statement or a transaction. Needs no membership on a
 * superuser's connection.
 */
export async function endSessions(client: pg.ClientBase | pg.Pool, role: string, { busy = false }: { readonly busy?: boolean } = {}): Promise<void> {
  const started = Date.now();
  for (;;) {
    const { rows } = await client.query<{ left: number }>(
      "SELECT count(pg_terminate_backend(pid))::int AS left FROM pg_stat_activity WHERE usename = $1 AND pid <> pg_backend_pid() AND (state <> 'idle' OR NOT $2)",
      [role, busy],
    );
    if ((rows[0]?.left ?? 0) === 0 || Date.now() - started > GIVE_UP_MS) return;
    await pause(POLL_MS);
  }
}

/** A session may leave its transaction behind as a prepared one, which no termination ends. Only where the server allows prepared transactions at all. */
export async function rollbackPrepared(client: pg.ClientBase | pg.Pool, role: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    "SELECT format('ROLLBACK PREPARED %L', gid) AS statement FROM pg_prepared_xacts WHERE database = current_database() AND owner = $1",
    [role],
  );
  for (const { statement } of rows) {
    await client.query(statement).catch((error: unknown) => {
      // Somebody else was faster.
      if (sqlState(error) !== '42704') throw error;
    });
  }
}

async function settledWithin(running: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([running.then(noop, noop), timeUp]);
  clearTimeout(timer);
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const noop = () => undefined;
