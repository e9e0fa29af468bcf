import { customAlphabet } from 'nanoid';
import type { WorldHostConfig } from '../../worker/config.ts';
import { inTransaction, useOf } from '../hosts/connection.ts';
import { type ContainerOwner, isLost } from '../hosts/container.ts';
import type { Host } from '../hosts/host.ts';
import { TOOL_ROLE } from '../hosts/migrations.ts';
import { lockWaits } from '../../postgres/lock-waits.ts';
import {
  type Inspection,
  type Isolation,
  type LeaseRequest,
  type LoadedEnvironment,
  type OpenOptions,
  type ServiceSession,
  type SweepReport,
  type World,
  WorldGoneError,
  WorldServerAwayError,
  type WorldRef,
  type Worlds,
  type WorldSnapshot,
} from '../world.ts';
import { type Access, ownAccess } from './access.ts';
import { count } from './counts.ts';
import { dropWorld } from './drop.ts';
import { JournalMismatchError, RestoreError } from './errors.ts';
import { closeWorld } from './fence.ts';
import { generationRecord } from './generation-record.ts';
import { listInspections, openForReading } from './inspect.ts';
import { LeasedWorld } from './leased-world.ts';
import { provisionWorld } from './provision.ts';
import { LeasedRows } from './leased-rows.ts';
import { countByState, leasedCount, setFree, takeStalest, worldById, worldByOwner, type WorldRow, worldState } from './registry.ts';
import { resetWorld } from './reset.ts';
import { noteUnlike, unlikeCount } from './unlike.ts';
import { Placement } from './placement.ts';
import { type ReadyServer, WorldServers } from './servers.ts';
import { secretKind, serviceSession } from './service-session.ts';
import { answers } from './answers.ts';
import { sweepServers } from './sweep-servers.ts';

export interface WorldsConfig {
  /** At least one. A world is made where the fewest are leased for the connections there are. Worlds of isolation `container` are registered with the one of their owner. */
  readonly hosts: readonly WorldHostConfig[];
  /** Connections to one host for worlds of isolation `schema`, whatever the number of worlds; at least 8. Worlds with a database of their own have a few each, closed when idle. A host may have a number of its own. */
  readonly connections: number;
  /** How long a host may be away, in milliseconds, before its worlds are given up, where another one answers. Default a minute. */
  readonly patienceMs?: number;
  /** Servers are prepared when they are first used, so that none of them has to answer now. Default false. */
  readonly lazy?: boolean;
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

/** How long a host may be away where another one answers. */
const PATIENCE_MS = 60_000;

/** How long a release waits for writers of a world that nobody has fenced. */
const RELEASE_DRAIN_MS = 1000;

/** Of the connections to worlds of isolation `schema`. */
const PURPOSES = ['admin', 'control', 'tools', 'services'] as const;

const randomId = customAlphabet('0123456789abcdefghijklmnopqrstuvwxyz', 16);

/**
 * Prepares the hosts and returns the worlds on them.
 *
 * @throws {HostError} when a host cannot hold worlds.
 */
export async function createWorlds(config: WorldsConfig): Promise<Worlds> {
  const servers = await WorldServers.prepare(config.hosts, {
    connections: config.connections,
    patienceMs: config.patienceMs ?? PATIENCE_MS,
    now: config.now ?? (() => performance.now()),
    lazy: config.lazy ?? false,
    log: (message, details) => config.log?.(message, details),
  });
  return new PostgresWorlds(config, servers);
}

class PostgresWorlds implements Worlds {
  private readonly config: WorldsConfig;
  private readonly servers: WorldServers;
  private readonly placement: Placement;
  /** By world id: connections of worlds with a database of their own. */
  private readonly own = new Map<string, Access>();
  private readonly rows = new LeasedRows();

  constructor(config: WorldsConfig, servers: WorldServers) {
    this.config = config;
    this.servers = servers;
    this.placement = new Placement(servers);
  }

  async provision(environment: LoadedEnvironment, request: LeaseRequest): Promise<WorldRef> {
    return this.make(environment, request, null);
  }

  async restore(environment: LoadedEnvironment, snapshot: WorldSnapshot, request: LeaseRequest): Promise<WorldRef> {
    if (snapshot.generation !== environment.generation) {
      throw new RestoreError(`it is of generation ${snapshot.generation.slice(0, 12)}, and the environment is of ${environment.generation.slice(0, 12)}`);
    }
    const kase = { clock: snapshot.clock, timezone: snapshot.timezone, state: snapshot.state };
    return this.make(environment, { ...request, kase }, snapshot);
  }

