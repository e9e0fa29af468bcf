import { createHash } from 'node:crypto';
import { isLive, liveBindings } from '../environments/live.ts';
import type { LeaseRequest, LoadedEnvironment, OpenOptions, World, WorldRef, Worlds } from '../environments/world.ts';
import type { LiveSpaceRow } from '../store/live-spaces.ts';
import type { Store } from '../store/store.ts';
import { NotLiveError } from './errors.ts';
import { TAG } from './live-service.ts';
import { liveWorld } from './live-world.ts';
import { type LiveParts, partOf, type Variables } from './parts.ts';

/** Worlds as before, and those of environments with real services: each has an account at each of them, made with the world and ended with it. */
export function withLive(worlds: Worlds, store: Pick<Store, 'liveSpaces'>, variables: Variables): Worlds {
  const rows = store.liveSpaces;

  const provision = async (environment: LoadedEnvironment, request: LeaseRequest): Promise<WorldRef> => {
    const ref = await worlds.provision(environment, request);
    if (request.bare || request.kase.cassette || !isLive(environment.environment)) return ref;
    const world = await worlds.open(ref);
    try {
      await Promise.all(Object.entries(liveBindings(environment.environment)).map(([service, binding]) => make(world, { service, binding, request })));
    } catch (error) {
      await releaseAll(keyOf(ref)).catch(() => undefined);
      await world.release().catch(() => undefined);
      throw error;
    }
    return { ...ref, live: true };
  };

  const make = async (world: World, { service, binding, request }: { service: string; binding: object; request: LeaseRequest }): Promise<void> => {
    const key = keyOf(world.ref);
    const [{ now }, at] = [await world.clock(), Date.now()];
    const noted = {
      ...{ world: key, service, binding: JSON.parse(JSON.stringify(binding)), owner: request.owner },
      ...{ actsFor: request.kase.permission?.user ?? '', shiftMs: now.getTime() - at, until: new Date(at + request.leaseMs) },
    };
    const { row, left } = await rows.begin(noted, (tries) => `${TAG}${digest(`${request.owner} ${key} ${service}`)}-${tries}`);
    if (row.state !== 'making') return;
    const part = partOf(row, variables, (table) => world.rows(table));
    // What an earlier try had made is of no use: how far it came is not known.
    if (left !== null) await part.service.release(left);
    const { kept: _, ...space } = part.space;
    await rows.ready(key, service, await part.service.provision(space));
  };

  const releaseAll = async (key: string): Promise<void> => {
    for (const row of await rows.of(key)) await release(row);
  };
  const release = async (row: LiveSpaceRow): Promise<void> => {
    await partOf(row, variables, async () => []).service.release(row.name);
    await rows.drop(row.world, row.service);
  };

  return {
    provision,
    async open(ref: WorldRef, options?: OpenOptions): Promise<World> {
      const world = await worlds.open(ref, options);
      if (!ref.live) return world;
      const key = keyOf(ref);
      const parts: LiveParts = (await rows.of(key)).map((row) => partOf(row, variables, (table) => world.rows(table)));
      return liveWorld(world, ref, { parts, rows, key, release: () => releaseAll(key) });
    },
    held: (owner) => worlds.held(owner),
    async sweep(options) {
      const report = await worlds.sweep(options);
      if (options.dryRun) return report;
      const gone = report.swept.map(({ world }) => world);
      // One that cannot be reached now is tried again by the next sweep.
      for (const row of await rows.over(new Date(), gone)) await release(row).catch(() => undefined);
      return report;
    },
    restore(environment, snapshot, request) {
      if (isLive(environment.environment)) return Promise.reject(new NotLiveError('going on from the state of another world'));
      return worlds.restore(environment, snapshot, request);
    },
    inspect: (environment, snapshot, request) => worlds.inspect(environment, snapshot, request),
    inspections: (ownerPrefix) => worlds.inspections(ownerPrefix),
    leased: (ownerPrefix, isolation) => worlds.leased(ownerPrefix, isolation),
    states: () => worlds.states(),
    lockWaits: (world) => worlds.lockWaits(world),
    connections: () => worlds.connections(),
    unlike: (ownerPrefix) => worlds.unlike(ownerPrefix),
    authenticate: (worldId, secret) => worlds.authenticate(worldId, secret),
    [Symbol.asyncDispose]: () => worlds[Symbol.asyncDispose](),
  };
}

/** A pooled world is leased again and again: each lease has spaces of its own. */
function keyOf({ id, epoch }: WorldRef): string {
  return `${id}.${epoch}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
