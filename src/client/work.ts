import { acquireServices } from '../infra/services.ts';
import { loadEnvironment } from '../environments/load.ts';
import { ConfigError, readConfig, readSettings } from '../worker/config.ts';
import type { GivenContent } from '../worker/content.ts';
import { runSharedWorker } from '../worker/shared-worker.ts';
import { serveNights } from './nights/serve.ts';
import { readSuite } from './read-suite.ts';
import { type Settings, sourcesOf } from './settings.ts';
import { type ClientOver, serveWorkerConsole } from './worker-console.ts';

/** How a worker in this process runs. */
export interface WorkOptions extends Settings {
  /** When raised, no more work is taken, short steps end, and the promise resolves. */
  readonly signal: AbortSignal;
  /** Called once, when trials are taken. */
  readonly onReady?: (worker: WorkerReady) => void;
  /** Suites on this machine; batches that were made elsewhere find their packs and agents in them. */
  readonly suites?: readonly string[];
  /** Deployment to which the worker belongs, as one of its versions. Default: `TRIALBED_DEPLOYMENT`, else none. */
  readonly deployment?: string;
  /** With a deployment: new trials begin on this worker's version. Default false: somebody else decides. */
  readonly current?: boolean;
}

export interface WorkerReady {
  readonly taskQueue: string;
  readonly temporal: string;
  /** Null without a deployment. */
  readonly version: { readonly deploymentName: string; readonly buildId: string } | null;
  /** Task queues that are polled now; more come with batches. */
  readonly queues: readonly string[];
}

/** Runs a worker in this process until it is told to stop. `over`: makes the client of its console, where it serves one. @throws what broke it. */
export async function workWith(over: ClientOver, options: WorkOptions): Promise<void> {
  const { env, place } = sourcesOf(options);
  const lease = await acquireServices(readSettings(env, place), options.log ? { progress: options.log } : {});
  try {
    const config = readConfig({ ...env, ...(options.deployment !== undefined && { TRIALBED_DEPLOYMENT: options.deployment }) }, lease.endpoints, place);
    if (options.current && config.deployment === null)
      throw new ConfigError(['TRIALBED_DEPLOYMENT: expected the name of the deployment whose current version this is to be']);
    const { taskQueue, temporal, console } = config;
    const say = options.log ?? (() => undefined);
    await runSharedWorker(config, {
      signal: options.signal,
      ready: (worker) => options.onReady?.({ taskQueue, temporal: temporal.address, ...worker }),
      given: await contentsOf(options.suites ?? []),
      current: options.current ?? false,
      say,
      beside: async (parts) => {
        await using stack = new AsyncDisposableStack();
        // The root is the worker's to let go.
        const client = stack.use(over({ ...parts.root, async [Symbol.asyncDispose]() {} }, async () => {}, { temporalUi: lease.temporalUi }));
        stack.use(await serveNights(parts.root, client));
        if (console) stack.use(await serveWorkerConsole(parts, { over, url: console.url, temporalUi: lease.temporalUi, say }));
        return stack.move();
      },
    });
  } finally {
    await lease.release();
  }
}

/** @throws {SuiteFileError} for a suite with problems */
async function contentsOf(suites: readonly string[]): Promise<GivenContent> {
  const read = [];
  for (const suite of suites) read.push(await readSuite({ suite, environmentOptions: {}, agents: 'every' }, { loadEnvironment }));
  return { environments: read.map(({ environment }) => environment), agents: read.flatMap(({ agents }) => agents) };
}
