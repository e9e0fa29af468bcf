import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../domain/json.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import { checkAgainst } from '../suite/check-against.ts';
import { loadSuite } from '../suite/load-suite.ts';
import { withPathsFrom } from '../suite/option-paths.ts';
import { type Suite, SuiteFileError } from '../suite/suite.ts';
import type { Root } from '../worker/root.ts';

/** Long enough for a world to be made and read. */
const CHECK_LEASE_MS = 5 * 60_000;

/**
 * Loads a suite with its environment, makes one world of it, and holds every name in its cases against both, before anything is run.
 * Relative paths among `options` are taken from the working folder.
 *
 * @throws {SuiteFileError} that lists every problem of every file.
 */
export async function openSuite(
  root: Root,
  nameOrPath: string,
  options?: JsonObject,
): Promise<{ readonly suite: Suite; readonly environment: LoadedEnvironment }> {
  const suite = await loadSuite(nameOrPath, options ? { environmentOptions: withPathsFrom(process.cwd(), options) } : {});
  const environment = await root.loadEnvironment(suite.environment);
  const problems = checkAgainst(suite, { ...environment, tables: await tablesOf(root, environment) });
  if (problems.length > 0) throw new SuiteFileError(problems);
  return { suite, environment };
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
