import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { type Logger, pino } from 'pino';
import type { ActivityServices } from '../activities/services.ts';
import { createTrialActivities } from '../activities/trial-activities.ts';
import { startInbox } from '../environments/inbox/inbox.ts';
import { loadEnvironment } from '../environments/load.ts';
import { startTickets } from '../environments/tickets/service.ts';
import type { EnvironmentSource, LoadedEnvironment, Worlds } from '../environments/world.ts';
import { createWorlds } from '../environments/worlds/worlds.ts';
import { createStore } from '../store/postgres-store.ts';
import type { Store } from '../store/store.ts';
import { conversationQueue } from '../workflows/messages.ts';
import { loadBundle } from './bundle.ts';
import { type Config, readVariables } from './config.ts';
import { createFailpoints } from './failpoints.ts';
import { installSdkLog } from './sdk-log.ts';
import { connectClient, connectWorker } from './temporal.ts';

/** What every process of ours is built from. The one place where services are made. */
export interface Root extends AsyncDisposable {
  readonly config: Config;
  readonly log: Logger;
  readonly store: Store;
  readonly worlds: Worlds;
  readonly temporal: Client;
  readonly loadEnvironment: (source: EnvironmentSource) => Promise<LoadedEnvironment>;
}

/** Opens store, worlds and Temporal. The store is migrated. */
export async function createRoot(config: Config): Promise<Root> {
  await using stack = new AsyncDisposableStack();
  // Standard output belongs to the command.
  const log = pino({ level: config.logLevel, base: null }, pino.destination({ dest: 2, sync: true }));
  const store = stack.use(await createStore({ url: config.store.url }));
  await store.migrate();
  const worlds = stack.use(
    await createWorlds({
      hosts: config.worldHosts,
      connections: config.worldConnections,
      failpoint: createFailpoints(config.failpoints),
      image: config.postgresImage,
      log: (message, details) => log.warn(details, message),
    }),
  );
  const temporal = stack.use(await connectClient(config.temporal));
  const owned = stack.move();
  return { config, log, store, worlds, temporal, loadEnvironment: rememberEnvironments(), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A worker of ours that takes trials from the task queue until it is told to stop. */
export interface TrialWorker extends AsyncDisposable {
  readonly activities: ActivityServices;
  /** Ends when the worker has stopped. @throws when it broke. */
  readonly stopped: Promise<void>;
  /** Stops taking work, lets short steps end, then stops. */
  shutdown(): void;
}

/** Starts the inbox, the ticket service and a Temporal worker over a root. */
export async function startTrialWorker(root: Root): Promise<TrialWorker> {
  const { config, log, store, worlds, temporal } = root;
  await using stack = new AsyncDisposableStack();
  const inbox = stack.use(await startInbox({ directory: worlds, listen: config.listen, log }));
  const tickets = stack.use(await startTickets({ directory: worlds, listen: config.listen, log }));
  installSdkLog(log);
  const connection = await connectWorker(config.temporal);
  stack.defer(() => connection.close());
  const services: ActivityServices = {
    store,
    worlds,
    addresses: { smtp: { host: inbox.host, port: inbox.port }, tickets: tickets.url },
    loadEnvironment: root.loadEnvironment,
    log,
    failpoint: createFailpoints(config.failpoints),
    now: () => new Date(),
  };
  const { converse, ...activities } = createTrialActivities(services, { workflows: temporal.workflow, environmentOf: readVariables });
  const common = {
    connection,
    namespace: config.temporal.namespace,
    maxConcurrentActivityTaskExecutions: config.worker.activities,
    shutdownGraceTime: '5 seconds',
    maxHeartbeatThrottleInterval: '2 seconds',
  } as const;
  const trials = await Worker.create({
    ...common,
    taskQueue: config.taskQueue,
    workflowBundle: await loadBundle(config.home),
    activities,
    maxConcurrentLocalActivityExecutions: config.worker.activities,
    // Smaller than what is in flight, the cache costs a factor of four.
    maxCachedWorkflows: config.worker.cachedWorkflows,
    // A lost worker's workflows are taken over after this time; the default is ten seconds.
    stickyQueueScheduleToStartTimeout: '1 second',
  });
  const conversations = await Worker.create({ ...common, taskQueue: conversationQueue(config.taskQueue), activities: { converse } });
  const workers = [trials, conversations];
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  // Neither is of use without the other.
  const runs = workers.map((worker) => worker.run().finally(shutdown));
  const stopped = Promise.all(runs).then(() => {});
  // Whoever waits for `stopped` sees the error; without a waiter it must not end the process.
  stopped.catch(() => {});
  const owned = stack.move();
  return {
    activities: services,
    stopped,
    shutdown,
    async [Symbol.asyncDispose]() {
      shutdown();
      await stopped.catch((error: unknown) => log.error({ err: error }, 'the worker ended with an error'));
      await Promise.allSettled(runs);
      await owned.disposeAsync();
    },
  };
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
