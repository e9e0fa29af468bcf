import { Runtime, Worker } from '@temporalio/worker';
import type { ActivityServices } from '../activities/services.ts';
import { createBatchActivities } from '../activities/batch-activities.ts';
import { createTrialActivities } from '../activities/trial-activities.ts';
import { startInbox } from '../environments/inbox/inbox.ts';
import { startTickets } from '../environments/tickets/service.ts';
import { type World, WorldGoneError, type Worlds } from '../environments/world.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { createModelClient } from '../models/client.ts';
import { conversationQueue, modelQueue } from '../workflows/messages.ts';
import { ToolServers } from '../tool-server/servers.ts';
import { loadBundle } from './bundle.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { readVariables } from './config.ts';
import { Content } from './content.ts';
import type { DeploymentVersion } from './version.ts';
import { createFailpoints } from './failpoints.ts';
import type { SlotParty } from './fair-slots.ts';
import { workerIdentity } from './identity.ts';
import type { Root } from './root.ts';
import { watchGauges } from './gauges.ts';
import { dataConverterFor } from './data-converter.ts';
import { createMeters } from './meters.ts';
import { installSdkRuntime } from './sdk-runtime.ts';
import { loggedAsStep } from './step-log.ts';
import { connectWorker } from './temporal.ts';
import { WorkerSlots } from './worker-slots.ts';
import { startTraces } from './traces/traces.ts';

/** Takes trials from one task queue until it is told to stop. */
export interface QueueWorker extends AsyncDisposable {
  /** Ends when the worker has stopped. @throws when it broke. */
  readonly stopped: Promise<void>;
  /** Stops taking work, lets short steps end, then stops. */
  shutdown(): void;
}

/** What trials need of a worker's process: the inbox, the ticket service, the gateway, and a connection. One serves any number of task queues. */
export interface TrialServices extends AsyncDisposable {
  readonly activities: ActivityServices;
  readonly gateway: Pick<Gateway, 'mount'>;
  /** Tells those who watch this process that it takes no more work. */
  drain(): void;
  /**
   * `ofACommand`: it ends with the command that started this process. Default false. `party`: whose the queue is, where it shares the process's slots with others; absent: it
   * has all of them. `version`: takes only trials that begin on it or began on it. Default: none.
   */
  serve(
    taskQueue: string,
    options?: { readonly ofACommand?: boolean; readonly party?: SlotParty; readonly version?: DeploymentVersion | null },
  ): Promise<QueueWorker>;
}

/** A worker of ours on the root's own task queue. */
export interface TrialWorker extends QueueWorker {
  readonly activities: ActivityServices;
}

