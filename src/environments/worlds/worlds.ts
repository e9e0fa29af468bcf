import { createHash } from 'node:crypto';
import { customAlphabet } from 'nanoid';
import type { WorldHostConfig } from '../../worker/config.ts';
import { inTransaction } from '../hosts/connection.ts';
import { type ContainerOwner, isLost } from '../hosts/container.ts';
import { type Host, prepareHost } from '../hosts/host.ts';
import { TOOL_ROLE, WORLDS_DATABASE } from '../hosts/migrations.ts';
import {
  type Isolation,
  type LeaseRequest,
  type LoadedEnvironment,
  type ServiceSession,
  type SweepReport,
  type World,
  WorldGoneError,
  type WorldRef,
  type Worlds,
  type WorldSnapshot,
} from '../world.ts';
import { type Access, ownAccess, sharedAccess, shares } from './access.ts';
import { count } from './counts.ts';
import { dropWorld } from './drop.ts';
import { RestoreError } from './errors.ts';
import { closeWorld } from './fence.ts';
import { generationRecord } from './generation-record.ts';
import { LeasedWorld } from './leased-world.ts';
import { provisionWorld } from './provision.ts';
import { leasedCount, setFree, takeStalest, worldById, type WorldRow } from './registry.ts';
import { resetWorld } from './reset.ts';
import { secretKind, serviceSession } from './service-session.ts';
import { answers } from './answers.ts';
import { sweepContainers } from './sweep-containers.ts';
import { sweepHost } from './sweep.ts';

export interface WorldsConfig {
  /** At least one. An owner's world is always on the same one. Worlds of isolation `container` are registered with the one of their owner. */
  readonly hosts: readonly WorldHostConfig[];
  /** Connections to one host for worlds of isolation `schema`, whatever the number of worlds; at least 8. Worlds with a database of their own have a few each, closed when idle. */
  readonly connections: number;
  /** Kills the process where a test armed it; each name is the race that it exposes. */
  readonly failpoint: (name: string) => void;
  /** Free worlds that are kept on a host, of all environments together. Default 64. */
  readonly pool?: number;
  /** Milliseconds of a steady clock. Default `performance.now`. */
  readonly now?: () => number;
  /** Ids of new worlds: lower-case letters and digits. Default 16 random ones. */
  readonly id?: () => string;
  readonly log?: (message: string, details: { readonly [name: string]: unknown }) => void;
  /** Image of worlds of isolation `container`. Default `postgres:18`. */
  readonly image?: string;
  /** Whose those worlds are. Default: the registry's alone. */
  readonly containerOwner?: ContainerOwner;
}

/** How long a reset waits for a lock that somebody holds on a closed world. */
const RESET_LOCK_MS = 3_000;

/** Free worlds that are kept on a host. Above it the one that has been free for longest is dropped, so that worlds of packs that nobody runs any more do not keep others out. */
const POOL_LIMIT = 64;

/** How long a release waits for writers of a world that nobody has fenced. */
const RELEASE_DRAIN_MS = 1000;

const randomId = customAlphabet('0123456789abcdefghijklmnopqrstuvwxyz', 16);

/**
 * Prepares the hosts and returns the worlds on them.
 *
 * @throws {HostError} when a host cannot hold worlds.
 */
export async function createWorlds(config: WorldsConfig): Promise<Worlds> {
  if (config.hosts.length === 0) throw new RangeError('at least one world host is needed');
  const { admin, control } = shares(config.connections);
  const started = await Promise.allSettled(config.hosts.map((host) => prepareHost(host, { admin, control })));
  const hosts = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await Promise.all(hosts.map((host) => host.close()));
    throw failed.reason;
  }
  return new PostgresWorlds(config, hosts);
}

class PostgresWorlds implements Worlds {
  private readonly config: WorldsConfig;
  private readonly hosts: readonly Host[];
  private readonly shared: ReadonlyMap<Host, Access>;
  /** By world id: connections of worlds with a database of their own. */
  private readonly own = new Map<string, Access>();

