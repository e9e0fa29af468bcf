import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Sql } from './database.ts';
import { storeError } from './errors.ts';

/** Class of our advisory locks on batches. */
const BATCH_LOCKS = 721_190_402;
const AGAIN_MS = 1_000;

/**
 * Marks a batch as driven by this process, until the mark is disposed or the process ends in whatever way: the mark is a lock of a session, and the server ends the
 * session with its connection. Several processes may drive one batch. After a restart of the server it is set again.
 */
export async function markDriven(url: string, batch: string): Promise<AsyncDisposable> {
  let over = false;
  let current = await lock();
  return {
    async [Symbol.asyncDispose]() {
      over = true;
      await current.end().catch(() => undefined);
    },
  };

  async function lock(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url, application_name: 'trialbed-driver', keepAlive: true, connectionTimeoutMillis: 10_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select pg_advisory_lock_shared($1, hashtext($2))', [BATCH_LOCKS, batch]);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw storeError('the configured address', error) ?? error;
    }
    client.once('end', () => void again());
    return client;
  }

  async function again(): Promise<void> {
    while (!over) {
      try {
        const client = await lock();
        if (over) await client.end().catch(() => undefined);
        current = client;
        return;
      } catch {
        await sleep(AGAIN_MS, undefined, { ref: false });
      }
    }
  }
}

/** Those of the batches that a process drives now. */
export async function drivenBatches(sql: Sql, batches: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `select id from unnest($2::text[]) as asked (id) where exists (
       select 1 from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 2 and l.classid = $1::oid and l.objid = hashtext(asked.id)::oid
         and l.database = (select oid from pg_database where datname = current_database()))`,
    [BATCH_LOCKS, batches],
  );
  return new Set(rows.map(({ id }) => id));
}
