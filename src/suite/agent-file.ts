import { basename, dirname, resolve } from 'node:path';
import type { AgentSpec, ServiceAccess } from '../domain/agent.ts';
import type { ModelRoute } from '../domain/model.ts';
import { agentHash } from './agent-hash.ts';
import { checkSolution } from './check-solution.ts';
import { contentHash } from './identity.ts';
import { check, problemAt } from './issues.ts';
import { isExecutable } from '../processes/find-program.ts';
import { nearestName } from '../domain/text/nearest.ts';
import { codeFile, isFile, kindOf } from './places.ts';
import { routeOf } from './route-file.ts';
import { type LoadedAgent, type Suite, SuiteFileError } from './suite.ts';
import { type AgentFile, agentSchema } from './suite-schema.ts';
import { teamOf } from './team-file.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

/** Agents that every suite has. */
export const RESERVED_AGENTS = ['reference', 'do-nothing'] as const;

const BUILT_IN: { readonly [name in (typeof RESERVED_AGENTS)[number]]: AgentSpec } = {
  reference: { kind: 'reference', name: 'reference', version: '1' },
  'do-nothing': { kind: 'do-nothing', name: 'do-nothing', version: '1', answer: '' },
};

/** Of an agent of kind `http`. */
const CONNECT_MS = 10_000;
const POLL_MS = 1_000;

const SOURCES = new WeakMap<AgentSpec, YamlFile>();

/** The file that an agent, or a member of a team, was read from, with the places of its parts. */
export function sourceOfAgent({ spec }: Pick<LoadedAgent, 'spec'>): YamlFile | null {
  return SOURCES.get(spec) ?? null;
}

export function isReservedAgent(name: string): name is (typeof RESERVED_AGENTS)[number] {
  return RESERVED_AGENTS.some((reserved) => reserved === name);
}

/**
 * Loads an agent: `reference`, `do-nothing`, one of the suite's agents by name, or the path of an agent file from the working folder.
 * Its hash is of its content alone: equal files in another folder give an equal hash.
 *
 * @throws {SuiteFileError}
 */
export async function loadAgent(nameOrPath: string, suite: Pick<Suite, 'agents' | 'file'>): Promise<LoadedAgent> {
  if (isReservedAgent(nameOrPath)) return withHash(BUILT_IN[nameOrPath]);
  const own = Object.hasOwn(suite.agents, nameOrPath) ? suite.agents[nameOrPath] : undefined;
  const file = own ?? resolve(nameOrPath);
  if (own === undefined && !(await isFile(file))) {
    const known = [...Object.keys(suite.agents), ...RESERVED_AGENTS];
    const message = `there is no agent "${nameOrPath}"; the suite ${suite.file} has ${known.join(', ')}, and an agent file is named by its path`;
    throw new SuiteFileError([{ file, line: null, column: null, message, suggestion: nearestName(nameOrPath, known) }]);
  }
  return readAgent(file);
}

async function readAgent(file: string): Promise<LoadedAgent> {
  const source = await readYaml(file);
  const agent = await agentOf(source);
  SOURCES.set(agent.spec, source);
  return agent;
}

async function agentOf(source: YamlFile): Promise<LoadedAgent> {
  const written = check(agentSchema, source);
  const name = written.name ?? basename(source.file, '.yaml');
  const version = written.version ?? '1';
  switch (written.kind) {
    case 'do-nothing':
      return withHash({ kind: 'do-nothing', name, version, answer: written.answer ?? '' });
    case 'script': {
      const problems = checkSolution(source, [], written);
      if (problems.length > 0) throw new SuiteFileError(problems);
      const { steps = [], answer, data } = written;
      return withHash({ kind: 'script', name, version, solution: { steps, answer, ...(data === undefined ? {} : { data }) } });
    }
    case 'module':
      return moduleAgent(source, written, name, version);
    case 'command':
      return commandAgent(source, written, name, version);
    case 'team': {
      const team = await teamOf(source, written, { name, version }, async (file) => (await readAgent(file)).spec);
      return withFiles(source, team, 'members', 'the folder of a member');
    }
    case 'model':
      return modelAgent(source, written, name, version);
    case 'http': {
      const { url, headers = {}, output = 'text', timeouts = {}, parameters = {} } = written;
      const { connect: connectMs = CONNECT_MS, answer: answerMs = null, poll: pollMs = POLL_MS } = timeouts;
      const spec = { kind: 'http' as const, name, version, url, headers, output, timeouts: { connectMs, answerMs, pollMs }, parameters };
      return withHash({ ...spec, ...accessOf(written), ...(await routesOf(written, source)) });
    }
  }
}

