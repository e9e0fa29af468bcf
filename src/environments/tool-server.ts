import type { JsonObject } from '../domain/json.ts';
import type { ToolEffect } from '../domain/operation.ts';
import { nearestName } from '../domain/text/nearest.ts';
import type { FileSource, PreviewQuery, Tool } from './define.ts';

/**
 * An MCP server that brings the environment's tools: production's own code, run against each world. One is started for each world, over stdio, with what
 * `environment` names in its environment. It serves one call at a time, so that what it writes belongs to an operation.
 */
export interface ToolServer {
  /** A name that is looked up in PATH, or a path with a `/` in it, from the folder. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Folder in which it runs; all files in it are part of the generation. */
  readonly folder: FileSource;
  /** Variables of its environment that tell it of its world: the world's value that each holds, or a text. */
  readonly environment?: { readonly [variable: string]: WorldValue | { readonly text: string } };
  /** Names of variables of our environment that it may see, beside PATH. It sees no others. */
  readonly env?: readonly string[];
  /** File with its answer to `tools/list`, which `trialbed pin` writes. What the server says must be what this file says. */
  readonly pinned: FileSource;
  /** What its schemas do not say, for each tool that it has. A tool that is `left_out` is offered to nobody. */
  readonly tools: { readonly [name: string]: ServerTool | 'left_out' };
  /** Time until it has told its tools, seconds. Default 30. */
  readonly startSeconds?: number;
}

/** What is declared beside a tool of a server. */
export interface ServerTool {
  readonly effect: ToolEffect;
  /** The door takes an `idempotency_key` for it. One that the tool has itself among its arguments is passed on. Default false. */
  readonly idempotent?: boolean;
  /** Codes of its own errors (`code` of the structured content of a result with `isError`); any other is told as `tool_error`. */
  readonly failures?: readonly string[];
  /** As of other tools. Default false. */
  readonly ends?: boolean;
  /** As of other tools. */
  readonly approval?: Tool['approval'];
  /** As of other tools: rows that an approver is shown. They are looked at just before the server is asked. */
  readonly preview?: (args: JsonObject) => readonly PreviewQuery[];
  /** Time for one call, milliseconds; a server that has not answered then is ended. Default 60,000. */
  readonly timeoutMs?: number;
}

/** Facts of a world that a tool server can be told of. */
export const WORLD_VALUES = [
  'database.url',
  'database.host',
  'database.port',
  'database.name',
  'database.user',
  'database.password',
  'smtp.url',
  'smtp.host',
  'smtp.port',
  'smtp.user',
  'smtp.password',
  'tickets.url',
  'tickets.token',
  'clock.now',
  'clock.timezone',
] as const;

export type WorldValue = (typeof WORLD_VALUES)[number];

/** Time for one call of a tool that declares none. */
export const SERVER_CALL_MS = 60_000;

/** What is wrong with a server's declaration in itself; null: nothing. Packs run with their types stripped. */
export function serverProblem(
  { command, environment = {}, env = [], tools }: ToolServer,
  services: { readonly inbox?: unknown; readonly tickets?: unknown } = {},
): string | null {
  if (typeof command !== 'string' || command === '') return 'toolServer.command is missing; expected the name or path of a program';
  for (const [variable, value] of Object.entries(environment)) {
    const at = `toolServer.environment.${variable}`;
    if (!VARIABLE.test(variable)) return `${at}: expected the name of an environment variable`;
    if (typeof value === 'object') continue;
    if (!WORLD_VALUES.includes(value))
      return `${at} is ${JSON.stringify(value)}${meant(String(value), WORLD_VALUES)}; expected {text}, or one of ${WORLD_VALUES.join(', ')}`;
    const [part] = value.split('.');
    if (part === 'smtp' && services.inbox === undefined) return `${at} is ${value}, and the environment has no inbox`;
    if (part === 'tickets' && services.tickets === undefined) return `${at} is ${value}, and the environment has no ticket service`;
  }
  const unnamed = env.find((name) => !VARIABLE.test(name));
  if (unnamed !== undefined) return `toolServer.env: ${JSON.stringify(unnamed)} is no name of an environment variable`;
  for (const [name, tool] of Object.entries(tools)) {
    if (tool === 'left_out') continue;
    const effect: unknown = tool?.effect;
    if (!EFFECTS.some((known) => known === effect)) {
      return `toolServer.tools.${name}: effect is ${JSON.stringify(effect)}${meant(String(effect), EFFECTS)}; expected one of ${EFFECTS.join(', ')}`;
    }
    if (effect === 'read' && (tool.approval || tool.preview)) {
      return `toolServer.tools.${name} reads; expected "approval" and "preview" with tools that have an effect only`;
    }
  }
  return null;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const EFFECTS: readonly ToolEffect[] = ['read', 'write', 'external'];

function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === null ? '' : ` (did you mean "${near}"?)`;
}
