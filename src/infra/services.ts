import { access, constants } from 'node:fs/promises';
import { ConfigError, type Endpoints, type ServiceSettings, type TemporalEndpoint, type WorldHostConfig } from '../worker/config.ts';
import { makeFolder } from './make-folder.ts';
import { type Arrangement, arrange } from './plan.ts';
import { ensureDatabase } from './postgres-url.ts';
import type { StartedServices, SupervisorStatus } from './protocol.ts';
import { endSupervisor, type SupervisorConnection, ServicesError, supervisorStatus, useSupervisor } from './supervisor-client.ts';
import { requireTemporalCli } from './temporal-cli.ts';
import { prepareTemporal } from './temporal-ready.ts';
import { countWorldContainers, removeWorldContainers } from './world-containers.ts';

/** The right to use the services, until it is released or the process ends. */
export interface ServicesLease extends AsyncDisposable {
  readonly endpoints: Endpoints;
  /** Address of Temporal's web interface; null where the server is not ours. */
  readonly temporalUi: string | null;
  /** What a person should know: a fall-back, data in another folder. */
  readonly notes: readonly string[];
  /** Settles with an error when the services are gone for good while the lease was held; with null after the release. */
  readonly ended: Promise<Error | null>;
  /** Ends the use. When this was the last user, resolves after every service has stopped. */
  release(): Promise<void>;
}

export interface AcquireOptions {
  /** Hears what takes long, a line at a time. */
  readonly progress?: (text: string) => void;
  /** Servers that were given and do not answer are no reason to fail, but for that of the store. Default false. */
  readonly unprepared?: boolean;
}

/**
 * Gives the services that the settings ask for, starting what is missing. All processes that name the same home share them; they
 * stop with their last user, however that ends, unless {@link up} keeps them.
 *
 * @throws {ConfigError} the settings contradict each other, or the home folder cannot be used
 * @throws {ServicesError} a service could not be started
 * @throws {PostgresUnreachableError} a given Postgres does not answer or refuses
 * @throws {TemporalUnreachableError} Temporal does not answer
 * @throws {SearchAttributesError} the namespace lacks our search attributes and we may not make them
 */
export async function acquireServices(settings: ServiceSettings, options: AcquireOptions = {}): Promise<ServicesLease> {
  const arrangement = arrange(settings);
  await requireHome(settings.home);
  if (settings.temporal === null && settings.temporalCli !== null) await requireTemporalCli(settings.temporalCli);
  const progress = options.progress ?? (() => undefined);
  const given: StartedServices = { storeUrl: null, worlds: null, temporal: null, notes: [] };
  const supervised = arrangement.allGiven ? null : await Supervised.start(arrangement, progress);
  try {
    const started = supervised?.services ?? given;
    const endpoints = endpointsOf(arrangement, settings, started);
    // What the supervisor made is ready; what was given may lack our databases and search attributes.
    const store = arrangement.storeUrl === null ? [] : [arrangement.storeUrl];
    const others = options.unprepared ? [] : [ensureOneOf(arrangement.worlds ?? []), prepareTemporal(endpoints.temporal)];
    await Promise.all([...store.map(ensureDatabase), ...others]);
    const ended = Promise.withResolvers<Error | null>();
    supervised?.lost.then((error) => ended.resolve(error));
    const release = async (): Promise<void> => {
      await supervised?.release();
      ended.resolve(null);
    };
    return { endpoints, temporalUi: started.temporal?.uiUrl ?? null, notes: started.notes, ended: ended.promise, release, [Symbol.asyncDispose]: release };
  } catch (error) {
    await supervised?.release();
    throw error;
  }
}

/** Starts the services and keeps them when no user is left, until {@link down}. Errors as {@link acquireServices}. */
export async function up(
  settings: ServiceSettings,
  options: AcquireOptions = {},
): Promise<{ readonly endpoints: Endpoints; readonly temporalUi: string | null; readonly notes: readonly string[] }> {
  const { plan, allGiven } = arrange(settings);
  await using lease = await acquireServices(settings, options);
  if (!allGiven) {
    const connection = await useSupervisor(plan, () => undefined);
    await connection.pin();
    await connection.release();
  }
  return { endpoints: lease.endpoints, temporalUi: lease.temporalUi, notes: lease.notes };
}

