import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import canonicalize from 'canonicalize';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Environment, FileSource } from './define.ts';
import type { ToolServer } from './tool-server.ts';
import type { ToolSchema } from './world.ts';
import { LAYOUT_VERSION } from './worlds/layout.ts';

/** Not part of a pack: what tests it, what it was installed with, what a compiler leaves beside code. */
const LEFT_OUT = /^(\.|suite$|node_modules$)|\.(map|d\.ts)$/;
const CODE = /\.(ts|js|mts|mjs|cts|cjs|json)$/;

/**
 * sha256 over everything of an environment that can change a result: name, version, tools as an agent is told of them, policy, the definition's own values, the
 * suite's options, and the content of the pack's files (its `sources`, by default its folder), of schema and seed, and of files or folders that an option names
 * by absolute path. Files count by content and by their path in the pack, so it is equal on every machine; code that was compiled is other code than its source,
 * so a checkout and an installed package differ.
 */
export async function generationOf(pack: {
  readonly file: string;
  readonly options: JsonObject;
  readonly environment: Environment;
  readonly toolSchemas: readonly ToolSchema[];
  readonly policy: string | null;
}): Promise<string> {
  const { environment } = pack;
  const folder = dirname(pack.file);
  const sources = environment.sources ?? [folder];
  const named: FileSource[] = [...environment.schema, ...environment.seed.map((seed) => ('sql' in seed ? seed.sql : 'csv' in seed ? seed.csv : seed.json))];
  const facts = {
    layout: LAYOUT_VERSION,
    name: environment.name,
    version: environment.version,
    ...(environment.binding && { binding: environment.binding }),
    policy: pack.policy,
    tools: pack.toolSchemas.map((schema, index) => {
      const tool = environment.tools[index];
      return {
        ...schema,
        failures: tool?.failures ?? [],
        idempotent: tool?.idempotent ?? false,
        ...(tool?.ends ? { ends: true } : {}),
        ...(tool?.approval ? { approval: tool.approval } : {}),
        typicalMs: tool?.typicalMs ?? null,
        timeoutMs: tool?.timeoutMs ?? null,
      };
    }),
    tables: environment.tables ?? {},
    services: environment.services ?? {},
    roles: environment.permissions?.roles ?? {},
    ...(environment.permissions?.approval ? { approval: environment.permissions.approval } : {}),
    seed: environment.seed.map((seed) =>
      'sql' in seed
        ? {}
        : 'csv' in seed
          ? { table: seed.table, columns: seed.columns, header: seed.header, nulls: seed.nulls }
          : { table: seed.table, key: seed.key },
    ),
    ...(environment.toolServer && { toolServer: await serverFacts(folder, environment.toolServer) }),
    options: await optionsDigest(pack.options),
    files: await Promise.all(named.map(async (source) => [nameIn(folder, pathOf(source)), await contentDigest(pathOf(source), () => true)])),
    sources: await Promise.all(sources.map(async (source) => [nameIn(folder, pathOf(source)), await contentDigest(pathOf(source), () => true)])),
  };
  return sha256(canonical(facts));
}

/** What of a tool server can change a result. Its schemas count as pinned. */
async function serverFacts(pack: string, { command, args = [], folder, environment = {}, env = [], pinned }: ToolServer): Promise<Json> {
  const facts = {
    command,
    args,
    environment,
    env,
    folder: [nameIn(pack, pathOf(folder)), await contentDigest(pathOf(folder), () => true)],
    // Not there yet while it is about to be written.
    pinned: existsSync(pathOf(pinned)) ? await contentDigest(pathOf(pinned), () => true) : null,
  };
  return JSON.parse(JSON.stringify(facts)) as Json;
}

/** Digest of the code in a pack's folder: what a running process cannot read a second time. */
export async function codeDigest(file: string): Promise<string> {
  return contentDigest(dirname(file), (name) => CODE.test(name));
}

/** An option that names a file or folder by absolute path counts by its content: where it lies is a matter of the machine. */
async function optionsDigest(value: Json): Promise<Json> {
  if (typeof value === 'string') return isAbsolute(value) && existsSync(value) ? { content: await contentDigest(value, () => true) } : value;
  if (Array.isArray(value)) return Promise.all((value as readonly Json[]).map(optionsDigest));
  if (value === null || typeof value !== 'object') return value;
  const entries = await Promise.all(Object.entries(value).map(async ([name, inner]) => [name, await optionsDigest(inner)] as const));
  return Object.fromEntries(entries);
}

async function contentDigest(path: string, counts: (name: string) => boolean): Promise<string> {
  if (!(await stat(path)).isDirectory()) return sha256(await readFile(path));
  const files = (await filesIn(path, '')).filter(counts).sort();
  const lines = await Promise.all(files.map(async (name) => `${name} ${sha256(await readFile(join(path, name)))}`));
  return sha256(lines.join('\n'));
}

/** Paths below a folder, with `/` on every system. */
async function filesIn(folder: string, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    if (LEFT_OUT.test(entry.name)) continue;
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesIn(folder, name)));
    else if (entry.isFile()) found.push(name);
  }
  return found;
}

function nameIn(folder: string, path: string): string {
  const name = relative(folder, path);
  return name.startsWith('..') || isAbsolute(name) ? basename(path) : name.split(sep).join('/');
}

function pathOf(source: FileSource): string {
  return source instanceof URL ? fileURLToPath(source) : source;
}

function canonical(value: unknown): string {
  // Members that are not set do not count, as in JSON.
  return canonicalize(JSON.parse(JSON.stringify(value))) ?? '';
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
