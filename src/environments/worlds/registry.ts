import type pg from 'pg';
import type { Case } from '../../domain/case.ts';
import type { DrawnRule } from '../../domain/fault.ts';
import type { InboxOptions, TicketsOptions } from '../define.ts';
import type { Isolation } from '../world.ts';
import type { Sequences, Tables } from './catalogue.ts';
import type { Layout } from './layout.ts';

type WorldState = 'making' | 'leased' | 'free' | 'dropping';

/** A world as the registry of its host has it. */
export interface WorldRow {
  readonly id: string;
  readonly generation: string;
  readonly isolation: Isolation;
  readonly state: WorldState;
  readonly owner: string | null;
  readonly workflow_id: string | null;
  /** Epoch at the start of the lease; names the lease, since a pooled world has many. After the fence the world's own is one higher. */
  readonly epoch: number;
  readonly tool_secret: string | null;
  readonly agent_secret: string | null;
  /** Null where the environment has no tool server. */
  readonly server_secret: string | null;
  readonly layout: Layout;
  readonly services: {
    readonly inbox: InboxOptions | null;
    readonly tickets: TicketsOptions | null;
    /** How long the production client waits for a reply, in seconds of the world's clock. */
    readonly patienceSeconds?: number;
  };
  readonly tables: Tables;
  /** Positions after the seed. */
  readonly sequences: Sequences;
  /** `faults`: rules of the schedule, drawn; absent without one. */
  readonly lease: (Pick<Case, 'clock' | 'timezone' | 'state'> & { readonly faults?: readonly DrawnRule[] }) | null;
  readonly container: ContainerRow | null;
  readonly resets: number;
  /** Of the catalogue, when the world was made; null for a world that is never reset. */
  readonly stamp: string | null;
}

/** A Postgres of its own: how to find it again, and to stop it. */
export interface ContainerRow {
  /** The engine's id of the container. */
  readonly id: string;
  readonly adminUrl: string;
  readonly toolPassword: string;
  /** The container engine that runs it; missing where that is not known. */
  readonly engine?: string | null;
}

export interface Lease {
  readonly owner: string;
  readonly workflowId: string | null;
  readonly leaseMs: number;
  readonly kase: Pick<Case, 'clock' | 'timezone' | 'state'>;
  readonly faults?: readonly DrawnRule[];
  readonly toolSecret: string;
  readonly agentSecret: string;
  readonly serverSecret: string;
}

const COLUMNS =
  'id, generation, isolation, state, owner, workflow_id, epoch, tool_secret, agent_secret, server_secret, layout, services, tables, sequences, lease, container, resets, stamp';

export type Queryable = pg.ClientBase | pg.Pool;

export async function worldById(db: Queryable, id: string): Promise<WorldRow | null> {
  const { rows } = await db.query<WorldRow>(`SELECT ${COLUMNS} FROM trialbed.worlds WHERE id = $1`, [id]);
  return rows[0] ?? null;
}

/** What tells whether a lease stands, without the rest of a wide row. `lock`: it does not change until the transaction ends. */
export async function worldState(db: Queryable, id: string, { lock = false } = {}): Promise<Pick<WorldRow, 'state' | 'epoch' | 'resets'> | null> {
  const { rows } = await db.query<Pick<WorldRow, 'state' | 'epoch' | 'resets'>>({
    name: lock ? 'trialbed world lock' : 'trialbed world state',
    text: `SELECT state, epoch, resets FROM trialbed.worlds WHERE id = $1${lock ? ' FOR UPDATE' : ''}`,
    values: [id],
  });
  return rows[0] ?? null;
}

export async function worldByOwner(db: Queryable, owner: string): Promise<WorldRow | null> {
  const { rows } = await db.query<WorldRow>(`SELECT ${COLUMNS} FROM trialbed.worlds WHERE owner = $1`, [owner]);
  return rows[0] ?? null;
}

/** What decides on which server an owner gets a world: whether it has one there, and how many are leased. */
export async function roomFor(db: Queryable, owner: string): Promise<{ readonly holds: boolean; readonly leased: number }> {
  const { rows } = await db.query<{ holds: boolean; leased: number }>(
    `SELECT EXISTS (SELECT 1 FROM trialbed.worlds WHERE owner = $1) AS holds,
            (SELECT count(*)::int FROM trialbed.worlds WHERE state IN ('making', 'leased')) AS leased`,
    [owner],
  );
  return rows[0] ?? { holds: false, leased: 0 };
}

/** One caller at a time for an owner, until the transaction ends. */
export async function lockOwner(client: pg.ClientBase, owner: string): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('trialbed owner ' || $1, 0))", [owner]);
}

