import pg from 'pg';
import type { Access } from './access.ts';
import { endSessions, rollbackPrepared, underLock } from './evict.ts';
import { inSys, type Layout } from './layout.ts';

const { escapeIdentifier } = pg;

/**
 * Closes a world to writers. In order: the role's login is revoked; no operation may begin; writers in flight have `drainMs` to commit, then their sessions
 * are ended; the epoch goes up under the exclusive lock that every write shares, so that none can commit behind it; the role's sessions are ended.
 * Idempotent: a closed world keeps its epoch.
 *
 * @returns the epoch after the fence.
 */
export async function closeWorld(access: Access, layout: Layout, epoch: number, drainMs: number, failpoint: (name: string) => void): Promise<number> {
  const logins = loginsOf(layout);
  for (const role of logins) await access.admin.query(`ALTER ROLE ${escapeIdentifier(role)} NOLOGIN PASSWORD NULL`);
  const { rowCount } = await access.admin.query(
    `UPDATE ${inSys(layout, 'door')} SET closing = true WHERE EXISTS (SELECT 1 FROM ${inSys(layout, 'fence')} WHERE epoch = $1 AND NOT closed)`,
    [epoch],
  );
  // Closed before, under the lock below: nobody has written behind it.
  if (rowCount === 0 && logins.length === 0) return epoch + 1;
  // A prepared transaction holds its locks without a session that could be ended.
  for (const role of logins) await rollbackPrepared(access.admin, role);
  const before = logins.length > 0 ? await ownWriters(access, logins) : [];
  const closed = await underLock(access, drainMs, { sql: `SELECT 1 FROM ${inSys(layout, 'fence')} FOR UPDATE`, values: [] }, async (client) => {
    failpoint('fence_locked_before_epoch');
    const { rows } = await client.query<{ epoch: number }>(
      `UPDATE ${inSys(layout, 'fence')} SET epoch = CASE WHEN epoch = $1 AND NOT closed THEN epoch + 1 ELSE epoch END, closed = closed OR epoch = $1 RETURNING epoch`,
      [epoch],
    );
    return rows[0]?.epoch ?? epoch + 1;
  });
  failpoint('fence_closed_before_sessions_ended');
  if (logins.length > 0) await listLate(access, layout, before);
  for (const role of logins) {
    await endSessions(access.control, role);
    // One that was prepared between the two looks.
    await rollbackPrepared(access.admin, role);
  }
  return closed;
}

/** Opens a world for a new lease under a new epoch. In the transaction of `client`. */
export async function openDoor(client: pg.ClientBase, layout: Layout, clock: { readonly now: string; readonly timezone: string }): Promise<number> {
  // World time stands still at the case's clock: a result must not depend on how fast a machine is.
  const { rows } = await client.query<{ epoch: number }>(
    `WITH c AS (UPDATE ${inSys(layout, 'clock')} SET now = $1, timezone = $2), d AS (UPDATE ${inSys(layout, 'door')} SET closing = false)
     UPDATE ${inSys(layout, 'fence')} SET epoch = epoch + 1, closed = false RETURNING epoch`,
    [clock.now, clock.timezone],
  );
  return rows[0]?.epoch ?? 0;
}

/** Roles of a world that log in by themselves: its own, where an agent has access of its own, and that of the tool server. */
export function loginsOf({ direct, role, serverRole }: Layout): readonly string[] {
  return [...(direct ? [role] : []), ...(serverRole === undefined ? [] : [serverRole])];
}

/** A session of such a role in the middle of a write. */
interface Writer {
  readonly pid: number;
  readonly who: string;
  /** Null while it has written nothing yet, as at the beginning of a COPY. */
  readonly xid: string | null;
}

async function ownWriters(access: Access, logins: readonly string[]): Promise<Writer[]> {
  const { rows } = await access.admin.query<Writer>(
    `SELECT a.pid, a.usename AS who, a.backend_xid::text AS xid FROM pg_stat_activity a
      WHERE a.usename = ANY($1) AND (a.backend_xid IS NOT NULL OR a.pid IN (SELECT pid FROM pg_stat_progress_copy WHERE command = 'COPY FROM'))`,
    [logins],
  );
  return rows;
}

/**
 * Lists the agent's own sessions that were in the middle of a write when the world was closed: nothing of those can be committed any more. Of those that were
 * so before, `before`, some have committed in time, and some were ended since they held on.
 */
async function listLate(access: Access, layout: Layout, before: readonly Writer[]): Promise<void> {
  const now = await ownWriters(access, loginsOf(layout));
  const { rows: ended } = await access.admin.query<Writer>(
    `SELECT b.pid, b.xid, b.who FROM unnest($1::integer[], $2::bigint[], $3::text[]) AS b (pid, xid, who), (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next) s
      WHERE b.pid NOT IN (SELECT pid FROM pg_stat_activity)
        AND (b.xid IS NULL OR pg_xact_status(((((s.next >> 32) - (b.xid > (s.next & 4294967295))::integer) << 32) + b.xid)::text::xid8) = 'aborted')`,
    [before.map(({ pid }) => pid), before.map(({ xid }) => xid), before.map(({ who }) => who)],
  );
  for (const { who } of [...now, ...ended]) {
    const whose = who === layout.serverRole ? 'the tool server' : "the agent's own";
    await access.admin.query(
      `INSERT INTO ${inSys(layout, 'late')} (source, operation, detail, at)
       SELECT 'sql', NULL, 'a session of ' || $1 || ' was in the middle of a write at the fence and was ended; nothing of it was committed', now FROM ${inSys(layout, 'clock')}`,
      [whose],
    );
  }
}
