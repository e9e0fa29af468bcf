import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import type { SealKey } from '../keys/key-ring.ts';
import { parseKeys } from './keys.ts';
import { budgets, type NamedUrl, POSTGRES_URL, worldServers } from './world-servers.ts';
import { traceVariables, type TracesConfig, tracesConfig } from './traces/config.ts';
import { type ConfirmAbove, parseConfirmAbove } from '../domain/confirmation.ts';
import { isLoopback } from '../domain/loopback.ts';

/** Which Postgres host holds worlds. */
export interface WorldHostConfig {
  /** Short name, recorded with each world; the same at every worker. */
  readonly name: string;
  readonly kind: 'external' | 'container' | 'embedded';
  /** URL of a role that may create roles and databases. Never recorded or logged. */
  readonly adminUrl: string;
  /** Connections of one process to it; absent: {@link Config.worldConnections}. */
  readonly connections?: number;
}

/** What `TLSConfig` of the Temporal SDK takes, as far as its environment variables can say it. */
export interface TemporalTls {
  readonly serverNameOverride?: string;
  readonly serverRootCACertificate?: Buffer;
  readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
}

/** How to reach Temporal. */
export interface TemporalEndpoint {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string;
  readonly tls?: boolean | TemporalTls;
}

/** Where the services are that a batch needs. */
export interface Endpoints {
  readonly storeUrl: string;
  readonly worldHosts: readonly WorldHostConfig[];
  readonly temporal: TemporalEndpoint;
}

/** Which services are given and which are to be started; see `acquireServices`. */
export interface ServiceSettings {
  /** Folder of everything that we keep on this machine, absolute. */
  readonly home: string;
  /** Which Postgres holds worlds; `auto` is the first that can be had of external, container, embedded. */
  readonly postgres: 'auto' | 'external' | 'container' | 'embedded';
  /** The store's database; null starts an embedded PostgreSQL below `home`. */
  readonly databaseUrl: string | null;
  /** Postgres servers for worlds; null means that of `databaseUrl`. */
  readonly worldsUrls: readonly NamedUrl[] | null;
  readonly postgresImage: string;
  /** A Temporal server that runs; null starts one. */
  readonly temporal: TemporalEndpoint | null;
  /** An executable that is used instead of what PATH has; null looks there. */
  readonly temporalCli: string | null;
  /** Where executables are looked for, as in PATH. */
  readonly path: string;
  /** Ids of the keys by which the store is encrypted, the current one first. */
  readonly keys: readonly string[];
  /** Folder for what can be made or fetched again, shared by all homes of this user. */
  readonly cacheFolder: string;
}

