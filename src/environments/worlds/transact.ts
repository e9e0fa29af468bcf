import type pg from 'pg';
import type { WorldSql } from '../define.ts';
import { sqlState } from '../hosts/connection.ts';
import { WORLDS_DATABASE } from '../hosts/migrations.ts';
import { FencedError } from '../world.ts';
import { LedgerError } from './errors.ts';
import { inSys, type Layout, REFUSED, searchPath } from './layout.ts';
import { worldSql } from './world-sql.ts';

/** One dispatch of an operation. */
export interface Attempt {
  readonly id: string;
  readonly attempt: number;
}

export interface ToolTransaction {
  readonly layout: Layout;
  readonly epoch: number;
  /** Null: effects are unattributed. */
  readonly operation: Attempt | null;
  /** Holds the fence, and for an operation its attempts, until the transaction ends. Runs as the tool role. */
  readonly begin: DoorCall;
  /** Runs as the world's role before the work. */
  readonly hold?: (client: pg.PoolClient) => Promise<unknown>;
  /** Runs as the tool role after the work, before the commit. */
  readonly end?: (client: pg.PoolClient) => Promise<unknown>;
  readonly beforeCommit?: () => void;
  /** The session was ended by the server, or the connection was lost; nothing of it stands unless COMMIT had been sent. */
  readonly lost?: (commitSent: boolean) => void;
}

/**
 * One transaction as the world's role on a connection of the tool role, so that the journal knows the operation.
 * What fails before COMMIT is sent is rolled back; after that, only the ledger knows.
 *
 * @throws {FencedError} when the system of record refused because of the fence, whatever the work made of that error.
 */
export async function toolTransaction<T>(pool: pg.Pool, options: ToolTransaction, work: (sql: WorldSql) => Promise<T>): Promise<T> {
  const { begin, operation, epoch, layout } = options;
  const client = await pool.connect();
  let refused: unknown = null;
  let failed: unknown = null;
  let fresh = false;
  let commitSent = false;
  try {
    // In one trip. One way for all settings: in which order the server does them is of no account, since the door's functions run as their owner and look at none of these.
    const setting = (name: string, n: number) => `set_config('${name}', $${begin.values.length + n}, true)`;
    await Promise.all([
      client.query('BEGIN'),
      client.query(
        `SELECT ${begin.sql}, ${['trialbed.operation', 'trialbed.attempt', 'trialbed.epoch', 'search_path', 'role'].map((name, n) => setting(name, n + 1)).join(', ')}`,
        [...begin.values, operation?.id ?? '', operation ? String(operation.attempt) : '', String(epoch), searchPath(layout), layout.role],
      ),
    ]);
    await options.hold?.(client);
    const value = await work(
      worldSql(client, (error) => {
        failed ??= error;
        if (isFence(error)) refused = error;
      }),
    );
    // In one trip: back to the tool role, what that has to do, and the commit. Where one of these fails, the server rolls back at the commit.
    const before = [backFrom(client, layout, operation), options.end?.(client)];
    for (const step of before) step?.catch(() => undefined);
    options.beforeCommit?.();
    commitSent = true;
    const commit = client.query(`COMMIT; ${asNew(layout)}`) as unknown as Promise<readonly pg.QueryResult[]>;
    // The first one that failed says why those behind it did.
    const [refusal] = (await Promise.allSettled([...before, commit])).slice(0, before.length).flatMap((step) => (step.status === 'rejected' ? [step] : []));
    if (refusal) {
      const error: unknown = refusal.reason;
      // Where the server says so, it has not come to the commit.
      commitSent = sqlState(error) === null && !(error instanceof LedgerError);
      throw error;
    }
    const [ended] = await commit;
    fresh = true;
    // A transaction in which a statement failed is rolled back by COMMIT, without an error.
    if (ended?.command !== 'COMMIT') throw new Error('a statement failed and the work went on: the transaction was rolled back');
    return value;
  } catch (error) {
    if (isEnded(error) || isEnded(failed)) options.lost?.(commitSent);
    if (!commitSent || (!fresh && !isLost(error))) {
      fresh = await client.query(`ROLLBACK; ${asNew(layout)}`).then(
        () => true,
        () => false,
      );
    }
    // What the work made of a statement's error must not take the database's own words from operators.
    if (failed !== null && error instanceof Error && error !== failed && error.cause === undefined) error.cause = failed;
    throw meaning(refused ?? error, operation);
  } finally {
    client.release(!fresh);
  }
}

