import type pg from 'pg';
import type { WorldSql } from '../define.ts';
import { sqlState } from '../hosts/connection.ts';
import { FencedError } from '../world.ts';
import { StaleReadError } from './errors.ts';
import { inSys, type Layout, REFUSED, searchPath } from './layout.ts';
import { asNew } from './transact.ts';
import { worldSql } from './world-sql.ts';

/** Long enough for any write of a tool to commit. */
const PATIENCE_MS = 30_000;

/** For another reader, before anything is held. */
const LOCK_MS = 5_000;

/** Between two tries. */
const PAUSE_MS = 20;

/** Whom a reader must let through: a lock that is held, a row that changed meanwhile, a deadlock. */
const IN_THE_WAY = new Set(['55P03', '40001', '40P01']);

/**
 * SQL that answers as of journal entry `seq`. Each query is a transaction of its own in which everything later is taken back, and which is rolled back: the
 * rows that it holds meanwhile are free again before the caller waits for anything else. It runs as the world's role on a connection of the tool role, and
 * can write nothing: the system of record refuses to commit it, and a read-only transaction moves no sequence.
 *
 * @throws {StaleReadError} from `query`, when writers held on to the rows for too long. @throws {FencedError} when the lease has ended.
 */
export function staleSql(pool: pg.Pool, world: { readonly layout: Layout; readonly epoch: number }, seq: number): WorldSql {
  return {
    async query(text, values) {
      const client = await rewound(pool, world, seq);
      let healthy = false;
      try {
        await client.query("SELECT set_config('search_path', $1, true), set_config('role', $2, true), set_config('transaction_read_only', 'on', true)", [
          searchPath(world.layout),
          world.layout.role,
        ]);
        return await worldSql(client, () => undefined).query(text, values);
      } finally {
        healthy = await end(client, world.layout);
        client.release(!healthy);
      }
    },
  };
}

/** A connection in a transaction in which the world is as it was. */
async function rewound(pool: pg.Pool, { layout, epoch }: { readonly layout: Layout; readonly epoch: number }, seq: number): Promise<pg.PoolClient> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const client = await pool.connect();
    try {
      // One moment: what commits meanwhile must not be seen, since it would not be taken back.
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      await client.query(`SELECT ${inSys(layout, 'rewind')}($1, $2)`, [seq, epoch]);
      return client;
    } catch (error) {
      client.release(!(await end(client, layout)));
      const state = sqlState(error);
      if (state === REFUSED.fenced) throw new FencedError('the world');
      if (state === null || !IN_THE_WAY.has(state)) throw error;
      if (Date.now() >= deadline) throw new StaleReadError({ cause: error });
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function end(client: pg.PoolClient, layout: Layout): Promise<boolean> {
  try {
    await client.query(`ROLLBACK; ${asNew(layout)}`);
    return true;
  } catch {
    return false;
  }
}
