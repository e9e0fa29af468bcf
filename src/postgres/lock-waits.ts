/** A session of a database. It holds no statement: what somebody else's has in it is not ours to show. */
export interface DatabaseSession {
  readonly pid: number;
  readonly application: string;
  readonly user: string;
  /** `active`, `idle in transaction`, ... */
  readonly state: string;
  /** When its statement began, where it waits; its transaction, where it is waited for. ISO 8601. */
  readonly since: string | null;
}

/** A session that waits for a lock that others hold. */
export interface LockWait {
  /** Schema and name of the table, where that is known. */
  readonly on: { readonly schema: string; readonly table: string } | null;
  readonly waits: DatabaseSession;
  readonly holders: readonly DatabaseSession[];
}

interface Row extends Omit<LockWait, 'on'> {
  readonly schema: string | null;
  readonly table: string | null;
}

const MOST = 20;

/**
 * Who waits for a lock in the connected database, those first that have waited for longest. `schemas`: only for what lies in one of them; absent: for anything. `query` runs one
 * statement with its parameters. It reads the catalogue alone, so that no lock on a table holds it up.
 */
export async function lockWaits(
  query: (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>,
  { schemas = null }: { readonly schemas?: readonly string[] | null } = {},
): Promise<readonly LockWait[]> {
  const rows = (await query(WAITS, [schemas, MOST])) as readonly Row[];
  return rows.map(({ schema, table, waits, holders }) => ({ on: schema === null || table === null ? null : { schema, table }, waits, holders }));
}

const SESSION = (a: string, since: string) =>
  `json_build_object('pid', ${a}.pid, 'application', left(coalesce(${a}.application_name, ''), 80), 'user', left(coalesce(${a}.usename::text, ''), 80), 'state', coalesce(${a}.state, ''),
     'since', to_char(${a}.${since} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/** Whoever waits for a row has the lock of its place in the table, or is about to take it; so the table that it writes to says where. */
const WAITS = `
  select n.nspname::text as schema, c.relname::text as "table", ${SESSION('a', 'query_start')} as waits,
    (select coalesce(json_agg(${SESSION('h', 'xact_start')}), '[]') from pg_stat_activity h where h.pid = any (pg_blocking_pids(a.pid))) as holders
  from pg_stat_activity a
  left join lateral (
    select l.relation from pg_locks l where l.pid = a.pid and l.relation is not null and l.database = a.datid
      and exists (select 1 from pg_class r where r.oid = l.relation and r.relkind in ('r', 'p'))
    order by not l.granted desc, l.locktype = 'tuple' desc, l.mode in ('RowExclusiveLock', 'RowShareLock') desc limit 1) l on true
  left join pg_class c on c.oid = l.relation left join pg_namespace n on n.oid = c.relnamespace
  where a.datname = current_database() and a.wait_event_type = 'Lock' and ($1::text[] is null or n.nspname = any ($1::text[]))
  order by a.query_start limit $2`;
