import { randomBytes } from 'node:crypto';
import type { ContainerRuntimeClient } from 'testcontainers';

/** Label by which a world's container is found again, by whoever sweeps. Its value is the world's id. */
const LABEL = 'trialbed.world';

/** Label that says whose world it is: one engine may serve several registries, and each sweeps its own only. */
const REGISTRY_LABEL = 'trialbed.registry';

/** A Postgres server in a container, for one world. */
export interface ContainerServer {
  readonly id: string;
  /** Superuser's URL. */
  readonly adminUrl: string;
}

/**
 * Starts a Postgres of its own for a world. Needs a container engine; the image must be there or be pullable.
 *
 * The container outlives this process, as worlds do: another worker may have to grade what is in it. Not Testcontainers' reaper but the registry's sweeper
 * ends it.
 */
export async function startContainer(registry: string, worldId: string, image: string): Promise<ContainerServer> {
  // Loaded only here: it takes most of a second, and most worlds need no container.
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const container = await new PostgreSqlContainer(image)
    .withDatabase('postgres')
    .withUsername('postgres')
    .withPassword(randomBytes(24).toString('base64url'))
    .withLabels({ [LABEL]: worldId, [REGISTRY_LABEL]: registry })
    .withAutoCleanup(false)
    .start();
  return { id: container.getId(), adminUrl: container.getConnectionUri() };
}

/** Stops and removes the container of a world, if there is one. */
export async function removeContainer(worldId: string): Promise<void> {
  const client = await engine();
  const found = await client.container.dockerode.listContainers({ all: true, filters: { label: [`${LABEL}=${worldId}`] } });
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

/** Worlds of a registry that have a container on this machine's engine. */
export async function containerWorlds(registry: string): Promise<string[]> {
  const client = await engine();
  const found = await client.container.dockerode.listContainers({ all: true, filters: { label: [LABEL, `${REGISTRY_LABEL}=${registry}`] } });
  return found.flatMap(({ Labels }) => Labels[LABEL] ?? []);
}

async function engine(): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  return getContainerRuntimeClient();
}