/** Everything a worker, a client or a command is built from. Made once, by {@link readConfig} or by a test. */
export interface Config {
  /** Folder of everything that we keep on this machine; default `.trialbed` in the working folder. */
  readonly home: string;
  readonly store: { readonly url: string };
  /** By which what was said and done is encrypted in the store and in Temporal, the current one first. Default: none, and nothing is. Never recorded or logged. */
  readonly keys: readonly SealKey[];
  readonly worldHosts: readonly WorldHostConfig[];
  readonly temporal: TemporalEndpoint;
  readonly taskQueue: string;
  /** Name of the deployment whose workers run trials, and to which a worker belongs; null: a batch has workers of its own. */
  readonly deployment: string | null;
  /** Address on which the inbox, the ticket service and the gateway of this worker listen. Default 127.0.0.1. */
  readonly listen: string;
  /** Host name or address by which agents and other workers reach these; null: `listen`. */
  readonly advertise: string | null;
  /** Ports of the inbox and the ticket service. Default 0: free ones. */
  readonly ports: { readonly inbox: number; readonly tickets: number };
  /** The door for agents that are programs of their own. */
  readonly gateway: {
    /** Default 0: a free one. With a port of its own, a client outside finds the next worker where it found the one before. */
    readonly port: number;
    /** Base URL as agents are told it; null: the address that it listens on. */
    readonly url: string | null;
  };
  /** The operators' console below the gateway's address, of `trialbed worker` alone; null: none. Default null. `url`: as browsers have it, by HTTPS; null: for this machine alone. */
  readonly console: { readonly url: string | null } | null;
  /** Where a worker serves its metrics for Prometheus, `host:port`; null: nowhere. */
  readonly metrics: string | null;
  /** Where a worker sends traces of its trials; null: nowhere. */
  readonly traces: TracesConfig | null;
  readonly worker: {
    /** Activities at once. */
    readonly activities: number;
    readonly cachedWorkflows: number;
    /** Calls of models at once. */
    readonly modelCalls: number;
    /** Calls of models that start in a second, over all workers of one batch; null: no limit beside those of routes. */
    readonly modelCallsPerSecond: number | null;
  };
  /** Connections to one Postgres host for worlds. */
  readonly worldConnections: number;
  /** Milliseconds that a Postgres host may be away before its worlds are given up, where another one answers. */
  readonly worldPatienceMs: number;
  readonly postgresImage: string;
  /** Failpoints that are armed: name, and the how-manieth hit kills the process. Tests only. */
  readonly failpoints: readonly { readonly name: string; readonly hit: number }[];
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

export type Environment = { readonly [name: string]: string | undefined };

/** What a command says about folders, over the environment. */
export interface Place {
  /** Default: the working folder of the process. */
  readonly cwd?: string;
  /** Instead of `TRIALBED_HOME`; relative to `cwd`. */
  readonly home?: string;
}

/** One or more environment variables have values that cannot be used; nothing was started. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'config';
  /** A line for each: the variable, what was expected. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the configuration cannot be used, and nothing was started:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * The configuration of a process: what the environment says, and where the services are. With {@link readSettings}, the
 * only reader of the environment. @throws {ConfigError}
 */
export function readConfig(env: Environment, endpoints: Endpoints, place: Place = {}): Config {
  const vars = parse(env);
  return {
    home: homeFolder(vars.TRIALBED_HOME, place),
    store: { url: endpoints.storeUrl },
    keys: vars.TRIALBED_KEYS,
    worldHosts: withBudgets(endpoints.worldHosts, vars.TRIALBED_WORLD_CONNECTIONS.by),
    temporal: endpoints.temporal,
    taskQueue: vars.TRIALBED_TASK_QUEUE,
    deployment: vars.TRIALBED_DEPLOYMENT ?? null,
    listen: vars.TRIALBED_LISTEN,
    advertise: vars.TRIALBED_ADVERTISE ?? null,
    ports: { inbox: vars.TRIALBED_INBOX_PORT, tickets: vars.TRIALBED_TICKETS_PORT },
    gateway: { port: vars.TRIALBED_GATEWAY_PORT, url: vars.TRIALBED_GATEWAY_URL ?? null },
    console: consoleOf(vars),
    metrics: vars.TRIALBED_METRICS ?? null,
    traces: tracesOf(vars),
    worker: {
      activities: vars.TRIALBED_ACTIVITIES,
      cachedWorkflows: vars.TRIALBED_CACHED_WORKFLOWS,
      modelCalls: vars.TRIALBED_MODEL_CALLS,
      modelCallsPerSecond: vars.TRIALBED_MODEL_CALLS_PER_SECOND ?? null,
    },
    worldConnections: vars.TRIALBED_WORLD_CONNECTIONS.all,
    worldPatienceMs: vars.TRIALBED_WORLD_PATIENCE * 1_000,
    postgresImage: vars.TRIALBED_POSTGRES_IMAGE,
    failpoints: vars.TRIALBED_FAILPOINTS,
    logLevel: vars.TRIALBED_LOG_LEVEL,
  };
}

/** Which services are given, and how to start the others. @throws {ConfigError} */
export function readSettings(env: Environment, place: Place = {}): ServiceSettings {
  const vars = parse(env);
  const caches = env['XDG_CACHE_HOME'] ?? join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache');
  return {
    home: homeFolder(vars.TRIALBED_HOME, place),
    postgres: vars.TRIALBED_POSTGRES,
    databaseUrl: vars.TRIALBED_DATABASE_URL ?? null,
    worldsUrls: vars.TRIALBED_WORLDS_URL ?? null,
    postgresImage: vars.TRIALBED_POSTGRES_IMAGE,
    temporal: temporalEndpoint(env),
    temporalCli: env['TEMPORAL_CLI_PATH'] || null,
    path: env['PATH'] ?? '',
    keys: vars.TRIALBED_KEYS.map(({ id }) => id),
    cacheFolder: join(caches, 'trialbed'),
  };
}

/** The keys by which records and payloads are encrypted, for what needs no service. @throws {ConfigError} */
export function readKeys(env: Environment): readonly SealKey[] {
  return parse(env).TRIALBED_KEYS;
}

/** Above what a run is to be confirmed, on this machine. @throws {ConfigError} */
export function readConfirmAbove(env: Environment): ConfirmAbove {
  return parse(env).TRIALBED_CONFIRM_ABOVE;
}

/** Those of the named variables that are set in this process, for an agent that was promised them. */
export function readVariables(names: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Variables by which git tells its hooks where they are; a command that a hook runs would ask about that repository instead of the one that it names. */
const OF_A_HOOK = /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES)$/;

/** The variables of this process for a git that is asked about some folder. */
export function gitVariables(): Environment {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_A_HOOK.test(name)));
}

