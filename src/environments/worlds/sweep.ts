import type { Host } from '../hosts/host.ts';
import { isLost } from '../hosts/container.ts';
import type { SweepReport, Worlds } from '../world.ts';
import { count, countsOf } from './counts.ts';
import { dropDatabase, dropSchemas, dropWorld } from './drop.ts';
import type { ContainerRow, WorldRow } from './registry.ts';
import { dropOldTemplates } from './template.ts';

/** Workflows to a question. */
const CHUNK = 200;

type Swept = SweepReport['swept'][number];
type Reason = Swept['reason'] | 'half_dropped';
type DeadRow = Pick<WorldRow, 'id' | 'isolation' | 'layout' | 'state'> & {
  readonly owner: string | null;
  readonly workflow_id: string | null;
  readonly lapsed: boolean;
  readonly container: Pick<ContainerRow, 'id' | 'engine'> | null;
};

/**
 * Drops the worlds of a host that are dead and ours, by what its database says alone. Dead: the lease has lapsed, or its workflow is closed, or a drop was
 * left half done. Ours: in the registry, or with a name of ours and our marker as comment (those are counted as leaked).
 */
export async function sweepHost(
  host: Host,
  options: Parameters<Worlds['sweep']>[0] & {
    readonly failpoint: (name: string) => void;
    readonly log: (message: string, details: { readonly [name: string]: unknown }) => void;
  },
): Promise<SweepReport> {
  const { rows } = await host.admin.query<DeadRow>(
    `SELECT id, isolation, layout, state, owner, workflow_id, coalesce(lease_until < now(), state = 'dropping') AS lapsed,
            jsonb_build_object('id', container -> 'id', 'engine', container -> 'engine') AS container
       FROM trialbed.worlds ORDER BY id`,
  );
  const leased = rows.filter((row) => row.state === 'leased' || row.state === 'making');
  const closed = await closedWorkflows(leased, options.closed);
  const swept: Swept[] = [];
  for (const row of rows) {
    const reason = deathOf(row, closed) ?? (await lossOf(row));
    if (!reason) continue;
    if (!options.dryRun && !(await claimDead(host, row))) continue;
    if (!options.dryRun && !(await attempt(options.log, row.id, () => dropWorld(host, row, options.failpoint)))) continue;
    if (reason === 'half_dropped') continue;
    if (!options.dryRun) await count(host.admin, 'swept');
    swept.push({ world: row.id, owner: row.owner ?? '', reason });
  }
  const orphans = await findOrphans(host);
  for (const { world, drop } of orphans) {
    if (!options.dryRun && !(await attempt(options.log, world, drop))) continue;
    swept.push({ world, owner: '', reason: 'orphan' });
  }
  if (!options.dryRun) await dropOldTemplates(host);
  const dead = new Set(swept.map((world) => world.world));
  return {
    live: leased.filter((row) => !dead.has(row.id)).length,
    pooled: rows.filter((row) => row.state === 'free').length,
    swept,
    leaked: orphans.length,
    ever: await countsOf(host.admin),
  };
}

function deathOf(row: DeadRow, closed: ReadonlySet<string>): Reason | null {
  if (row.state === 'dropping') return row.lapsed ? 'half_dropped' : null;
  if (row.state === 'free') return null;
  if (row.lapsed) return 'lease_lapsed';
  return row.workflow_id !== null && closed.has(row.workflow_id) ? 'workflow_closed' : null;
}

/** Whether its container is gone: then it serves nobody, whoever may wait for it. One that is just being made is not known yet. */
async function lossOf(row: DeadRow): Promise<Reason | null> {
  if (row.state !== 'leased' || row.isolation !== 'container' || row.container === null) return null;
  return (await isLost({ engine: null, ...row.container }).catch(() => false)) ? 'container_lost' : null;
}

/** Whoever changes the row first has it: a world that was released or leased anew since we looked is left alone. */
async function claimDead(host: Host, row: DeadRow): Promise<boolean> {
  const { rowCount } = await host.admin.query(
    "UPDATE trialbed.worlds SET state = 'dropping', owner = NULL, lease_until = now() + interval '1 minute' WHERE id = $1 AND state = $2 AND owner IS NOT DISTINCT FROM $3 AND workflow_id IS NOT DISTINCT FROM $4",
    [row.id, row.state, row.owner, row.workflow_id],
  );
  return rowCount === 1;
}

async function closedWorkflows(rows: readonly DeadRow[], closed: Parameters<Worlds['sweep']>[0]['closed']): Promise<ReadonlySet<string>> {
  const ids = [...new Set(rows.flatMap((row) => row.workflow_id ?? []))];
  const found = new Set<string>();
  for (let at = 0; closed && at < ids.length; at += CHUNK) {
    for (const id of await closed(ids.slice(at, at + CHUNK))) found.add(id);
  }
  return found;
}

/** Things with our marker whose world the registry does not know. */
async function findOrphans(host: Host): Promise<{ readonly world: string; readonly drop: () => Promise<void> }[]> {
  const { rows } = await host.admin.query<{ world: string; kind: 'schema' | 'role' | 'database'; name: string }>(
    `SELECT substr(o.comment, length('trialbed world ') + 1) AS world, o.kind, o.name
       FROM (SELECT 'schema' AS kind, nspname::text AS name, obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace
             UNION ALL SELECT 'role', rolname, shobj_description(oid, 'pg_authid') FROM pg_roles
             UNION ALL SELECT 'database', datname, shobj_description(oid, 'pg_database') FROM pg_database) o
      WHERE o.comment ~ '^trialbed world [a-z0-9]+$' AND o.name ~ '^w_[a-z0-9]+(_sys|_server)?$'
        AND NOT EXISTS (SELECT 1 FROM trialbed.worlds w WHERE 'trialbed world ' || w.id = o.comment)`,
  );
  const worlds = [...new Set(rows.map((row) => row.world))];
  return worlds.map((world) => {
    const parts = rows.filter((row) => row.world === world);
    return {
      world,
      drop: async () => {
        for (const { name } of parts.filter((part) => part.kind === 'database')) await dropDatabase(host, name, `w_${world}`, world);
        await dropSchemas(
          host,
          world,
          parts.filter((part) => part.kind === 'schema').map((part) => part.name),
          `w_${world}`,
        );
      },
    };
  });
}

/** Whether it was dropped. */
export async function attempt(
  log: (message: string, details: { readonly [name: string]: unknown }) => void,
  world: string,
  drop: () => Promise<void>,
): Promise<boolean> {
  try {
    await drop();
    return true;
  } catch (error) {
    log('a dead world could not be dropped; the next sweep tries again', { world, err: error });
    return false;
  }
}
