import { createHash } from 'node:crypto';
import { trialOfOwner } from '../domain/trial.ts';
import { type OpenOptions, type World, WorldGoneError, type WorldRef, type Worlds } from '../environments/world.ts';
import type { Store } from '../store/store.ts';
import { NotInCassetteError, type Playing, playing, replayWorld } from './replay-world.ts';

/** Host of what stands for worlds of trials that are played on cassettes: it is no server. */
export const CASSETTE_HOST = 'cassette';

/** Cassettes that are kept ready. */
const KEPT = 200;

/** Worlds as before, and beside them those of trials that are played on cassettes, which lie in the store alone. */
export function withCassettes(worlds: Worlds, store: Pick<Store, 'cassetteWorlds' | 'trial' | 'caseDocument'>): Worlds {
  const rows = store.cassetteWorlds;
  const ready = new Map<string, Promise<Playing>>();

  const load = (trial: string): (() => Promise<Playing>) => {
    return async () => {
      const hash = (await store.trial(trial))?.caseHash ?? '';
      const known = ready.get(hash) ?? loadCassette(hash);
      ready.set(hash, known);
      known.catch(() => ready.delete(hash));
      const oldest = ready.keys().next();
      if (ready.size > KEPT && !oldest.done) ready.delete(oldest.value);
      return known;
    };
  };
  const loadCassette = async (hash: string): Promise<Playing> => {
    const played = (await store.caseDocument(hash))?.kase.cassette;
    if (!played) throw new NotInCassetteError('a trial without a cassette');
    return playing(played);
  };

  return {
    async provision(environment, request) {
      if (!request.kase.cassette) return worlds.provision(environment, request);
      const { trial } = trialOfOwner(request.owner);
      if (trial === undefined) throw new NotInCassetteError(`${request.owner}, which is no trial,`);
      const id = `c${createHash('sha256').update(request.owner).digest('hex').slice(0, 15)}`;
      await rows.make(id, { trial, now: new Date(request.kase.clock), timezone: request.kase.timezone });
      return { id, host: CASSETTE_HOST, isolation: request.isolation, epoch: 1 };
    },
    async open(ref: WorldRef, options?: OpenOptions): Promise<World> {
      if (ref.host !== CASSETTE_HOST) return worlds.open(ref, options);
      const trial = await rows.trialOf(ref.id);
      if (trial === null) throw new WorldGoneError(ref.id);
      return replayWorld(rows, ref, trial, load(trial));
    },
    held: (owner) => worlds.held(owner),
    async sweep(options) {
      if (!options.dryRun) await rows.sweep();
      return worlds.sweep(options);
    },
    restore: (environment, snapshot, request) => worlds.restore(environment, snapshot, request),
    inspect: (environment, snapshot, request) => worlds.inspect(environment, snapshot, request),
    inspections: (ownerPrefix) => worlds.inspections(ownerPrefix),
    leased: (ownerPrefix, isolation) => worlds.leased(ownerPrefix, isolation),
    unlike: (ownerPrefix) => worlds.unlike(ownerPrefix),
    states: () => worlds.states(),
    lockWaits: async (world) => (world.host === CASSETTE_HOST ? [] : worlds.lockWaits(world)),
    connections: () => worlds.connections(),
    authenticate: (worldId, secret) => worlds.authenticate(worldId, secret),
    [Symbol.asyncDispose]: () => worlds[Symbol.asyncDispose](),
  };
}
