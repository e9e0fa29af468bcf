import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { getContainerRuntimeClient } from 'testcontainers';

/** Label by which a world's container is found again, by whoever sweeps. */
const LABEL = 'dev.trialbed.world';

/** A Postgres server in a container, for one world. */
export interface ContainerServer {
  readonly id: string;
  /** Superuser's URL. */
  readonly adminUrl: string;
}

/** Starts a Postgres of its own for a world. Needs a container engine; the image must be there or be pullable. */
export async function startContainer(worldId: string, image: string): Promise<ContainerServer> {
  const container = await new PostgreSqlContainer(image)
    .withLabels({ [LABEL]: worldId })
    // The container outlives this process: its world may be graded by another worker. The sweeper, not a reaper, ends it.
    .withAutoRemove(false)
    .start();
  return { id: container.getId(), adminUrl: container.getConnectionUri() };
}

/** Stops and removes the container of a world, if there is one. */
export async function removeContainer(worldId: string): Promise<void> {
  const client = await getContainerRuntimeClient();
  const found = await client.container.dockerode.listContainers({ all: true, filters: { label: [`${LABEL}=${worldId}`] } });
  for (const { Id } of found) await client.container.dockerode.getContainer(Id).remove({ force: true, v: true });
}

/** Worlds that have a container on this machine's engine. */
export async function containerWorlds(): Promise<string[]> {
  const client = await getContainerRuntimeClient();
  const found = await client.container.dockerode.listContainers({ all: true, filters: { label: [LABEL] } });
  return found.flatMap(({ Labels }) => Labels[LABEL] ?? []);
}