export interface DownReport {
  /** `users`: processes still use the services, which stop with the last of them. */
  readonly result: 'stopped' | 'users' | 'not running';
  readonly users: readonly number[];
  /** Containers of worlds that were ended, and those that were left alone because their trials may be running. */
  readonly containers: { readonly ended: number; readonly left: number };
}

/**
 * Takes {@link up} back, and ends the containers of worlds that trials of this home have left. With `force` the services stop under their users too.
 * Where all services are given, nobody knows whether a process uses the home: then containers are ended with `force` only.
 */
export async function down(
  settings: Pick<ServiceSettings, 'home'>,
  options: { readonly force?: boolean; readonly allGiven?: boolean } = {},
): Promise<DownReport> {
  const { home } = settings;
  const users = await endSupervisor(home, options.force ?? false);
  const result = users === null ? 'not running' : users.length === 0 ? 'stopped' : 'users';
  const mayRun = result === 'users' || (options.allGiven === true && options.force !== true);
  const ended = mayRun ? null : await removeWorldContainers(home, options.force ?? false);
  const containers = ended === null ? { ended: 0, left: await countWorldContainers(home) } : { ended, left: 0 };
  return { result, users: users ?? [], containers };
}

/** What runs for the home; null when nothing does. */
export function status(settings: Pick<ServiceSettings, 'home'>): Promise<SupervisorStatus | null> {
  return supervisorStatus(settings.home);
}

/** Makes the home folder where it is missing. @throws {ConfigError} where it cannot be made or written */
async function requireHome(home: string): Promise<void> {
  try {
    await makeFolder(home);
    await access(home, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`the home folder ${home} cannot be used (${reason}); name another in TRIALBED_HOME or with --home`]);
  }
}

/** Of several servers for worlds some may be away: they are prepared when they are back. @throws {PostgresUnreachableError} when none answers */
async function ensureOneOf(hosts: readonly WorldHostConfig[]): Promise<void> {
  const made = await Promise.allSettled(hosts.map(({ adminUrl }) => ensureDatabase(adminUrl)));
  const failed = made.find((result) => result.status === 'rejected');
  if (failed && !made.some((result) => result.status === 'fulfilled')) throw failed.reason;
}

function endpointsOf(arrangement: Arrangement, settings: ServiceSettings, started: StartedServices): Endpoints {
  const storeUrl = arrangement.storeUrl ?? started.storeUrl;
  const worlds: readonly WorldHostConfig[] | null = arrangement.worlds ?? (started.worlds && [started.worlds]);
  const temporal: TemporalEndpoint | null =
    settings.temporal ?? (started.temporal === null ? null : { address: started.temporal.address, namespace: 'default' });
  if (storeUrl === null || worlds === null || temporal === null)
    throw new ServicesError('supervisor', 'the supervisor did not start all that its plan asks for');
  return { storeUrl, worldHosts: worlds, temporal };
}

/** A use of the supervisor that outlives the supervisor's own death: another is started, which finds the same ports and data. */
class Supervised {
  readonly services: StartedServices;
  readonly lost: Promise<Error>;
  #connection: SupervisorConnection;
  #released = false;
  #reconnecting: Promise<unknown> = Promise.resolve();

  static async start(arrangement: Arrangement, progress: (text: string) => void): Promise<Supervised> {
    return new Supervised(arrangement, await useSupervisor(arrangement.plan, progress));
  }

  private constructor(arrangement: Arrangement, connection: SupervisorConnection) {
    this.services = connection.services;
    this.#connection = connection;
    this.lost = this.#watch(arrangement);
  }

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#reconnecting;
    await this.#connection.release();
  }

  async #watch({ plan }: Arrangement): Promise<Error> {
    for (;;) {
      await this.#connection.ended;
      if (this.#released) return new Promise<never>(() => undefined);
      try {
        const again = useSupervisor(plan, () => undefined);
        this.#reconnecting = again.catch(() => undefined);
        this.#connection = await again;
      } catch (error) {
        return error instanceof Error ? error : new ServicesError('supervisor', String(error));
      }
      const addresses = (services: StartedServices): string => JSON.stringify([services.storeUrl, services.worlds, services.temporal]);
      if (addresses(this.#connection.services) !== addresses(this.services)) {
        return new ServicesError('supervisor', 'the services were started again, but not where they were before; run the command again');
      }
    }
  }
}
