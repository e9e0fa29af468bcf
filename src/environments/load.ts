import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { type Environment, EnvironmentDefinitionError, type FileSource, isEnvironment, type Tool } from './define.ts';
import { codeDigest, generationOf } from './generation.ts';
import { importProblem } from './import-problem.ts';
import { provideOwnModules } from './own-modules.ts';
import { missingFiles } from './pack-files.ts';
import { type PinnedTool, serverTools, takesKey, toolsIn } from './pinned-tools.ts';
import { shownPath } from './shown-path.ts';
import type { EnvironmentSource, LoadedEnvironment, ToolSchema } from './world.ts';

/** A pack cannot be loaded. Raised before any world is made. */
export class EnvironmentLoadError extends Error {
  override readonly name = 'EnvironmentLoadError';
  readonly code = 'environment_load';
  readonly file: string;
  /** Without the name of the environment. */
  readonly problems: readonly string[];
  /** What the pack defines, where only files that it names are missing. */
  readonly environment: Environment | null;

  constructor(file: string, problem: string | readonly string[], options: ErrorOptions & { readonly environment?: Environment } = {}) {
    const problems = typeof problem === 'string' ? [problem] : problem;
    super(`environment ${shownPath(file)}: ${problems.join('; ')}`, options);
    this.file = file;
    this.problems = problems;
    this.environment = options.environment ?? null;
  }
}

/**
 * Imports a pack and hashes everything of it that can change a result. The file's default export is an environment, or a function of the suite's options.
 * A `.ts` file that is not there is looked for as the `.js` beside it, as in an installed package.
 *
 * `pins`: `ignored` leaves out the tools of its tool server, whose pinned file is then about to be written.
 *
 * @throws {EnvironmentLoadError} when the file or one that it names is missing, fails while it is imported, exports something else, or its code has changed since this process
 * imported it. {@link EnvironmentDefinitionError} is passed on as it is.
 */
export async function loadEnvironment(source: EnvironmentSource, options: { readonly pins?: 'read' | 'ignored' } = {}): Promise<LoadedEnvironment> {
  provideOwnModules();
  const file = existingFile(source.file);
  await requireSameCode(file);
  const defined = await define(file, source.options);
  const missing = missingFiles(defined);
  if (missing.length > 0) throw new EnvironmentLoadError(file, missing, { environment: defined });
  const { environment, pinned } = options.pins === 'ignored' ? { environment: defined, pinned: [] } : withServerTools(file, defined);
  const toolSchemas = environment.tools.map((tool) => schemaOf(environment, tool));
  const policy = await policyText(file, environment.policy);
  const generation = await generationOf({ file, options: source.options, environment, toolSchemas, policy });
  return { environment, source, generation, policy, toolSchemas, pinned };
}

/**
 * The absolute path of a pack: of a built-in environment by its name, or of a file or folder (with `pack.ts`) by a path from `baseDir`.
 *
 * @throws {EnvironmentLoadError} when neither is there; names the built-in ones.
 */
export function resolveEnvironment(nameOrPath: string, baseDir: string): string {
  if (/^[a-z0-9][a-z0-9-]*$/.test(nameOrPath)) {
    const builtIn = existing(fileURLToPath(new URL(`./${nameOrPath}/pack.ts`, import.meta.url)));
    if (builtIn) return builtIn;
  }
  const path = isAbsolute(nameOrPath) ? nameOrPath : resolve(baseDir, nameOrPath);
  const found = existing(path) ?? existing(join(path, 'pack.ts'));
  if (found) return found;
  const names = BUILT_IN.filter((name) => existing(fileURLToPath(new URL(`./${name}/pack.ts`, import.meta.url))));
  throw new EnvironmentLoadError(
    nameOrPath,
    `there is no such built-in environment (there are: ${names.join(', ')}), and no file ${path} or ${join(path, 'pack.ts')}`,
  );
}

const BUILT_IN = ['support-desk', 'workbench', 'retail', 'live-desk'];

/** Digest of a pack's code at its first import here, by file. */
const imported = new Map<string, Promise<string>>();

/** A module is imported once in a process. Were its files edited afterwards, the generation would name code that is not what runs. */
async function requireSameCode(file: string): Promise<void> {
  const now = codeDigest(file);
  const first = imported.get(file) ?? now;
  imported.set(file, first);
  if ((await first) !== (await now)) throw new EnvironmentLoadError(file, 'its code has changed since this process imported it; start the process again');
}

/** A file of the pack that is read and not imported was written meanwhile, which makes no other code of it. */
export function acceptWritten(file: string): void {
  imported.set(file, codeDigest(file));
}

