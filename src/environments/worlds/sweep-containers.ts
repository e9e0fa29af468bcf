import { type ContainerOwner, containersOfRegistry, listContainers, removeContainer, type WorldContainer } from '../hosts/container.ts';
import type { Host } from '../hosts/host.ts';
import type { SweepReport, Worlds } from '../world.ts';
import { attempt } from './sweep.ts';

type Swept = SweepReport['swept'][number];

/**
 * Removes containers of worlds that no registry row stands for. Those of a registry in use: when it has no row of their world. Those of the same owner whose
 * registry is another, by their labels alone: when their lease has lapsed, their workflow is known to be closed, or their registry was in a throwaway server.
 */
export async function sweepContainers(
  hosts: readonly Host[],
  owner: ContainerOwner | null,
  options: Parameters<Worlds['sweep']>[0] & { readonly log: (message: string, details: { readonly [name: string]: unknown }) => void },
): Promise<SweepReport> {
  const ever = { made: 0, released: 0, swept: 0 };
  const nothing = { live: 0, pooled: 0, swept: [], leaked: 0, ever };
  const filter = (await owner?.filter()) ?? null;
  // Asking a container engine costs time and may fail: only where there have been containers.
  if (filter === null && !(await anyUsed(hosts))) return nothing;
  let found: { readonly dead: readonly Swept[]; readonly live: number };
  try {
    found = await findDead(hosts, owner, filter, options.closed);
  } catch (error) {
    options.log('the container engine does not answer: containers of worlds were not looked for', { err: error });
    return nothing;
  }
  const swept: Swept[] = [];
  for (const { world, owner: of, reason } of found.dead) {
    if (!options.dryRun && !(await attempt(options.log, world, () => removeContainer(world)))) continue;
    swept.push({ world, owner: of, reason });
  }
  return { ...nothing, live: found.live, swept, leaked: found.dead.filter(({ reason }) => reason === 'orphan').length };
}

async function anyUsed(hosts: readonly Host[]): Promise<boolean> {
  const used = await Promise.all(hosts.map((host) => host.admin.query("SELECT 1 FROM trialbed.settings WHERE name = 'containers'")));
  return used.some(({ rowCount }) => rowCount !== 0);
}

async function findDead(
  hosts: readonly Host[],
  owner: ContainerOwner | null,
  filter: string | null,
  closed: Parameters<Worlds['sweep']>[0]['closed'],
): Promise<{ readonly dead: readonly Swept[]; readonly live: number }> {
  const dead: Swept[] = [];
  for (const host of hosts) {
    // First the containers, then the registry: a world's row is there before its container is.
    const there = (await containersOfRegistry(host.registry)).map(({ world }) => world);
    const known = await host.admin.query<{ id: string }>('SELECT id FROM trialbed.worlds WHERE id = ANY($1)', [there]);
    const ids = new Set(known.rows.map((row) => row.id));
    for (const world of there) if (!ids.has(world)) dead.push({ world, owner: '', reason: 'orphan' });
  }
  if (!owner || filter === null) return { dead, live: 0 };
  const registries = new Set(hosts.map((host) => host.registry));
  const elsewhere = (await listContainers(filter)).filter(({ registry }) => !registries.has(registry));
  const workflows = [...new Set(elsewhere.flatMap(({ workflowId }) => workflowId ?? []))];
  const over = closed && workflows.length > 0 ? await closed(workflows, { unknownIsClosed: false }) : new Set<string>();
  // Only a server of ours shares its home with throwaway ones, of which there is one at a time.
  const replaced = hosts.some((host) => host.kind !== 'external');
  const { rows } = await (hosts[0] as Host).admin.query<{ now: Date }>('SELECT now()');
  const now = rows[0]?.now ?? new Date(0);
  const judged = elsewhere.map((container) => ({ container, reason: reasonOf(container, now, over, replaced && owner.throwaway(container.labels)) }));
  for (const { container, reason } of judged) if (reason) dead.push({ world: container.world, owner: container.workflowId ?? '', reason });
  return { dead, live: judged.filter(({ reason }) => reason === null).length };
}

function reasonOf({ leaseUntil, workflowId }: WorldContainer, now: Date, closed: ReadonlySet<string>, registryGone: boolean): Swept['reason'] | null {
  if (registryGone) return 'orphan';
  if (leaseUntil !== null && leaseUntil < now) return 'lease_lapsed';
  return workflowId !== null && closed.has(workflowId) ? 'workflow_closed' : null;
}