function homeFolder(fromEnvironment: string, place: Place): string {
  return resolve(place.cwd ?? process.cwd(), place.home ?? fromEnvironment);
}

const postgresUrl = z.string().regex(POSTGRES_URL, 'a URL such as postgres://user:password@host:5432/database');
const port = z.coerce.number('a port').int('a port').min(0, 'a port').max(65_535, 'a port').default(0);
const count = (least: number, fallback: number) => z.coerce.number('a whole number').int('a whole number').min(least).default(fallback);

const variables = z.object({
  ...traceVariables.shape,
  TRIALBED_HOME: z.string().default('.trialbed'),
  TRIALBED_DATABASE_URL: postgresUrl.optional(),
  TRIALBED_WORLDS_URL: z.string().transform(worldServers).optional(),
  TRIALBED_POSTGRES: z.enum(['auto', 'external', 'container', 'embedded'], 'one of auto, external, container, embedded').default('auto'),
  TRIALBED_POSTGRES_IMAGE: z.string().default('postgres:18'),
  TRIALBED_DEPLOYMENT: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,62}$/, 'lower-case letters, digits and dashes')
    .optional(),
  TRIALBED_TASK_QUEUE: z.string().default('trialbed'),
  TRIALBED_LISTEN: z.string().default('127.0.0.1'),
  TRIALBED_ADVERTISE: z
    .string()
    .regex(/^([\w.-]+|\[[\da-f:]+\])$/i, 'a host name or address')
    .optional(),
  TRIALBED_INBOX_PORT: port,
  TRIALBED_TICKETS_PORT: port,
  TRIALBED_GATEWAY_PORT: port,
  TRIALBED_GATEWAY_URL: z
    .url({ protocol: /^https?$/, error: 'a URL such as https://gateway.example:8443' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  TRIALBED_CONSOLE: z
    .string()
    .regex(/^([01]|https:\/\/[^/?#@\s]+\/?)$/, '1, or an address as browsers have it, such as https://trialbed.example.com')
    .default('0'),
  TRIALBED_METRICS: z
    .string()
    .regex(/^(\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\]):\d{1,5}$/i, 'an address and port such as 127.0.0.1:9464')
    .optional(),
  TRIALBED_ACTIVITIES: count(1, 50),
  // A cache smaller than what is in flight costs a factor of four in workflows a second.
  TRIALBED_CACHED_WORKFLOWS: count(1, 500),
  TRIALBED_MODEL_CALLS: count(1, 50),
  TRIALBED_MODEL_CALLS_PER_SECOND: z.coerce.number('a number').gt(0, 'a number above 0').optional(),
  TRIALBED_WORLD_CONNECTIONS: z.string().default('').transform(budgets),
  TRIALBED_WORLD_PATIENCE: count(1, 60),
  TRIALBED_KEYS: z.string().default('').transform(parseKeys),
  TRIALBED_CONFIRM_ABOVE: z
    .string()
    .default('')
    .transform((text, context): ConfirmAbove => {
      const limits = text === '' ? {} : parseConfirmAbove(text);
      if (limits !== null) return limits;
      context.addIssue({ code: 'custom', message: 'a limit such as "500 trials", "5.00 USD" or both with a comma between them' });
      return z.NEVER;
    }),
  TRIALBED_FAILPOINTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter((part) => part.trim() !== ''))
    .pipe(
      z.array(
        z
          .string()
          .regex(/^[\w.-]+(:[1-9]\d*)?$/, 'names, each with the hit that kills, such as after-commit:2')
          .transform(failpoint),
      ),
    ),
  TRIALBED_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent'], 'one of debug, info, warn, error, silent').default('warn'),
});

function parse(env: Environment): z.infer<typeof variables> {
  // A variable that is set to nothing counts as not set: it is how shells and CI systems say "no value".
  const given = Object.fromEntries(Object.keys(variables.shape).map((name) => [name, env[name] || undefined]));
  const parsed = variables.safeParse(given);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map((issue) => `${String(issue.path[0])}: expected ${issue.message}`));
  if (parsed.data.TRIALBED_POSTGRES === 'external' && parsed.data.TRIALBED_DATABASE_URL === undefined && parsed.data.TRIALBED_WORLDS_URL === undefined) {
    throw new ConfigError(['TRIALBED_POSTGRES: external needs a URL in TRIALBED_WORLDS_URL or TRIALBED_DATABASE_URL']);
  }
  return parsed.data;
}

