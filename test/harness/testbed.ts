import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { customAlphabet } from 'nanoid';
import pg from 'pg';
import type { BatchEvent, RunRequest } from '../../src/client/api.ts';
import { run } from '../../src/client/run.ts';
import type { BatchSummary, TrialSummary } from '../../src/domain/trial.ts';
import type { Config } from '../../src/worker/config.ts';
import { createRoot, type Root } from '../../src/worker/root.ts';
import { startTrialWorker, type TrialWorker } from '../../src/worker/trial-worker.ts';
import type { TestServices } from './services.ts';

const newName = customAlphabet('abcdefghjkmnpqrstuvwxyz23456789', 8);

/** A store, worlds, a task queue and (unless told otherwise) a worker of one's own over the services that all tests share. */
export interface Testbed extends AsyncDisposable {
  readonly config: Config;
  readonly root: Root;
  readonly worker: TrialWorker | null;
  /** Runs a batch to its end. */
  run(request: RunRequest): Promise<{ readonly trials: readonly TrialSummary[]; readonly summary: BatchSummary; readonly events: readonly BatchEvent[] }>;
}

export interface TestbedOptions {
  /** Default true: a worker in this process. */
  readonly worker?: boolean;
  readonly config?: Partial<Config>;
}

export async function startTestbed(services: TestServices, options: TestbedOptions = {}): Promise<Testbed> {
  await using stack = new AsyncDisposableStack();
  const name = `tb_${newName()}`;
  const home = await mkdtemp(join(tmpdir(), 'trialbed-home-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  await asAdmin(services, `create database ${name}`);
  stack.defer(() => asAdmin(services, `drop database ${name} with (force)`));
  const config: Config = {
    home,
    store: { url: databaseUrl(services.postgresUrl, name) },
    keys: [],
    worldHosts: [{ name: 'test', kind: 'embedded', adminUrl: services.postgresUrl }],
    temporal: { address: services.temporalAddress, namespace: 'default' },
    taskQueue: name,
    deployment: null,
    listen: '127.0.0.1',
    advertise: null,
    ports: { inbox: 0, tickets: 0 },
    gateway: { port: 0, url: null },
    console: null,
    metrics: null,
    traces: null,
    worker: { activities: 50, cachedWorkflows: 300, modelCalls: 20, modelCallsPerSecond: null },
    worldConnections: 20,
    worldPatienceMs: 60_000,
    postgresImage: process.env.TRIALBED_POSTGRES_IMAGE ?? 'postgres:18',
    failpoints: [],
    logLevel: 'error',
    ...options.config,
  };
  const root = stack.use(await createRoot(config));
  const worker = (options.worker ?? true) ? stack.use(await startTrialWorker(root)) : null;
  const owned = stack.move();
  return {
    config,
    root,
    worker,
    async run(request) {
      const broken = worker ? worker.stopped.then(() => Promise.reject(new Error('the worker stopped'))) : new Promise<never>(() => {});
      broken.catch(() => {});
      const handle = await run(root, request, broken);
      const events: BatchEvent[] = [];
      for await (const event of handle.events()) events.push(event);
      const summary = await handle.result();
      return { summary, events, trials: events.filter((event): event is TrialSummary => event.type === 'trial') };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function databaseUrl(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}

async function asAdmin(services: TestServices, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: services.postgresUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