/** Starts services and a worker on the root's own task queue. */
export async function startTrialWorker(root: Root): Promise<TrialWorker> {
  await using stack = new AsyncDisposableStack();
  const services = stack.use(await startTrialServices(root));
  const worker = stack.use(await services.serve(root.config.taskQueue, { ofACommand: true }));
  const owned = stack.move();
  return { activities: services.activities, stopped: worker.stopped, shutdown: worker.shutdown, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Starts what every task queue of this process shares. */
export async function startTrialServices(root: Root, content = new Content(root.loadEnvironment)): Promise<TrialServices> {
  const { config, log, store, worlds, temporal } = root;
  await using stack = new AsyncDisposableStack();
  const address = { listen: config.listen, advertise: config.advertise };
  const inbox = stack.use(await startInbox({ directory: worlds, ...address, port: config.ports.inbox, log }));
  const tickets = stack.use(await startTickets({ directory: worlds, ...address, port: config.ports.tickets, log }));
  installSdkRuntime(log, config.metrics);
  const meters = createMeters(Runtime.instance().metricMeter);
  if (config.metrics !== null) stack.use(watchGauges(meters.gauges, root));
  const gateway = stack.use(
    await startGateway({ answered: meters.gatewayAnswered, ...address, port: config.gateway.port, publicUrl: config.gateway.url, store, log }),
  );
  const traces = stack.use(await startTraces(config.traces, log));
  const connection = await connectWorker(config.temporal);
  stack.defer(() => connection.close());
  const addresses = { smtp: { host: inbox.host, port: inbox.port }, tickets: tickets.url };
  const failpoint = createFailpoints(config.failpoints);
  const toolServers = stack.use(new ToolServers({ addresses, environmentOf: readVariables, stands: (world) => stillStands(worlds, world), failpoint }));
  const services: ActivityServices = {
    store,
    worlds,
    addresses,
    toolServers,
    content,
    log,
    failpoint,
    now: () => new Date(),
  };
  const models = meters.counting(createModelClient({ variable: (name) => readVariables([name])[name] }));
  const { converse, callModel, askUserModel, ...activities } = createTrialActivities(services, {
    meters,
    workflows: temporal.workflow,
    environmentOf: readVariables,
    gateway,
    models,
    traced: traces.takes,
  });
  const ring = new KeyRing(config.keys);
  const each = {
    connection,
    namespace: config.temporal.namespace,
    dataConverter: dataConverterFor(ring),
    shutdownGraceTime: '5 seconds',
    maxHeartbeatThrottleInterval: '2 seconds',
  } as const;
  const slots = new WorkerSlots(config.worker);
  const interceptors = { activity: [loggedAsStep, ...traces.activities] };
  const owned = stack.move();
  return {
    activities: services,
    gateway,
    drain: () => gateway.drain(),
    async serve(taskQueue, { ofACommand = false, party, version = null } = {}) {
      const identity = workerIdentity(ofACommand);
      // A trial ends on the code on which it began, whatever is deployed meanwhile.
      const common = {
        ...each,
        ...(version && { workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' } as const }),
      };
      const trials = await Worker.create({
        ...common,
        identity,
        interceptors,
        taskQueue,
        workflowBundle: await loadBundle(config.home, { sealed: ring.current !== null }),
        sinks: traces.sinks,
        activities: { ...activities, ...createBatchActivities(services, temporal.workflow) },
        ...slots.trials(party),
        // Smaller than what is in flight, the cache costs a factor of four.
        maxCachedWorkflows: config.worker.cachedWorkflows,
        // A lost worker's workflows are taken over after this time; the default is ten seconds.
        stickyQueueScheduleToStartTimeout: '1 second',
      });
      const conversations = await Worker.create({
        ...common,
        identity,
        interceptors,
        taskQueue: conversationQueue(taskQueue),
        activities: { converse },
        ...slots.conversations(party),
      });
      const calls = await Worker.create({
        ...common,
        identity,
        interceptors,
        taskQueue: modelQueue(taskQueue),
        activities: { callModel, askUserModel },
        ...slots.models(party),
        // Over all workers of the queue; by the server.
        ...(config.worker.modelCallsPerSecond !== null && { maxTaskQueueActivitiesPerSecond: config.worker.modelCallsPerSecond }),
      });
      const worker = runTogether([trials, conversations, calls], (error) => log.error({ err: error }, 'the worker ended with an error'));
      // Its waiter sees the error, where there was one.
      if (party) void worker.stopped.catch(() => undefined).then(() => slots.leave(party));
      return worker;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Whether a world is still of this lease. @throws when that cannot be told now. */
async function stillStands(worlds: Worlds, { ref }: World): Promise<boolean> {
  try {
    await worlds.open(ref);
    return true;
  } catch (error) {
    if (error instanceof WorldGoneError) return false;
    throw error;
  }
}

/** Runs workers of which none is of use without the others. */
function runTogether(workers: readonly Worker[], onError: (error: unknown) => void): QueueWorker {
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) => worker.run().finally(shutdown));
  const stopped = Promise.all(runs).then(() => {});
  // Whoever waits for `stopped` sees the error; without a waiter it must not end the process.
  stopped.catch(() => {});
  return {
    stopped,
    shutdown,
    async [Symbol.asyncDispose]() {
      shutdown();
      await stopped.catch(onError);
      await Promise.allSettled(runs);
    },
  };
}
