import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { nearestName } from '../domain/text/nearest.ts';
import type { Tool } from './define.ts';
import { type ServerTool, SERVER_CALL_MS, type ToolServer } from './tool-server.ts';

/** A tool as its server tells of it, as far as an agent or a result depends on it. */
export interface PinnedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
}

const schema = z.record(z.string(), z.json()).refine((value) => value['type'] === 'object', 'expected the JSON Schema of an object');

/** What a server says of its tools. Titles, icons, hints and the like are left out. */
const listed = z.object({
  tools: z
    .array(z.object({ name: z.string().min(1), description: z.string().default(''), inputSchema: schema, outputSchema: schema.optional() }))
    .min(1, 'expected at least one tool'),
});

/** Reads an answer to `tools/list`, as a server or the pinned file has it. @returns a text where it is none. */
export function toolsIn(value: unknown): readonly PinnedTool[] | string {
  const parsed = listed.safeParse(value);
  if (parsed.success) return parsed.data.tools.map((tool) => JSON.parse(JSON.stringify(tool)) as PinnedTool);
  const [issue] = parsed.error.issues;
  return `${issue?.path.map(String).join('.') || 'it'}: ${issue?.message ?? 'unknown'}`;
}

/** Content of the pinned file: tools and their members sorted, so that a change of the server's schemas shows as one, and nothing else does. */
export function pinnedText(tools: readonly PinnedTool[]): string {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  return `${JSON.stringify(JSON.parse(canonicalize({ tools: sorted }) ?? ''), null, 2)}\n`;
}

/** How what the server says differs from what is pinned, a line for each difference. Empty when it does not. */
export function driftOf(pinned: readonly PinnedTool[], said: readonly PinnedTool[]): readonly string[] {
  const names = said.map(({ name }) => name);
  const now = new Map(said.map((tool) => [tool.name, tool]));
  const before = new Set(pinned.map(({ name }) => name));
  return [
    ...pinned.flatMap((tool) => {
      const other = now.get(tool.name);
      if (other === undefined) return [`${tool.name} is pinned, and the server has no such tool${meant(tool.name, names)}`];
      return (['description', 'inputSchema', 'outputSchema'] as const)
        .filter((part) => canonical(tool[part]) !== canonical(other[part]))
        .map((part) => `the ${WORDS[part]} of ${tool.name} is another than the pinned one${where(tool[part], other[part])}`);
    }),
    ...names.filter((name) => !before.has(name)).map((name) => `the server has ${name}, which is not pinned`),
  ];
}

const WORDS = { description: 'description', inputSchema: 'schema of the arguments', outputSchema: 'schema of the result' } as const;

/** The first member in which two schemas differ. */
function where(a: unknown, b: unknown, path = ''): string {
  if (isRecord(a) && isRecord(b)) {
    const key = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort().find((name) => canonical(a[name]) !== canonical(b[name]));
    if (key !== undefined) return where(a[key], b[key], path === '' ? key : `${path}.${key}`);
  }
  return path === '' ? '' : ` (at ${path})`;
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function canonical(value: unknown): string {
  return value === undefined ? '' : (canonicalize(value) ?? '');
}

/**
 * The tools that a server brings: what is pinned of each, with what the environment declares beside it. The second list says what of both does not fit: a tool that is
 * pinned and not declared, or declared and not pinned.
 */
export function serverTools(
  { tools: declared }: ToolServer,
  pinned: readonly PinnedTool[],
): { readonly tools: readonly Tool[]; readonly problems: readonly string[] } {
  const names = pinned.map(({ name }) => name);
  const problems = [
    ...names
      .filter((name) => !Object.hasOwn(declared, name))
      .map(
        (name) =>
          `the tool server has ${name}, which toolServer.tools does not declare${meant(name, Object.keys(declared))}; declare its effect, or leave it out with 'left_out'`,
      ),
    ...Object.keys(declared)
      .filter((name) => !names.includes(name))
      .map((name) => `toolServer.tools declares ${name}, which the pinned file does not have${meant(name, names)}`),
  ];
  const tools = pinned.flatMap((tool) => {
    const options = Object.hasOwn(declared, tool.name) ? declared[tool.name] : undefined;
    return options === undefined || options === 'left_out' ? [] : [toolOf(tool, options)];
  });
  return { tools, problems };
}

/** Whether a tool of a server has the idempotency key among its own arguments. */
export function takesKey({ properties }: JsonObject): boolean {
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, 'idempotency_key');
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === null ? '' : ` (did you mean "${near}"?)`;
}

function toolOf({ name, description, inputSchema }: PinnedTool, options: ServerTool): Tool {
  const { preview } = options;
  return {
    name,
    description,
    // The key may come beside the arguments.
    input: inputOf(options.idempotent ? withoutKey(inputSchema) : inputSchema),
    result: z.unknown(),
    effect: options.effect,
    failures: options.failures ?? [],
    idempotent: options.idempotent ?? false,
    ...(options.ends && { ends: true }),
    ...(options.approval && { approval: options.approval }),
    ...(preview && { preview: (args: unknown) => preview(args as JsonObject) }),
    timeoutMs: options.timeoutMs ?? SERVER_CALL_MS,
    served: inputSchema,
    run: () => Promise.reject(new Error('a tool of a tool server is carried out by the server')),
  };
}

function withoutKey(inputSchema: JsonObject): JsonObject {
  const { required } = inputSchema;
  return Array.isArray(required) ? { ...inputSchema, required: required.filter((name) => name !== 'idempotency_key') } : inputSchema;
}

/** What the door checks before the server does. A schema that cannot be had in this form is left to the server. */
function inputOf(inputSchema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.record(z.string(), z.json());
  }
}