  constructor(config: WorldsConfig, hosts: readonly Host[]) {
    this.config = config;
    this.hosts = hosts;
    this.shared = new Map(hosts.map((host) => [host, sharedAccess(host, WORLDS_DATABASE, config.connections)]));
    for (const host of hosts) {
      if (host.weaknesses.length > 0) this.log('PUBLIC keeps privileges on this host that worlds should not have', { host: host.name, kept: host.weaknesses });
      if (!host.canReplay)
        this.log('the administrator may not set session_replication_role: worlds on this host are not reused, and snapshots not restored', { host: host.name });
    }
  }

  async provision(environment: LoadedEnvironment, request: LeaseRequest): Promise<WorldRef> {
    return this.make(environment, request, null);
  }

  async restore(environment: LoadedEnvironment, snapshot: WorldSnapshot, request: LeaseRequest): Promise<WorldRef> {
    if (snapshot.generation !== environment.generation) {
      throw new RestoreError(`it is of generation ${snapshot.generation.slice(0, 12)}, and the environment is of ${environment.generation.slice(0, 12)}`);
    }
    if (!this.hostOf(request.owner).canReplay) throw new RestoreError('the administrator of the world host may not set session_replication_role');
    const kase = { clock: snapshot.clock, timezone: snapshot.timezone, state: snapshot.state };
    return this.make(environment, { ...request, kase }, snapshot);
  }

  async open(ref: WorldRef): Promise<World> {
    const host = this.hosts.find((known) => known.name === ref.host);
    const row = host && (await this.current(host, ref));
    if (!host || !row) throw new WorldGoneError(ref.id);
    if (row.container && !(await answers(row.container.adminUrl)) && (await isLost({ engine: null, ...row.container }))) {
      // Nobody will ever read it again; left as it is, every step of its trial would wait for it for minutes.
      await this.forget(row.id);
      await dropWorld(host, row, this.config.failpoint);
      await count(host.admin, 'swept');
      throw new WorldGoneError(ref.id);
    }
    return new LeasedWorld(ref, row, {
      access: this.accessOf(host, row),
      adminUrl: row.container?.adminUrl ?? host.adminUrl,
      current: () => this.current(host, ref),
      expected: () => generationRecord(host.admin, row.generation),
      release: (reuse) => this.release(host, ref, reuse),
      failpoint: this.config.failpoint,
      now: this.config.now ?? (() => performance.now()),
    });
  }

  async authenticate(worldId: string, secret: string): Promise<ServiceSession | null> {
    for (const host of this.hosts) {
      const row = await worldById(host.admin, worldId);
      if (!row) continue;
      const kind = secretKind(row, secret);
      return row.state === 'leased' && kind !== null ? serviceSession(row, this.accessOf(host, row), kind, this.config.failpoint) : null;
    }
    return null;
  }

  async sweep(options: Parameters<Worlds['sweep']>[0]): Promise<SweepReport> {
    const reports: SweepReport[] = [];
    const log = (message: string, details: { readonly [name: string]: unknown }) => this.log(message, details);
    for (const host of this.hosts) reports.push(await sweepHost(host, { ...options, failpoint: this.config.failpoint, log }));
    reports.push(await sweepContainers(this.hosts, this.config.containerOwner ?? null, { ...options, log }));
    const sum = (of: (report: SweepReport) => number) => reports.reduce((total, report) => total + of(report), 0);
    const swept = reports.flatMap((report) => report.swept);
    if (!options.dryRun) for (const { world } of swept) await this.forget(world);
    return {
      live: sum((report) => report.live),
      pooled: sum((report) => report.pooled),
      swept,
      leaked: sum((report) => report.leaked),
      ever: {
        made: sum((report) => report.ever.made),
        released: sum((report) => report.ever.released),
        swept: sum((report) => report.ever.swept),
      },
    };
  }

