import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorldHostConfig } from '../worker/config.ts';
import { takeHomeLock } from './home-lock.ts';
import { type ContainerEngine, findContainerEngine } from './postgres-container.ts';

/** Every container of a world carries this label; its value is the id of the home that its maker worked in. */
const HOME_LABEL = 'trialbed.world-home';
/** What the server was that the world is registered in: `external`, `container` or `embedded`. */
const HOST_LABEL = 'trialbed.world-host';

/** Whose containers of worlds they are that a process of this home makes. */
export function containerOwner(home: string) {
  return {
    labels: async (kind: WorldHostConfig['kind']) => ({ [HOME_LABEL]: await homeId(home), [HOST_LABEL]: kind }),
    filter: async () => {
      const id = await knownHomeId(home);
      return id === null ? null : `${HOME_LABEL}=${id}`;
    },
    throwaway: (labels: { readonly [label: string]: string }) => labels[HOST_LABEL] === 'container',
  };
}

/**
 * Ends the containers of all worlds of a home in which nothing runs; with `force`, also where something does.
 *
 * @returns how many; null where a supervisor has started meanwhile, or no engine answers
 */
export async function removeWorldContainers(home: string, force: boolean): Promise<number | null> {
  const id = await knownHomeId(home);
  if (id === null) return 0;
  using lock = force ? null : takeHomeLock(home);
  if (lock === null && !force) return null;
  const engine = await findContainerEngine();
  return engine.description === null ? null : remove(engine, [`${HOME_LABEL}=${id}`]);
}

/** Containers of worlds of a home. */
export async function countWorldContainers(home: string): Promise<number> {
  const id = await knownHomeId(home);
  if (id === null) return 0;
  const engine = await findContainerEngine();
  return engine.description === null ? 0 : (await list(engine, [`${HOME_LABEL}=${id}`])).length;
}

/** Ends the containers of worlds that were registered in the home's throwaway server, which is gone: nobody can find these worlds any more. */
export async function removeUnregistered(engine: ContainerEngine, home: string): Promise<number> {
  const id = await knownHomeId(home);
  return id === null ? 0 : remove(engine, [`${HOME_LABEL}=${id}`, `${HOST_LABEL}=container`]);
}

async function remove(engine: ContainerEngine, label: readonly string[]): Promise<number> {
  const found = await list(engine, label);
  await Promise.all(
    found.map((id) =>
      engine.client.container.dockerode
        .getContainer(id)
        .remove({ force: true, v: true })
        .catch((error: unknown) => {
          // Removed meanwhile, or just being removed.
          const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
          if (status !== 404 && status !== 409) throw error;
        }),
    ),
  );
  return found.length;
}

async function list(engine: ContainerEngine, label: readonly string[]): Promise<readonly string[]> {
  return (await engine.client.container.dockerode.listContainers({ all: true, filters: { label: [...label] } })).map(({ Id }) => Id);
}

/** A random id, because one engine may serve homes of the same path on several machines or in several containers. Made at the first container. */
async function homeId(home: string): Promise<string> {
  const known = await knownHomeId(home);
  if (known !== null) return known;
  await mkdir(home, { recursive: true });
  const partial = `${idFile(home)}.${randomUUID()}`;
  await writeFile(partial, randomUUID(), { mode: 0o600 });
  try {
    // Whole from the beginning, and never a second one.
    await link(partial, idFile(home));
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
  } finally {
    await rm(partial, { force: true });
  }
  return (await knownHomeId(home)) ?? homeId(home);
}

async function knownHomeId(home: string): Promise<string | null> {
  try {
    return (await readFile(idFile(home), 'utf8')).trim();
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null;
    throw error;
  }
}

function idFile(home: string): string {
  return join(home, 'home-id');
}
