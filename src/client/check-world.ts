import { randomUUID } from 'node:crypto';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import type { Root } from '../worker/root.ts';

/** Long enough for a world to be made and read. */
const LEASE_MS = 5 * 60_000;

/** Makes a world of an environment for as long as `work` takes. @throws what keeps it from being made. */
export async function inCheckWorld<T>(root: Root, environment: LoadedEnvironment, work: (world: World) => Promise<T>): Promise<T> {
  const owner = `check-${randomUUID()}`;
  const kase = { clock: '2026-01-01T00:00:00Z', timezone: 'UTC', state: [] };
  const lease = { owner, workflowId: owner, isolation: 'schema', leaseMs: LEASE_MS, kase, bare: true } as const;
  const world = await root.worlds.open(await root.worlds.provision(environment, lease));
  try {
    return await work(world);
  } finally {
    await world.release();
  }
}
