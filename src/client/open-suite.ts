import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../domain/json.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import type { Root } from '../worker/root.ts';
import { type ReadSuite, readSuite, type SuiteRequest } from './read-suite.ts';

/** Long enough for a world to be made and read. */
const CHECK_LEASE_MS = 5 * 60_000;

/**
 * Reads a suite as {@link readSuite} does, and makes one world of its environment, so that tables and columns that its cases name are checked as well.
 * Relative paths among `environmentOptions` are taken from the working folder.
 *
 * @throws {SuiteFileError} that lists every problem of every file.
 */
export function openSuite(root: Root, suite: string, environmentOptions: JsonObject = {}, agents: SuiteRequest['agents'] = 'every'): Promise<ReadSuite> {
  const sources = { loadEnvironment: root.loadEnvironment, tablesOf: (environment: LoadedEnvironment) => tablesOf(root, environment) };
  return readSuite({ suite, environmentOptions, agents }, sources);
}

/** Tables and columns as a world of the environment has them. A pack whose world cannot be made is told here, once, and not by every trial. */
async function tablesOf(root: Root, environment: LoadedEnvironment): Promise<World['columns']> {
  const owner = `check-${randomUUID()}`;
  const kase = { clock: '2026-01-01T00:00:00Z', timezone: 'UTC', state: [] };
  const world = await root.worlds.open(
    await root.worlds.provision(environment, { owner, workflowId: owner, isolation: 'schema', leaseMs: CHECK_LEASE_MS, kase }),
  );
  try {
    return world.columns;
  } finally {
    await world.release();
  }
}