async function modelAgent(source: YamlFile, written: Extract<AgentFile, { kind: 'model' }>, name: string, version: string): Promise<LoadedAgent> {
  const { prompt = '', output = 'text', budget: { steps, tokens, money } = {} } = written;
  const route = await routeOf(written.route, source, ['route']);
  if (money !== undefined && route.prices?.currency !== money.currency) {
    const has = route.prices === null ? 'has no "prices"' : `has prices in ${route.prices.currency}`;
    throw new SuiteFileError([problemAt(source, ['budget', 'money'], `cannot be kept: the route ${route.name} ${has}`)]);
  }
  const budget = { ...(steps !== undefined && { steps }), ...(tokens !== undefined && { tokens }), ...(money !== undefined && { money }) };
  return withHash({ kind: 'model', name, version, route, prompt, output, budget });
}

async function moduleAgent(source: YamlFile, written: Extract<AgentFile, { kind: 'module' }>, name: string, version: string): Promise<LoadedAgent> {
  const file = await codeFile(resolve(dirname(source.file), written.file));
  if (file === null) throw new SuiteFileError([problemAt(source, ['file'], `there is no file ${written.file}, looked up from the folder of this file`)]);
  const spec = {
    kind: 'module' as const,
    name,
    version,
    file,
    parameters: written.parameters ?? {},
    env: written.env ?? [],
    ...accessOf(written),
    ...(await modelsOf(written, source)),
  };
  return withFiles(source, spec, 'file', `the folder of ${written.file}`);
}

async function commandAgent(source: YamlFile, written: Extract<AgentFile, { kind: 'command' }>, name: string, version: string): Promise<LoadedAgent> {
  const { program, args = [], folder: shown = '.', output = 'text', parameters = {}, env = [] } = written;
  const folder = resolve(dirname(source.file), shown);
  if ((await kindOf(folder)) !== 'folder')
    throw new SuiteFileError([problemAt(source, ['folder'], `there is no folder ${shown}, looked up from the folder of this file`)]);
  if (program.includes('/')) {
    const file = resolve(folder, program);
    const refuse = (message: string) => new SuiteFileError([problemAt(source, ['program'], message)]);
    if (!(await isFile(file))) throw refuse(`there is no file ${program}, looked up from ${shown === '.' ? 'the folder of this file' : shown}`);
    if (!(await isExecutable(file))) throw refuse(`${program} cannot be executed; chmod +x it, or name the program that runs it and give the file in args`);
  }
  const spec = {
    kind: 'command' as const,
    name,
    version,
    folder,
    program,
    args,
    output,
    parameters,
    env,
    ...accessOf(written),
    ...(await modelsOf(written, source)),
  };
  return withFiles(source, spec, written.folder === undefined ? 'program' : 'folder', written.folder === undefined ? 'the folder of this file' : shown);
}

/** Absent where there is none, so that equal agents are equal however it is written. */
function accessOf({ access }: { readonly access?: readonly ServiceAccess[] | undefined }): { readonly access?: readonly ServiceAccess[] } {
  return access === undefined ? {} : { access };
}

/** How the process of an agent asks models; absent where it does not. */
async function modelsOf(written: Pick<Extract<AgentFile, { kind: 'command' }>, 'route' | 'provider_variables'>, source: YamlFile) {
  return { ...(await routesOf(written, source)), ...(written.provider_variables === true && { providerVariables: true as const }) };
}

/** Routes of an agent that asks models through the gateway; absent where there are none. */
async function routesOf(
  { route }: Pick<Extract<AgentFile, { kind: 'http' }>, 'route'>,
  source: YamlFile,
): Promise<{ readonly routes?: readonly ModelRoute[] }> {
  if (route === undefined) return {};
  const at = (index: number) => (Array.isArray(source.data['route']) ? ['route', index] : ['route']);
  const routes = await Promise.all(route.map((written, index) => routeOf(written, source, at(index))));
  const twice = routes.findIndex(({ name }, index) => routes.findIndex((other) => other.name === name) < index);
  if (twice >= 0) throw new SuiteFileError([problemAt(source, at(twice), `there are two routes of the name ${routes[twice]?.name ?? ''}`)]);
  return { routes };
}

async function withFiles(source: YamlFile, spec: AgentSpec, key: string, folder: string): Promise<LoadedAgent> {
  const hash = await agentHash(spec);
  if (hash === null)
    throw new SuiteFileError([problemAt(source, [key], `${folder} holds too much to be part of an agent; put the agent into a folder of its own`)]);
  return { spec, hash };
}

function withHash(spec: AgentSpec): LoadedAgent {
  return { spec, hash: contentHash(spec) };
}