/** @throws {ConfigError} for a number of a server that is not there */
function withBudgets(hosts: readonly WorldHostConfig[], by: ReadonlyMap<string, number>): readonly WorldHostConfig[] {
  const unknown = [...by.keys()].filter((name) => !hosts.some((host) => host.name === name));
  if (unknown.length > 0) {
    const names = hosts.map(({ name }) => name).join(', ');
    throw new ConfigError([`TRIALBED_WORLD_CONNECTIONS: expected names of servers (there are: ${names}), not ${unknown.join(', ')}`]);
  }
  return hosts.map((host) => {
    const connections = by.get(host.name);
    return connections === undefined ? host : { ...host, connections };
  });
}

/** @throws {ConfigError} where others could reach a console without TLS */
function consoleOf({ TRIALBED_CONSOLE: wanted, TRIALBED_LISTEN: listens }: z.infer<typeof variables>): Config['console'] {
  if (wanted === '0') return null;
  if (wanted !== '1') return { url: new URL(wanted).origin };
  if (isLoopback(listens)) return { url: null };
  throw new ConfigError([
    `TRIALBED_CONSOLE: expected an address such as https://trialbed.example.com, of a proxy with HTTPS, since TRIALBED_LISTEN=${listens} lets others reach the gateway, which has no TLS`,
  ]);
}

function tracesOf(vars: z.infer<typeof variables>): TracesConfig | null {
  const problems: string[] = [];
  const traces = tracesConfig(vars, (problem) => problems.push(problem));
  if (problems.length > 0) throw new ConfigError(problems);
  return traces;
}

function failpoint(text: string): { name: string; hit: number } {
  const [name = '', hit = '1'] = text.split(':');
  return { name, hit: Number(hit) };
}

/**
 * A profile file of the Temporal CLI counts only where a variable names a server or a profile: nobody's production
 * cluster is to be used because a file in the home folder happens to have a default.
 */
function temporalEndpoint(env: Environment): TemporalEndpoint | null {
  if (!env['TEMPORAL_ADDRESS'] && !env['TEMPORAL_PROFILE']) return null;
  const set = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]])));
  let loaded: ReturnType<typeof loadClientConnectConfig>;
  try {
    loaded = loadClientConnectConfig({ overrideEnvVars: set });
  } catch (error) {
    throw new ConfigError([`TEMPORAL_*: ${error instanceof Error ? error.message : String(error)}`]);
  }
  const { address, apiKey, tls } = loaded.connectionOptions;
  if (address === undefined) throw new ConfigError(['TEMPORAL_PROFILE: expected the name of a profile that has an address']);
  return {
    address,
    namespace: loaded.namespace ?? 'default',
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
    ...(tls === undefined || tls === null ? {} : { tls: tls === true || tls === false ? tls : temporalTls(tls) }),
  };
}

function temporalTls(tls: {
  serverNameOverride?: string;
  serverRootCACertificate?: Uint8Array;
  clientCertPair?: { crt: Uint8Array; key: Uint8Array };
}): TemporalTls {
  return {
    ...(tls.serverNameOverride === undefined ? {} : { serverNameOverride: tls.serverNameOverride }),
    ...(tls.serverRootCACertificate === undefined ? {} : { serverRootCACertificate: Buffer.from(tls.serverRootCACertificate) }),
    ...(tls.clientCertPair === undefined ? {} : { clientCertPair: { crt: Buffer.from(tls.clientCertPair.crt), key: Buffer.from(tls.clientCertPair.key) } }),
  };
}
