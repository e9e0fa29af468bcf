import { join } from 'node:path';
import { embeddedFolder } from './embedded-folder.ts';
import type { HomeState } from './home-state.ts';
import { writeHomeState } from './home-state.ts';
import type { KeptService, ServiceRun } from './keep-running.ts';
import { keepRunning } from './keep-running.ts';
import type { ServicePlan } from './plan.ts';
import { STORE_DATABASE, WORLDS_DATABASE } from './plan.ts';
import { freePort, portIsFree } from './ports.ts';
import {
  EngineMissingError,
  ensureImage,
  findContainerEngine,
  hasImage,
  ImageUnavailableError,
  removeLeftoverContainers,
  startContainerPostgres,
} from './postgres-container.ts';
import { startEmbeddedPostgres } from './postgres-embedded.ts';
import { ensureDatabase, withDatabase } from './postgres-url.ts';
import type { ServiceProcess } from './process.ts';
import { startMark } from './process.ts';
import type { StartedServices } from './protocol.ts';
import { provideTemporalCli } from './temporal-fetch.ts';
import { startTemporalServer } from './temporal-server.ts';
import { removeUnregistered } from './world-containers.ts';

/** How long an image that could not be pulled is not asked for again, unless it is demanded. */
const PULL_AGAIN_MS = 3_600_000;

export interface Reporter {
  /** For those who wait for the services. */
  progress(text: string): void;
  /** For the supervisor's log. */
  log(text: string): void;
}

/** Services of a plan, kept running. */
export interface RunningServices {
  readonly started: StartedServices;
  readonly kept: readonly KeptService[];
  stop(): Promise<void>;
}

/** Starts all that the plan asks for, side by side. Where one fails, the others are stopped. @throws what failed first */
export async function startServices(plan: ServicePlan, state: HomeState, report: Reporter): Promise<RunningServices> {
  const kept: KeptService[] = [];
  const notes: string[] = [];
  const keep = async (name: string, start: () => Promise<ServiceRun>): Promise<void> => {
    kept.push(await keepRunning(name, start, report.log));
  };
  const starter = new Starter(plan, state, report, notes, keep);
  const [postgres, temporal] = await Promise.allSettled([starter.postgres(), starter.temporal()]);
  const stop = async (): Promise<void> => {
    await Promise.all(kept.map((service) => service.stop()));
  };
  if (postgres.status === 'rejected' || temporal.status === 'rejected') {
    await stop();
    throw postgres.status === 'rejected' ? postgres.reason : temporal.status === 'rejected' ? temporal.reason : undefined;
  }
  return { started: { ...postgres.value, temporal: temporal.value, notes }, kept, stop };
}

/** Throws on, but only when the other start has ended: what still starts is not yet known to those who would stop it. */
function orAfter(other: Promise<unknown> | null): (error: unknown) => Promise<never> {
  return async (error) => {
    await other?.catch(() => undefined);
    throw error;
  };
}

class Starter {
  readonly #plan: ServicePlan;
  readonly #state: HomeState;
  readonly #report: Reporter;
  readonly #notes: string[];
  readonly #keep: (name: string, start: () => Promise<ServiceRun>) => Promise<void>;

  constructor(plan: ServicePlan, state: HomeState, report: Reporter, notes: string[], keep: (name: string, start: () => Promise<ServiceRun>) => Promise<void>) {
    this.#plan = plan;
    this.#state = state;
    this.#report = report;
    this.#notes = notes;
    this.#keep = keep;
  }