  async leased(ownerPrefix: string, isolation: Isolation | null = null): Promise<number> {
    const counts = await Promise.all(this.hosts.map((host) => leasedCount(host.admin, ownerPrefix, isolation)));
    return counts.reduce((total, count) => total + count, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.own.values(), ...this.shared.values()].map((access) => access.close()));
    await Promise.all(this.hosts.map((host) => host.close()));
  }

  private async make(environment: LoadedEnvironment, request: LeaseRequest, snapshot: WorldSnapshot | null): Promise<WorldRef> {
    const host = this.hostOf(request.owner);
    const row = await provisionWorld(
      {
        host,
        id: this.config.id ?? randomId,
        failpoint: this.config.failpoint,
        log: (message, details) => this.log(message, details),
        image: this.config.image ?? 'postgres:18',
        containerLabels: async () => (await this.config.containerOwner?.labels(host.kind)) ?? {},
      },
      environment,
      request,
      snapshot,
    );
    return { id: row.id, host: host.name, isolation: row.isolation, epoch: row.epoch };
  }

  /** Fences, then resets or drops. A world that is no longer of this lease is left alone. */
  private async release(host: Host, ref: WorldRef, reuse: boolean): Promise<'pooled' | 'dropped'> {
    const row = await this.current(host, ref);
    if (!row) return 'dropped';
    if (reuse && row.isolation === 'schema' && host.canReplay) {
      await closeWorld(this.accessOf(host, row), row.layout, row.epoch, RELEASE_DRAIN_MS, this.config.failpoint);
      if (await this.reset(host, ref)) {
        await count(host.admin, 'released');
        await this.makeRoom(host);
        return 'pooled';
      }
    }
    await this.forget(row.id);
    await dropWorld(host, row, this.config.failpoint);
    await count(host.admin, 'released');
    return 'dropped';
  }

  private async makeRoom(host: Host): Promise<void> {
    try {
      const stale = await takeStalest(host.admin, this.config.pool ?? POOL_LIMIT);
      if (stale) await dropWorld(host, stale, this.config.failpoint);
    } catch (error) {
      // Whoever gave a world back has nothing to do with it.
      this.log('a free world that should make room is left for the sweeper', { host: host.name, err: error });
    }
  }

  private async reset(host: Host, ref: WorldRef): Promise<boolean> {
    class NotReusable extends Error {}
    try {
      await inTransaction(host.admin, async (client) => {
        const row = await worldById(client, ref.id, true);
        if (row?.state !== 'leased' || row.epoch !== ref.epoch) throw new NotReusable('it is no longer of this lease');
        // Whoever idles in a transaction on its tables holds nobody up for longer: the world is dropped then, which ends that session.
        await client.query(`SET LOCAL lock_timeout = ${RESET_LOCK_MS}`);
        const doubt = await resetWorld(client, row);
        if (doubt !== null) throw new NotReusable(doubt);
        await setFree(client, row.id);
        this.config.failpoint('world_reset_before_free');
      });
      return true;
    } catch (error) {
      // Whatever it was, a world about which there is doubt is never used again.
      this.log('a world is dropped instead of reused', { world: ref.id, why: error instanceof Error ? error.message : String(error) });
      return false;
    }
  }

  private async current(host: Host, ref: WorldRef): Promise<WorldRow | null> {
    const row = await worldById(host.admin, ref.id);
    return row?.state === 'leased' && row.epoch === ref.epoch ? row : null;
  }

  private hostOf(owner: string): Host {
    const n = createHash('sha256').update(owner).digest().readUInt32BE(0) % this.hosts.length;
    return this.hosts[n] as Host;
  }

  private accessOf(host: Host, row: WorldRow): Access {
    if (row.isolation === 'schema') return this.shared.get(host) as Access;
    let access = this.own.get(row.id);
    if (!access) {
      access = row.container
        ? ownAccess(row.container.adminUrl, { user: TOOL_ROLE, password: row.container.toolPassword }, row.layout.database, null)
        : ownAccess(host.adminUrl, host.tool, row.layout.database, host.control);
      this.own.set(row.id, access);
    }
    return access;
  }

  private async forget(worldId: string): Promise<void> {
    const access = this.own.get(worldId);
    this.own.delete(worldId);
    await access?.close();
  }

  private log(message: string, details: { readonly [name: string]: unknown }): void {
    this.config.log?.(message, details);
  }
}
