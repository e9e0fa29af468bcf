import { randomBytes } from 'node:crypto';
import type { ContainerRuntimeClient } from 'testcontainers';
import type { WorldHostConfig } from '../../worker/config.ts';

/** Label by which a world's container is found again, by whoever sweeps. Its value is the world's id. */
const WORLD_LABEL = 'trialbed.world';
/** Label that says whose world it is: one engine may serve several registries, and each sweeps its own only. */
const REGISTRY_LABEL = 'trialbed.registry';
/** What the registry knows of the world's lease, for the time when the registry is gone. */
const WORKFLOW_LABEL = 'trialbed.workflow';
const LEASE_LABEL = 'trialbed.lease-until';

/** A Postgres server in a container, for one world. */
export interface ContainerServer {
  readonly id: string;
  /** Superuser's URL. */
  readonly adminUrl: string;
  /** Id of the engine that runs it; null where the engine tells none. */
  readonly engine: string | null;
}

/** Whose containers they are, beside the registry: a container may outlive the database that its registry was in. */
export interface ContainerOwner {
  /** Labels of a new container whose registry is on a host of this kind. */
  labels(kind: WorldHostConfig['kind']): Promise<{ readonly [label: string]: string }>;
  /** `label=value` that all of them have; null where none was ever made. */
  filter(): Promise<string | null>;
  /** Whether the registry, by these labels, was in a throwaway server of the same owner: there is one at a time, so it is gone when another is in use. */
  throwaway(labels: { readonly [label: string]: string }): boolean;
}

export interface WorldContainer {
  readonly world: string;
  readonly registry: string;
  readonly workflowId: string | null;
  /** Null for one that carries no lease. */
  readonly leaseUntil: Date | null;
  readonly labels: { readonly [label: string]: string };
}

export interface ContainerRequest {
  readonly registry: string;
  readonly world: string;
  readonly workflowId: string | null;
  readonly leaseUntil: Date;
  /** Those of its owner. */
  readonly labels: { readonly [label: string]: string };
  readonly image: string;
}

/** A world's container could not be started. */
export class WorldContainerError extends Error {
  override readonly name = 'WorldContainerError';
  readonly code = 'world_container';
  readonly image: string;

  constructor(image: string, reason: string, options?: ErrorOptions) {
    super(
      `a container of the image ${image} could not be started: ${reason}; TRIALBED_POSTGRES_IMAGE names another image, and "trialbed doctor" looks`,
      options,
    );
    this.image = image;
  }
}

/**
 * Starts a Postgres of its own for a world. Needs a container engine; the image must be there or be pullable.
 *
 * The container outlives this process, as worlds do: another worker may have to grade what is in it. Not Testcontainers' reaper but the registry's sweeper
 * ends it.
 *
 * @throws {WorldContainerError}
 */
export async function startContainer(request: ContainerRequest): Promise<ContainerServer> {
  // Loaded only here: it takes most of a second, and most worlds need no container.
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  try {
    const container = await new PostgreSqlContainer(request.image)
      .withDatabase('postgres')
      .withUsername('postgres')
      .withPassword(randomBytes(24).toString('base64url'))
      .withLabels({
        ...request.labels,
        [WORLD_LABEL]: request.world,
        [REGISTRY_LABEL]: request.registry,
        [LEASE_LABEL]: request.leaseUntil.toISOString(),
        ...(request.workflowId === null ? {} : { [WORKFLOW_LABEL]: request.workflowId }),
      })
      .withAutoCleanup(false)
      .start();
    return { id: container.getId(), adminUrl: container.getConnectionUri(), engine: await engineId() };
  } catch (error) {
    throw new WorldContainerError(request.image, error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Stops and removes the container of a world, if there is one. */
export async function removeContainer(worldId: string): Promise<void> {
  const client = await engine();
  const found = await client.container.dockerode.listContainers({ all: true, filters: { label: [`${WORLD_LABEL}=${worldId}`] } });
  for (const { Id } of found) {
    await client.container.dockerode
      .getContainer(Id)
      .remove({ force: true, v: true })
      .catch((error: unknown) => {
        // Removed meanwhile, or just being removed.
        const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
        if (status !== 404 && status !== 409) throw error;
      });
  }
}

/** Containers of worlds on this machine's engine that have a label `label=value`. */
export async function listContainers(filter: string): Promise<readonly WorldContainer[]> {
  const client = await engine();
  const found = await client.container.dockerode.listContainers({ all: true, filters: { label: [WORLD_LABEL, filter] } });
  return found.map(({ Labels }) => {
    const lease = Date.parse(Labels[LEASE_LABEL] ?? '');
    return {
      world: Labels[WORLD_LABEL] ?? '',
      registry: Labels[REGISTRY_LABEL] ?? '',
      workflowId: Labels[WORKFLOW_LABEL] ?? null,
      leaseUntil: Number.isNaN(lease) ? null : new Date(lease),
      labels: Labels,
    };
  });
}

/** Those whose world is in this registry, or was. */
export function containersOfRegistry(registry: string): Promise<readonly WorldContainer[]> {
  return listContainers(`${REGISTRY_LABEL}=${registry}`);
}

/** Whether the server was lost for sure: the engine that started it answers, and runs it no more. */
export async function isLost(server: Pick<ContainerServer, 'id' | 'engine'>): Promise<boolean> {
  if (server.engine === null || server.engine !== (await engineId().catch(() => null))) return false;
  const client = await engine();
  try {
    const { State } = await client.container.getById(server.id).inspect();
    return !State.Running;
  } catch (error) {
    return error instanceof Error && 'statusCode' in error && error.statusCode === 404;
  }
}

async function engineId(): Promise<string | null> {
  const client = await engine();
  const info: { readonly ID?: string } = await client.container.dockerode.info();
  return info.ID || null;
}

async function engine(): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  return getContainerRuntimeClient();
}
