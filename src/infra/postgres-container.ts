import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerRuntimeClient } from 'testcontainers';

/** A container engine that answers. */
export interface ContainerEngine {
  /** Such as `docker 28.2 (Debian GNU/Linux 12)`. */
  readonly description: string;
  readonly client: ContainerRuntimeClient;
}

export interface ContainerPostgres {
  /** URL of the superuser, database `postgres`. Holds the password. */
  readonly url: string;
  /** The engine's short id. */
  readonly id: string;
  /** Port published on the host. */
  readonly port: number;
  /** Settles when the container no longer runs; never rejects. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export interface ContainerPostgresOptions {
  readonly image: string;
  readonly password: string;
  /** Published on this port; null lets the engine choose. */
  readonly port: number | null;
  /** Value of the label {@link OWNER_LABEL}: whose container it is. */
  readonly owner: string;
}

/** Every container of ours carries this label; its value is the home folder that it serves. */
export const OWNER_LABEL = 'trialbed.home';

/** Containers are asked for, and there is nothing to run them. */
export class EngineMissingError extends Error {
  override readonly name = 'EngineMissingError';
  readonly code = 'engine_missing';

  /** `asker`: the setting that needs one. */
  constructor(asker: string, reason: string) {
    super(`${asker} needs a container engine, and none answers (${oneLine(reason)}); start Docker or Podman, or do without ${asker}`);
  }
}

/** The image is neither on the engine nor can it be pulled. */
export class ImageUnavailableError extends Error {
  override readonly name = 'ImageUnavailableError';
  readonly code = 'image_unavailable';
  readonly image: string;

  constructor(image: string, reason: string) {
    super(
      `the container engine answers, but the image ${image} is not there and cannot be pulled (${oneLine(reason)}); load it there, or name a PostgreSQL image that is there in TRIALBED_POSTGRES_IMAGE`,
    );
    this.image = image;
  }
}

/**
 * Makes sure, once and before anything is run, that worlds of isolation `container` can be made here.
 *
 * @throws {EngineMissingError}
 * @throws {ImageUnavailableError}
 */
export async function requireContainers(image: string, progress: (text: string) => void): Promise<void> {
  const engine = await findContainerEngine();
  if (engine.description === null) throw new EngineMissingError('--isolation container', engine.reason);
  await ensureImage(engine, image, progress);
}

/** The engine that Testcontainers finds, or the reason why there is none. */
export async function findContainerEngine(): Promise<ContainerEngine | { readonly description: null; readonly reason: string }> {
  // Loaded only here: it takes most of a second, and most commands need no container.
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    const client = await getContainerRuntimeClient();
    const { containerRuntime } = client.info;
    const version: { Version?: string } = await client.container.dockerode.version();
    return { description: `${version.Version ?? 'unknown version'} (${containerRuntime.operatingSystem})`, client };
  } catch (error) {
    return { description: null, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether the engine has the image already. */
export async function hasImage(engine: ContainerEngine, image: string): Promise<boolean> {
  const { ImageName } = await import('testcontainers');
  return engine.client.image.exists(ImageName.fromString(image));
}

/** Makes sure that the engine has the image. @throws {ImageUnavailableError} */
export async function ensureImage(engine: ContainerEngine, image: string, progress: (text: string) => void): Promise<void> {
  if (await hasImage(engine, image)) return;
  const { ImageName } = await import('testcontainers');
  progress(`pulling the container image ${image}`);
  try {
    await Promise.race([
      engine.client.image.pull(ImageName.fromString(image)),
      sleep(600_000, undefined, { ref: false }).then(() => {
        throw new Error('it was not there after ten minutes');
      }),
    ]);
  } catch (error) {
    throw new ImageUnavailableError(image, error instanceof Error ? error.message : String(error));
  }
}

/** Starts a throwaway PostgreSQL. Its data die with it. @throws what Testcontainers throws */
export async function startContainerPostgres(engine: ContainerEngine, options: ContainerPostgresOptions): Promise<ContainerPostgres> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const settings = ['listen_addresses=*', 'max_connections=200', 'max_locks_per_transaction=256', 'synchronous_commit=on', 'timezone=UTC'];
  const container = new PostgreSqlContainer(options.image)
    .withDatabase('postgres')
    .withUsername('postgres')
    .withPassword(options.password)
    .withLabels({ [OWNER_LABEL]: options.owner })
    .withCommand(['postgres', ...settings.flatMap((setting) => ['-c', setting])]);
  if (options.port !== null) container.withExposedPorts({ container: 5432, host: options.port });
  const started = await container.start().catch(async (error: unknown) => {
    // Before the first container Testcontainers starts its reaper, whose image may not be there. Without it, what a killed
    // supervisor leaves is removed by the next one of the home.
    if ((await containersOf(engine, options.owner)).length > 0) throw error;
    return await container.withAutoCleanup(false).start();
  });
  const id = started.getId();
  const url = new URL(`postgres://postgres@${started.getHost()}:${started.getPort()}/postgres`);
  url.password = options.password;
  const watching = new AbortController();
  return {
    url: url.href,
    id: id.slice(0, 12),
    port: started.getPort(),
    ended: watch(engine, id, watching.signal),
    async stop() {
      watching.abort();
      await started.stop({ remove: true, removeVolumes: true });
    },
  };
}

/** Removes containers that a dead owner left behind. */
export async function removeLeftoverContainers(engine: ContainerEngine, owner: string): Promise<number> {
  const left = await containersOf(engine, owner);
  for (const Id of left) await engine.client.container.dockerode.getContainer(Id).remove({ force: true, v: true });
  return left.length;
}

async function containersOf(engine: ContainerEngine, owner: string): Promise<readonly string[]> {
  const filters = { label: [`${OWNER_LABEL}=${owner}`] };
  return (await engine.client.container.dockerode.listContainers({ all: true, filters })).map(({ Id }) => Id);
}

async function watch(engine: ContainerEngine, id: string, signal: AbortSignal): Promise<string> {
  const container = engine.client.container.getById(id);
  for (let failures = 0; failures < 5; ) {
    await sleep(1_000, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return 'stopped';
    try {
      const { State } = await container.inspect();
      failures = 0;
      if (!State.Running) return `the container ended with code ${State.ExitCode}`;
    } catch (error) {
      if (error instanceof Error && 'statusCode' in error && error.statusCode === 404) return 'the container was removed';
      failures += 1;
    }
  }
  return 'the container engine no longer answers';
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
