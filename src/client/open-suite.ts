import type { JsonObject } from '../domain/json.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import type { Root } from '../worker/root.ts';
import { inCheckWorld } from './check-world.ts';
import { type ReadSuite, readSuite, type SuiteRequest } from './read-suite.ts';
import { withToolServers } from './tool-servers.ts';

/**
 * Reads a suite as {@link readSuite} does, and makes one world of its environment, so that tables and columns that its cases name are checked as well, and whether its
 * tool server is the pinned one. Relative paths among `environmentOptions` are taken from the working folder.
 *
 * @throws {SuiteFileError} that lists every problem of every file.
 */
export function openSuite(root: Root, suite: string, environmentOptions: JsonObject = {}, agents: SuiteRequest['agents'] = 'every'): Promise<ReadSuite> {
  const sources = { loadEnvironment: root.loadEnvironment, tablesOf: (environment: LoadedEnvironment) => tablesOf(root, environment) };
  return readSuite({ suite, environmentOptions, agents }, sources);
}

/** Tables and columns as a world of the environment has them. A pack whose world or server cannot be made is told here, once, and not by every trial. */
function tablesOf(root: Root, environment: LoadedEnvironment): Promise<World['columns']> {
  return inCheckWorld(root, environment, async (world) => {
    if (environment.environment.toolServer) await withToolServers(root, (servers) => servers.start(world, environment));
    return world.columns;
  });
}
