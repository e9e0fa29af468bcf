import type { JsonObject } from '../domain/json.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { checkAgainst } from '../suite/check-against.ts';
import { loadSuite } from '../suite/load-suite.ts';
import { withPathsFrom } from '../suite/option-paths.ts';
import { type Suite, SuiteFileError } from '../suite/suite.ts';
import type { Root } from '../worker/root.ts';

/**
 * Loads a suite with its environment and holds every name in its cases against it, before anything is run.
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
  const problems = checkAgainst(suite, environment);
  if (problems.length > 0) throw new SuiteFileError(problems);
  return { suite, environment };
}
