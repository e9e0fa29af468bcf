import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { withLive } from '../live/live-worlds.ts';
import { withCassettes } from '../cassettes/replay-worlds.ts';
import { loadEnvironment } from '../environments/load.ts';
import type { EnvironmentSource, LoadedEnvironment, Worlds } from '../environments/world.ts';
import { createWorlds } from '../environments/worlds/worlds.ts';
import { containerOwner } from '../infra/world-containers.ts';
import { createStore } from '../store/postgres-store.ts';
import type { Store } from '../store/store.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { type Config, readVariables } from './config.ts';
import { createFailpoints } from './failpoints.ts';
import { createLog } from './log.ts';
import { payloadCodec } from './payload-codec.ts';
import { connectClient } from './temporal.ts';

/** What every process of ours is built from. The one place where services are made. */
export interface Root extends AsyncDisposable {
  readonly config: Config;
  readonly log: Logger;
  readonly store: Store;
  readonly worlds: Worlds;
  readonly temporal: Client;
  readonly loadEnvironment: (source: EnvironmentSource) => Promise<LoadedEnvironment>;
  /** What is told and judged by the day takes it from here. */
  readonly now: () => Date;
}

export interface RootOptions {
  /** Temporal and the servers of worlds may be away, and are met when they are asked. Default: false. */
  readonly lazy?: boolean;
  /** Default: the machine's clock. */
  readonly now?: () => Date;
}

/** How long a statement of the store may take for whoever only asks: what is locked must not hold them up. */
const ASKED_MS = 1_500;

/** Opens store, worlds and Temporal. The store is migrated. */
export async function createRoot(config: Config, { lazy = false, now = () => new Date() }: RootOptions = {}): Promise<Root> {
  await using stack = new AsyncDisposableStack();
  const log = createLog(config.logLevel);
  const store = stack.use(await createStore({ url: config.store.url, keys: config.keys, now, ...(lazy && { statementMs: ASKED_MS }) }));
  await store.migrate();
  await store.checkKeys();
  const servers = stack.use(
    await createWorlds({
      hosts: config.worldHosts,
      connections: config.worldConnections,
      patienceMs: config.worldPatienceMs,
      failpoint: createFailpoints(config.failpoints),
      lazy,
      image: config.postgresImage,
      containerOwner: containerOwner(config.home),
      log: (message, details) => log.warn(details, message),
    }),
  );
  const worlds = withLive(withCassettes(servers, store), store, readVariables);
  const temporal = stack.use(await connectClient(config.temporal, { lazy, codec: payloadCodec(new KeyRing(config.keys)) }));
  const owned = stack.move();
  return { config, log, store, worlds, temporal, loadEnvironment: rememberEnvironments(), now, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Each environment is loaded and hashed once per process. */
function rememberEnvironments(): (source: EnvironmentSource) => Promise<LoadedEnvironment> {
  const loaded = new Map<string, Promise<LoadedEnvironment>>();
  return (source) => {
    const key = JSON.stringify([source.file, source.options]);
    const known = loaded.get(key) ?? loadEnvironment(source);
    loaded.set(key, known);
    known.catch(() => loaded.delete(key));
    return known;
  };
}
