import { existsSync } from 'node:fs';
import type { JsonObject } from '../domain/json.ts';
import { EnvironmentDefinitionError } from '../environments/define.ts';
import { EnvironmentLoadError } from '../environments/load.ts';
import type { EnvironmentSource, LoadedEnvironment, World } from '../environments/world.ts';
import { blueprintOf } from '../environments/worlds/blueprint.ts';
import { WorldBuildError } from '../environments/worlds/errors.ts';
import { loadAgent } from '../suite/agent-file.ts';
import { checkAgainst, checkAgentAgainst } from '../suite/check-against.ts';
import { readSuiteFiles } from '../suite/load-suite.ts';
import { checkSchedules } from '../suite/check-schedules.ts';
import { withPathsFrom } from '../suite/option-paths.ts';
import { ToolSchemaError, ToolServerError } from '../tool-server/errors.ts';
import type { RunRequest } from './api.ts';
import { type FileProblem, type LoadedAgent, type Suite, SuiteFileError } from '../suite/suite.ts';

export interface ReadSuite {
  readonly suite: Suite;
  readonly environment: LoadedEnvironment;
  readonly agents: readonly LoadedAgent[];
}

export interface SuiteRequest {
  readonly suite: string;
  /** Put over the suite's own; relative paths are taken from the working folder. */
  readonly environmentOptions: JsonObject;
  /** Names or paths; else those that a run of the suite has by default, or every one that the suite has. */
  readonly agents: readonly string[] | 'defaults' | 'every';
}

/** What a run's request asks of its suite. */
export function suiteRequestOf({ suite, agents = [], environmentOptions = {} }: RunRequest): SuiteRequest {
  return { suite, environmentOptions, agents: agents.length > 0 ? agents : 'defaults' };
}

/** How an environment is loaded, and how its tables are known where there is a database to ask. */
export interface SuiteSources {
  readonly loadEnvironment: (source: EnvironmentSource) => Promise<LoadedEnvironment>;
  readonly tablesOf?: (environment: LoadedEnvironment) => Promise<World['columns']>;
}

/**
 * Reads a suite, its environment and agents, and holds cases and scripts against the environment. Needs no service unless `tablesOf` does.
 *
 * @throws {SuiteFileError} that lists every problem of every file, the pack's own among them; what a pack says of itself is passed on where it is alone.
 */
export async function readSuite(request: SuiteRequest, sources: SuiteSources): Promise<ReadSuite> {
  const { suite: nameOrPath, environmentOptions } = request;
  const { suite, problems: found } = await readSuiteFiles(nameOrPath, { environmentOptions: withPathsFrom(process.cwd(), environmentOptions) });
  if (suite === null) throw new SuiteFileError(found);
  const problems = [...found];
  const agents = await agentsOf(suite, request.agents, problems);
  const environment = await environmentOf(suite, sources, problems, agents);
  if (environment === null || problems.length > 0) throw new SuiteFileError(problems);
  return { suite, environment, agents };
}

async function agentsOf(suite: Suite, asked: SuiteRequest['agents'], problems: FileProblem[]): Promise<readonly LoadedAgent[]> {
  const names = asked === 'defaults' ? suite.defaults.agents : asked === 'every' ? [...Object.keys(suite.agents), ...suite.defaults.agents] : asked;
  const agents: LoadedAgent[] = [];
  // An agent that is named twice is one agent.
  for (const name of new Set(names)) {
    try {
      agents.push(await loadAgent(name, suite));
    } catch (error) {
      if (!(error instanceof SuiteFileError)) throw error;
      problems.push(...error.problems);
    }
  }
  return [...new Map(agents.map((agent) => [agent.hash, agent])).values()];
}

/** Null where the environment cannot be loaded; then that is among the problems. @throws what the pack says of itself, where nothing else is wrong. */
async function environmentOf(
  suite: Suite,
  { loadEnvironment, tablesOf }: SuiteSources,
  problems: FileProblem[],
  agents: readonly LoadedAgent[],
): Promise<LoadedEnvironment | null> {
  // That it is not there is told already, with the line of the suite that names it.
  if (!existsSync(suite.environment.file)) return null;
  let loaded: LoadedEnvironment | null = null;
  let tables: World['columns'] | null = null;
  let failure: unknown = null;
  try {
    loaded = await loadEnvironment(suite.environment);
    await blueprintOf(loaded);
    tables = (await tablesOf?.(loaded)) ?? null;
  } catch (error) {
    failure = error;
  }
  // A pack of which only a file is missing, or wrong, is known well enough for what does not depend on it.
  const environment = loaded?.environment ?? (failure instanceof EnvironmentLoadError ? failure.environment : null);
  if (environment !== null) {
    const facts = { environment, ...(tables === null ? {} : { tables }) };
    problems.push(...checkAgainst(suite, facts), ...checkSchedules(suite, facts));
    problems.push(...agents.flatMap((agent) => checkAgentAgainst(agent, { environment })));
  }
  if (failure === null) return loaded;
  if (problems.length === 0) throw failure;
  problems.push(...packProblems(suite.environment.file, failure));
  return null;
}

/** What a pack says of itself, as problems of its file. @throws what is of another kind. */
function packProblems(file: string, failure: unknown): readonly FileProblem[] {
  const problem = (message: string): FileProblem => ({ file, line: null, column: null, message, suggestion: null });
  if (failure instanceof EnvironmentLoadError) return failure.problems.map(problem);
  if (OF_THE_PACK.some((kind) => failure instanceof kind)) return [problem((failure as Error).message)];
  throw failure;
}

const OF_THE_PACK = [EnvironmentDefinitionError, WorldBuildError, ToolServerError, ToolSchemaError];