  async held(owner: string): Promise<WorldRef | null> {
    const found = await Promise.all(
      this.servers.all.map((server) =>
        server
          .reach(async ({ host }): Promise<WorldRef | null> => {
            const row = await worldByOwner(host.admin, owner);
            return row?.state === 'leased' ? { id: row.id, host: host.name, isolation: row.isolation, epoch: row.epoch } : null;
          })
          .catch((error: unknown) => {
            if (error instanceof WorldServerAwayError && error.lasting) return null;
            throw error;
          }),
      ),
    );
    return found.find((ref) => ref !== null) ?? null;
  }

  async inspect(
    environment: LoadedEnvironment,
    snapshot: WorldSnapshot,
    { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
  ): Promise<Inspection> {
    const { clock, timezone, state } = snapshot;
    const ref = await this.restore(environment, snapshot, { owner, workflowId: null, isolation: 'database', leaseMs, kase: { clock, timezone, state } });
    const found = await this.placement.find(ref, ({ host }) => this.current(host, ref));
    if (!found) throw new WorldGoneError(ref.id);
    return openForReading({ host: found.ready.host, access: this.accessOf(found.ready, found.row) }, found.row, leaseMs);
  }

  async inspections(ownerPrefix: string): ReturnType<Worlds['inspections']> {
    // One that is away has nobody who could read there.
    const found = await Promise.all(this.servers.all.map((server) => server.reach(({ host }) => listInspections(host, ownerPrefix)).catch(() => [])));
    return found.flat();
  }

  async open(ref: WorldRef, { seen = false }: OpenOptions = {}): Promise<World> {
    // Of a world with a server of its own the registry knows, and the server does not, that it was lost.
    const trusted = seen && ref.isolation === 'schema';
    const found = await this.placement.find(
      ref,
      ({ host }) => this.current(host, ref),
      ({ host }) => (trusted ? this.rows.seen(host, ref) : null),
    );
    if (!found) throw new WorldGoneError(ref.id);
    const { row, ready } = found;
    const { host } = ready;
    if (row.container && !(await answers(row.container.adminUrl)) && (await isLost({ engine: null, ...row.container }))) {
      // Nobody will ever read it again; left as it is, every step of its trial would wait for it for minutes.
      await this.forget(row.id);
      await dropWorld(host, row, this.config.failpoint);
      await count(host.admin, 'swept');
      throw new WorldGoneError(ref.id);
    }
    return new LeasedWorld(ref, row, {
      access: this.accessOf(ready, row),
      adminUrl: row.container?.adminUrl ?? host.adminUrl,
      current: () => this.current(host, ref),
      expected: () => generationRecord(host.admin, row.generation),
      release: (reuse) => this.release(ready, ref, reuse),
      failpoint: this.config.failpoint,
      now: this.config.now ?? (() => performance.now()),
    });
  }

  async authenticate(worldId: string, secret: string): Promise<ServiceSession | null> {
    const found = await this.placement.find({ id: worldId, host: null }, ({ host }) => this.rows.byId(host, worldId));
    if (!found) return null;
    const { row, ready } = found;
    const kind = secretKind(row, secret);
    return row.state === 'leased' && kind !== null ? serviceSession(row, this.accessOf(ready, row), kind, this.config.failpoint) : null;
  }

  async sweep(options: Parameters<Worlds['sweep']>[0]): Promise<SweepReport> {
    const report = await sweepServers(this.servers, this.config.containerOwner ?? null, {
      ...options,
      failpoint: this.config.failpoint,
      log: (message, details) => this.log(message, details),
    });
    if (!options.dryRun) for (const { world } of report.swept) await this.forget(world);
    return report;
  }

  async leased(ownerPrefix: string, isolation: Isolation | null = null): Promise<number> {
    const counts = await Promise.all(
      this.servers.all.map((server) =>
        server
          .reach(({ host }) => leasedCount(host.admin, ownerPrefix, isolation))
          .catch((error: unknown) => {
            // Nobody waits for a server that was given up; a sweep looks there when it is back.
            if (error instanceof WorldServerAwayError && error.lasting) return 0;
            throw error;
          }),
      ),
    );
    return counts.reduce((total, count) => total + count, 0);
  }

  async unlike(ownerPrefix: string): Promise<number> {
    const counts = await Promise.all(
      this.servers.all.map((server) =>
        server
          .reach(({ host }) => unlikeCount(host.admin, ownerPrefix))
          .catch((error: unknown) => {
            if (error instanceof WorldServerAwayError && error.lasting) return 0;
            throw error;
          }),
      ),
    );
    return counts.reduce((total, count) => total + count, 0);
  }

  async states(): ReturnType<Worlds['states']> {
    const found = await Promise.all(
      this.servers.all.map((server) =>
        server
          .reach(({ host }) => countByState(host.admin))
          .then(
            (rows) => rows.map((row) => ({ host: server.name, ...row })),
            () => [],
          ),
      ),
    );
    return found.flat();
  }

  async lockWaits(world: Pick<WorldRef, 'id' | 'host'>): ReturnType<Worlds['lockWaits']> {
    const found = await this.placement.find(world, ({ host }) => worldById(host.admin, world.id));
    if (!found) return [];
    const { layout } = found.row;
    const { admin } = this.accessOf(found.ready, found.row);
    return lockWaits(async (text, values) => (await admin.query(text, [...values])).rows, { schemas: [...layout.schemas, layout.sys] });
  }

  connections(): ReturnType<Worlds['connections']> {
    return this.servers.all.flatMap(({ name, prepared }) =>
      prepared === null ? [] : PURPOSES.map((purpose) => ({ name: `${name} ${purpose}`, ...useOf(prepared.access[purpose]) })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.own.values()].map((access) => access.close()));
    await this.servers[Symbol.asyncDispose]();
  }

  private async make(environment: LoadedEnvironment, request: LeaseRequest, snapshot: WorldSnapshot | null): Promise<WorldRef> {
    return this.placement.place(request.owner, { replays: snapshot !== null, beside: request.isolation === 'container' }, async ({ host }) => {
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
      this.rows.keep(host, row);
      return { id: row.id, host: host.name, isolation: row.isolation, epoch: row.epoch };
    });
  }

  /** Fences, then resets or drops. A world that is no longer of this lease is left alone. */
  private async release(ready: ReadyServer, ref: WorldRef, reuse: boolean): Promise<'pooled' | 'dropped'> {
    const { host } = ready;
    const row = await this.current(host, ref);
    if (!row) return 'dropped';
    if (reuse && row.isolation === 'schema' && host.canReplay) {
      await closeWorld(this.accessOf(ready, row), row.layout, row.epoch, RELEASE_DRAIN_MS, this.config.failpoint);
      if (await this.reset(host, row)) {
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

  private async reset(host: Host, row: WorldRow): Promise<boolean> {
    class NotReusable extends Error {}
    let unlike: string | null = null;
    try {
      await inTransaction(host.admin, async (client) => {
        const now = await worldState(client, row.id, { lock: true });
        if (now?.state !== 'leased' || now.epoch !== row.epoch) throw new NotReusable('it is no longer of this lease');
        // Whoever idles in a transaction on its tables holds nobody up for longer: the world is dropped then, which ends that session.
        await client.query(`SET LOCAL lock_timeout = ${RESET_LOCK_MS}`);
        const doubt = await resetWorld(client, { ...row, resets: now.resets });
        if (doubt?.unlike) unlike = doubt.why;
        if (doubt !== null) throw new NotReusable(doubt.why);
        await setFree(client, row.id);
        this.config.failpoint('world_reset_before_free');
      });
      return true;
    } catch (error) {
      // Whatever it was, a world about which there is doubt is never used again.
      this.log('a world is dropped instead of reused', { world: row.id, why: error instanceof Error ? error.message : String(error) });
      if (error instanceof JournalMismatchError) unlike = error.message;
      if (unlike !== null)
        await noteUnlike(host.admin, row, unlike).catch((problem: unknown) => this.log('it could not be noted', { world: row.id, err: problem }));
      return false;
    }
  }

  private current(host: Host, ref: WorldRef): Promise<WorldRow | null> {
    return this.rows.current(host, ref);
  }

  private accessOf({ host, access: shared }: ReadyServer, row: WorldRow): Access {
    if (row.isolation === 'schema') return shared;
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