/** Takes a free world of this generation, if there is one. `restarted`: the server has been started since the world was last looked at. */
export async function takeFree(client: pg.ClientBase, generation: string): Promise<{ readonly row: WorldRow; readonly restarted: boolean } | null> {
  const { rows } = await client.query<WorldRow & { restarted: boolean }>(
    `SELECT ${COLUMNS}, server_started <> pg_postmaster_start_time() AS restarted FROM trialbed.worlds
      WHERE generation = $1 AND isolation = 'schema' AND state = 'free' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [generation],
  );
  const row = rows[0];
  return row ? { row, restarted: row.restarted } : null;
}

export async function insertWorld(
  client: Queryable,
  world: Pick<WorldRow, 'id' | 'generation' | 'isolation' | 'layout' | 'services' | 'tables' | 'sequences' | 'stamp'>,
  lease: Lease,
  container: ContainerRow | null = null,
): Promise<void> {
  await client.query(
    `INSERT INTO trialbed.worlds (id, generation, isolation, state, owner, workflow_id, lease_until, epoch, layout, services, tables, sequences, container, stamp, server_started)
     VALUES ($1, $2, $3, 'making', $4, $5, now() + $6 * interval '1 millisecond', 0, $7, $8, $9, $10, $11, $12, pg_postmaster_start_time())`,
    [
      world.id,
      world.generation,
      world.isolation,
      lease.owner,
      lease.workflowId,
      lease.leaseMs,
      JSON.stringify(world.layout),
      JSON.stringify(world.services),
      JSON.stringify(world.tables),
      JSON.stringify(world.sequences),
      container === null ? null : JSON.stringify(container),
      world.stamp,
    ],
  );
}

/** What building found out, for a world whose row was written before. */
export async function setBuilt(client: Queryable, id: string, built: Pick<WorldRow, 'layout' | 'tables' | 'sequences'>): Promise<void> {
  await client.query('UPDATE trialbed.worlds SET layout = $2, tables = $3, sequences = $4 WHERE id = $1', [
    id,
    JSON.stringify(built.layout),
    JSON.stringify(built.tables),
    JSON.stringify(built.sequences),
  ]);
}

/** Gives a world to an owner, under the epoch that names the lease. @returns its row; null: there is none. */
export async function setLeased(client: Queryable, id: string, epoch: number, services: WorldRow['services'], lease: Lease): Promise<WorldRow | null> {
  const { clock, timezone, state } = lease.kase;
  const kept: WorldRow['lease'] = { clock, timezone, state, ...(lease.faults?.length ? { faults: lease.faults } : {}) };
  const { rows } = await client.query<WorldRow>(
    `UPDATE trialbed.worlds SET state = 'leased', owner = $2, workflow_id = $3, lease_until = now() + $4 * interval '1 millisecond', epoch = $5,
            tool_secret = $6, agent_secret = $7, lease = $8, services = $9, server_secret = $10, server_started = pg_postmaster_start_time() WHERE id = $1
     RETURNING ${COLUMNS}`,
    [
      id,
      lease.owner,
      lease.workflowId,
      lease.leaseMs,
      epoch,
      lease.toolSecret,
      lease.agentSecret,
      JSON.stringify(kept),
      JSON.stringify(services),
      lease.serverSecret,
    ],
  );
  return rows[0] ?? null;
}

export async function setFree(client: Queryable, id: string): Promise<void> {
  await client.query(
    `UPDATE trialbed.worlds SET state = 'free', owner = NULL, workflow_id = NULL, lease_until = NULL, tool_secret = NULL, agent_secret = NULL, server_secret = NULL, lease = NULL,
            resets = resets + 1, server_started = pg_postmaster_start_time(), free_since = clock_timestamp() WHERE id = $1`,
    [id],
  );
}

/** Takes the world that has been free for longest out of a pool of more than `limit`, to be dropped. A sweeper leaves it to the caller for a minute. */
export async function takeStalest(client: Queryable, limit: number): Promise<WorldRow | null> {
  const { rows } = await client.query<WorldRow>(
    `UPDATE trialbed.worlds SET state = 'dropping', lease_until = now() + interval '1 minute'
      WHERE (SELECT count(*) FROM trialbed.worlds WHERE state = 'free') > $1
        AND id = (SELECT id FROM trialbed.worlds WHERE state = 'free' ORDER BY free_since NULLS FIRST, id LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING ${COLUMNS}`,
    [limit],
  );
  return rows[0] ?? null;
}

export async function leasedCount(client: Queryable, ownerPrefix: string, isolation: Isolation | null): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM trialbed.worlds WHERE state IN ('making', 'leased') AND starts_with(owner, $1) AND isolation = coalesce($2, isolation)",
    [ownerPrefix, isolation],
  );
  return rows[0]?.n ?? 0;
}

export async function countByState(client: Queryable): Promise<readonly { readonly state: WorldState; readonly count: number }[]> {
  const { rows } = await client.query<{ state: WorldState; count: number }>('SELECT state, count(*)::int AS count FROM trialbed.worlds GROUP BY state');
  return rows;
}