  async postgres(): Promise<Pick<StartedServices, 'storeUrl' | 'worlds'>> {
    const wanted = this.#plan.worlds === 'container' || this.#plan.worlds === 'auto';
    const early = this.#plan.embeddedStore ? this.#embedded() : null;
    // Its failure is met below; without this, one of the container would leave it unhandled.
    early?.catch(() => undefined);
    const container = wanted ? await this.#container().catch(orAfter(early)) : null;
    const worldsEmbedded = this.#plan.worlds !== 'external' && container === null;
    const embedded = await (early ?? (worldsEmbedded ? this.#embedded() : null));
    let storeUrl: string | null = null;
    if (embedded !== null && this.#plan.embeddedStore) {
      storeUrl = withDatabase(embedded, STORE_DATABASE);
      await ensureDatabase(storeUrl);
    }
    if (container !== null) return { storeUrl, worlds: { name: 'container', kind: 'container', adminUrl: container } };
    if (embedded === null || !worldsEmbedded) return { storeUrl, worlds: null };
    const adminUrl = withDatabase(embedded, WORLDS_DATABASE);
    await ensureDatabase(adminUrl);
    return { storeUrl, worlds: { name: 'embedded', kind: 'embedded', adminUrl } };
  }

  async temporal(): Promise<StartedServices['temporal']> {
    const { temporal: search, home } = this.#plan;
    if (search === null) return null;
    const cli = await provideTemporalCli(search, this.#report.progress);
    const [port, uiPort] = [await this.#port('temporal'), await this.#port('temporalUi')];
    this.#report.progress('starting a Temporal server');
    const databaseFile = join(home, 'temporal.db');
    const logFile = join(home, 'logs', 'temporal.log');
    await this.#keep('temporal', async () => {
      const onProcess = (process: ServiceProcess): Promise<void> => this.#remember('temporal', process);
      const server = await startTemporalServer({ cli: cli.file, port, uiPort, databaseFile, logFile, cwd: home, onProcess });
      return processRun(server.process, server.stop);
    });
    return { address: `127.0.0.1:${port}`, uiUrl: `http://127.0.0.1:${uiPort}` };
  }

  async #embedded(): Promise<string> {
    const { folder, note } = await embeddedFolder(this.#plan.home, this.#state.postgresFolder === null);
    if (note !== null) this.#notes.push(note);
    this.#state.postgresFolder = folder;
    const port = await this.#port('postgres');
    this.#report.progress('starting the embedded PostgreSQL');
    let url = '';
    const logFile = join(this.#plan.home, 'logs', 'postgres.log');
    const onProcess = (process: ServiceProcess): Promise<void> => this.#remember('postgres', process);
    const options = { dataFolder: folder, port, password: this.#state.postgresPassword, logFile, onProcess };
    await this.#keep('postgres', async () => {
      const server = await startEmbeddedPostgres(options);
      url = server.url;
      return processRun(server.process, server.stop);
    });
    return url;
  }

  /** URL of the container's worlds database; null where the plan lets us do without and no container can be had. */
  async #container(): Promise<string | null> {
    const required = this.#plan.worlds === 'container';
    const engine = await findContainerEngine();
    if (engine.description === null) {
      if (required) throw new EngineMissingError('TRIALBED_POSTGRES=container', engine.reason);
      return null;
    }
    const known = this.#state.unavailableImage;
    if (!required && known?.image === this.#plan.postgresImage && Date.now() - Date.parse(known.at) < PULL_AGAIN_MS) {
      if (!(await hasImage(engine, known.image))) {
        this.#notes.push(`worlds are in the embedded PostgreSQL, because ${known.reason}`);
        return null;
      }
    }
    try {
      await removeLeftoverContainers(engine, this.#plan.home);
      await ensureImage(engine, this.#plan.postgresImage, this.#report.progress);
      this.#report.progress('starting PostgreSQL in a container');
      let url = '';
      let port: number | null = null;
      const { postgresPassword: password } = this.#state;
      await this.#keep('postgres-container', async () => {
        // Worlds that were registered in one before, but have containers of their own, are lost with it.
        await removeUnregistered(engine, this.#plan.home);
        const server = await startContainerPostgres(engine, { image: this.#plan.postgresImage, password, port, owner: this.#plan.home });
        // A container that takes the place of a lost one is published where the lost one was.
        port = server.port;
        url = withDatabase(server.url, WORLDS_DATABASE);
        await ensureDatabase(url);
        const stop = async (): Promise<void> => {
          await server.stop();
          await removeUnregistered(engine, this.#plan.home);
        };
        return { ...server, stop };
      });
      return url;
    } catch (error) {
      if (required) throw error;
      if (error instanceof ImageUnavailableError) {
        this.#state.unavailableImage = { image: error.image, reason: error.message, at: new Date().toISOString() };
        writeHomeState(this.#plan.home, this.#state);
      }
      this.#notes.push(`worlds are in the embedded PostgreSQL, because ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }

  /** The port that this service had before, or a free one when it had none or somebody else took it. */
  async #port(name: string): Promise<number> {
    const before = this.#state.ports[name];
    if (before !== undefined && (await portIsFree(before))) return before;
    const port = await freePort();
    if (before !== undefined) this.#notes.push(`port ${before}, which ${name} had before, is taken; it has ${port} now`);
    this.#state.ports[name] = port;
    writeHomeState(this.#plan.home, this.#state);
    return port;
  }

  /** Before the service is ready: a supervisor that is killed while it waits must leave word of what it started. */
  async #remember(name: string, process: ServiceProcess): Promise<void> {
    const mark = await startMark(process.pid);
    this.#state.running = this.#state.running.filter((entry) => entry.name !== name);
    if (mark !== null) this.#state.running.push({ name, pid: process.pid, mark });
    writeHomeState(this.#plan.home, this.#state);
  }
}

function processRun(process: ServiceProcess, stop: () => Promise<void>): ServiceRun {
  const ended = process.exited.then(({ code, signal }) => (signal === null ? `exit code ${code}` : `signal ${signal}`));
  return { id: String(process.pid), ended, stop };
}