/** Back to the tool role from the world's own. @throws {LedgerError} where the work has become another role. */
async function backFrom(client: pg.PoolClient, { role }: Layout, operation: Attempt | null): Promise<void> {
  try {
    // There is no role of that other name: the server refuses it, and with it the transaction.
    await client.query(
      "SELECT set_config('role', CASE WHEN current_user = $1 THEN 'none' ELSE 'not the role of the world' END, true), set_config('search_path', 'pg_catalog', true)",
      [role],
    );
  } catch (error) {
    if (sqlState(error) !== '22023') throw error;
    throw new LedgerError(operation?.id ?? 'without name', 'its SQL changed the role that it runs as; nothing of it was committed');
  }
}

/**
 * A setting, a role, a cursor or a LISTEN of a session must not meet the next operation, which may be another world's. Not DISCARD ALL: that also forgets the plans of every
 * trigger of every world that the session has served. Of what that discards beside, temporary tables are refused to the roles of worlds, and so are advisory locks where
 * worlds share a database.
 */
export function asNew({ database }: Layout): string {
  const plain = 'SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; DEALLOCATE ALL; UNLISTEN *; DISCARD SEQUENCES';
  return database === WORLDS_DATABASE ? plain : `${plain}; SELECT pg_advisory_unlock_all()`;
}

/** The connection ended before COMMIT was sent or while it was under way. */
export function isLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === null || state.startsWith('08') || state.startsWith('57P');
}

/** The server ended the session, or the connection broke: an error of the work itself is not meant. */
function isEnded(error: unknown): boolean {
  const state = sqlState(error);
  return state === null
    ? error instanceof Error && /^Connection terminated|^Client has encountered a connection error|ECONNRESET|EPIPE/.test(error.message)
    : /^(08|57P)/.test(state);
}

/** Refused by the fence of the world or of the operation's attempts. */
export function isFence(error: unknown): boolean {
  const state = sqlState(error);
  return state === REFUSED.fenced || state === REFUSED.attemptFenced;
}

/** A call of one of the door's functions, for a list of what to select. */
export interface DoorCall {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Opens the door for an operation of the ledger. */
export function claim(layout: Layout, operation: Attempt, epoch: number): DoorCall {
  return { sql: `${inSys(layout, 'claim')}($1, $2, $3)`, values: [operation.id, operation.attempt, epoch] };
}

/** Opens the door for a service. A reader passes a closed door. */
export function enter(layout: Layout, operation: Attempt | null, epoch: number, writes: boolean): DoorCall {
  return { sql: `${inSys(layout, 'enter')}($1, $2, $3, $4)`, values: [operation?.id ?? null, operation?.attempt ?? 0, epoch, writes] };
}

/** What an error of the system of record says of an operation. */
export function meaning(error: unknown, operation: Attempt | null): unknown {
  const state = sqlState(error);
  if (state === REFUSED.fenced) return new FencedError('the world');
  if (state === REFUSED.attemptFenced) return new FencedError(operation ? `attempt ${operation.attempt} of operation ${operation.id}` : 'the attempt');
  if (operation && (state === REFUSED.committed || state === REFUSED.unknownOperation || state === REFUSED.forged || state === REFUSED.notApproved)) {
    return new LedgerError(operation.id, error instanceof Error ? error.message : String(error));
  }
  return error;
}