async function define(file: string, options: JsonObject): Promise<Environment> {
  let exported: unknown;
  try {
    exported = ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (error) {
    if (error instanceof EnvironmentDefinitionError) throw error;
    throw new EnvironmentLoadError(file, `cannot be imported: ${importProblem(error)}`, { cause: error });
  }
  if (isEnvironment(exported)) {
    const names = Object.keys(options);
    if (names.length > 0) throw new EnvironmentLoadError(file, `takes no options, and was given ${names.join(', ')}`);
    return exported;
  }
  if (typeof exported !== 'function')
    throw new EnvironmentLoadError(file, 'its default export is neither an environment (see defineEnvironment) nor a function that makes one');
  let made: unknown;
  try {
    made = await (exported as (options: JsonObject) => unknown)(options);
  } catch (error) {
    // The pack's own words; also when it stands on another copy of this package.
    if (error instanceof Error && error.name === 'EnvironmentDefinitionError') throw error;
    throw new EnvironmentLoadError(file, `does not accept its options ${JSON.stringify(options)}: ${refusalOf(error)}`, { cause: error });
  }
  if (!isEnvironment(made)) throw new EnvironmentLoadError(file, 'the function that it exports does not return an environment (see defineEnvironment)');
  return made;
}

/** The environment with the tools of its tool server, as they are pinned. */
function withServerTools(file: string, environment: Environment): { readonly environment: Environment; readonly pinned: readonly PinnedTool[] } {
  const { toolServer } = environment;
  if (toolServer === undefined) return { environment, pinned: [] };
  const path = pathOf(toolServer.pinned);
  if (!existsSync(path)) {
    const message = `toolServer.pinned names ${shownPath(path)}, which is not there; \`trialbed pin SUITE\` writes it`;
    throw new EnvironmentLoadError(file, message, { environment });
  }
  const pinned = toolsIn(jsonIn(path));
  if (typeof pinned === 'string') throw new EnvironmentLoadError(file, `${shownPath(path)} is no answer to tools/list: ${pinned}`, { environment });
  const { tools, problems } = serverTools(toolServer, pinned);
  const own = new Set(environment.tools.map(({ name }) => name));
  const twice = tools.filter(({ name }) => own.has(name)).map(({ name }) => `the tool server has ${name}, and so has the environment; leave one of them out`);
  const all = { ...environment, tools: [...environment.tools, ...tools] };
  if (problems.length + twice.length > 0) throw new EnvironmentLoadError(file, [...problems, ...twice], { environment: all });
  return { environment: Object.freeze(all), pinned };
}

function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

function pathOf(source: FileSource): string {
  return source instanceof URL ? fileURLToPath(source) : source;
}

/** A tool's arguments as JSON Schema. Objects take no unknown members, as the door checks them. */
function schemaOf(environment: Environment, tool: Tool): ToolSchema {
  if (tool.served) {
    const { name, description, effect, served } = tool;
    return { name, description, inputSchema: tool.idempotent && !takesKey(served) ? withKey(served) : served, effect };
  }
  try {
    const inputSchema = z.toJSONSchema(tool.input, {
      io: 'input',
      override: ({ zodSchema, jsonSchema }) => {
        const { def } = zodSchema._zod;
        if (def.type === 'object' && !('catchall' in def && def.catchall)) jsonSchema.additionalProperties = false;
      },
    });
    const plain = JSON.parse(JSON.stringify(inputSchema)) as JsonObject;
    return { name: tool.name, description: tool.description, inputSchema: tool.idempotent ? withKey(plain) : plain, effect: tool.effect };
  } catch (error) {
    throw new EnvironmentDefinitionError(environment.name, `the input of tool ${tool.name} cannot be written as JSON Schema: ${messageOf(error)}`);
  }
}

/** A tool that takes a key says so where an agent looks for its arguments; the door takes the key off before the tool sees them. */
function withKey(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return schema;
  const key = {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'The same key within a trial is one operation. A call without one is never taken for a repeat.',
  };
  return { ...schema, properties: { ...(properties as JsonObject), idempotency_key: key } };
}

async function policyText(file: string, policy: FileSource | { readonly text: string } | undefined): Promise<string | null> {
  if (policy === undefined) return null;
  if (typeof policy === 'object' && 'text' in policy) return policy.text;
  try {
    return await readFile(policy, 'utf8');
  } catch (error) {
    throw new EnvironmentLoadError(file, `its policy cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function existingFile(path: string): string {
  const found = existing(path);
  if (!found) throw new EnvironmentLoadError(path, 'there is no such file');
  return found;
}

function existing(path: string): string | null {
  if (isFile(path)) return path;
  const compiled = path.replace(/\.ts$/, '.js');
  return compiled !== path && isFile(compiled) ? compiled : null;
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What a pack's function says against its options; of what is a mistake in it, with the place. */
function refusalOf(error: unknown): string {
  return error instanceof TypeError || error instanceof ReferenceError ? importProblem(error) : messageOf(error);
}
