import type { z } from 'zod';
import type { PermissionContext } from '../domain/case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { OperationProblem } from '../domain/operation.ts';
import { isObject, printable } from '../domain/text/bounded.ts';
import type { Environment, Tool } from '../environments/define.ts';
import { takesKey } from '../environments/pinned-tools.ts';
import type { LoadedEnvironment, Proposal, ToolSchema } from '../environments/world.ts';
import { approvalNeed } from './approval-need.ts';
import { contentHash } from '../suite/identity.ts';
import type { CallRef } from './contract.ts';

/** Arguments larger than this are refused before they reach the ledger; in bytes of JSON. */
const MAX_ARGUMENT_BYTES = 1024 * 1024;
const MAX_KEY_LENGTH = 255;
const MAX_NAME_LENGTH = 200;
/** In JSON as it is written: half of a pair, which has no UTF-8 and no canonical form. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;
/** Longest text of a problem, in UTF-16 units: it travels through the workflow's history, and an agent's own words may be in it. */
export const MAX_PROBLEM_LENGTH = 2_000;

/** A member of a team, as whom a call is made. */
export interface Actor {
  readonly name: string;
  /** Its own context: a call is permitted where the case permits it and this does as well. */
  readonly permission: PermissionContext;
  /** Why it may call nothing any more; null: it may. */
  readonly standing: () => OperationProblem | null;
  /** A valid hand-over is about to be sent: why it may not be; null: it is, and the member's part ends with it. */
  readonly handsOver: (to: string) => OperationProblem | null;
}

/** A call as it came. */
export interface Call {
  readonly id: string;
  /** Absent where the agent is no team. */
  readonly actor?: Actor;
  readonly tool: string;
  readonly args: unknown;
  readonly idempotencyKey: string | null;
}

/**
 * Checks a call at the edge where it enters: known tool, valid arguments, permission. A call that fails is written to the ledger as it came and
 * never dispatched. Nothing is repaired: an argument that is not an object is refused, not replaced.
 */
export function checkCall(environment: Environment, permission: PermissionContext, call: Call): Proposal {
  const name = printable(call.tool, MAX_NAME_LENGTH);
  const tool = environment.tools.find((candidate) => candidate.name === call.tool);
  const { args, key } = takeKey(tool, toJson(call.args), call.idempotencyKey);
  // A refused call takes no key.
  const text = JSON.stringify(args);
  const fits = Buffer.byteLength(text) <= MAX_ARGUMENT_BYTES;
  const { actor } = call;
  const proposal = { id: call.id, tool: name, ...(actor && { actor: actor.name }), args: fits ? args : null, idempotencyKey: null };
  const rejected = (code: string, message: string): Proposal => ({
    ...proposal,
    refusal: { state: 'rejected', problem: { code, message: printable(message, MAX_PROBLEM_LENGTH) } },
  });

  const over = actor?.standing() ?? null;
  if (over) return { ...proposal, refusal: { state: 'denied', problem: over } };
  if (!tool) return rejected('unknown_tool', `There is no tool "${name}".`);
  if (!fits) return rejected('payload_too_large', `The arguments exceed ${MAX_ARGUMENT_BYTES} bytes.`);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return rejected('invalid_args', 'The arguments must be a JSON object.');
  if (LONE_SURROGATE.test(text)) return rejected('invalid_args', 'The arguments hold text that is not well-formed Unicode.');
  if (key !== null && !tool.idempotent) return rejected('invalid_args', `Tool ${tool.name} takes no idempotency key.`);
  if (key !== null && !isKey(key)) return rejected('invalid_args', `idempotency_key: expected a well-formed text of 1 to ${MAX_KEY_LENGTH} characters`);
  const parsed = accepted(tool).safeParse(withKey(tool, args, key));
  if (!parsed.success) return rejected('invalid_args', describeIssues(parsed.error));
  const reason =
    refusalOf(environment, permission, tool, args as JsonObject) ?? (actor ? refusalOf(environment, actor.permission, tool, args as JsonObject) : null);
  if (reason) return { ...proposal, refusal: { state: 'denied', problem: reason } };
  if (actor && tool.builtin === 'hand_over') {
    const refused = actor.handsOver(String((args as JsonObject)['to']));
    if (refused) return { ...proposal, refusal: { state: 'denied', problem: refused } };
  }
  const approval = approvalNeed(environment, permission, tool, args) ?? (actor ? approvalNeed(environment, actor.permission, tool, args) : null);
  return { ...proposal, idempotencyKey: key, refusal: null, ...(approval && { approval }), ...(tool.effect === 'read' && { reads: true }) };
}

/** What the workflow needs to know of a proposal. */
export function callRefOf(proposal: Proposal): CallRef {
  const { id, tool, refusal, args, idempotencyKey, approval } = proposal;
  const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, argsHash: contentHash(args) };
  return { id, tool, refusal, idempotency, ...(approval && { approval }) };
}

/** A tool that takes a key finds it among the arguments or beside them; it is no argument of the tool itself. */
function takeKey(tool: Tool | undefined, args: Json, beside: string | null): { readonly args: Json; readonly key: Json } {
  if (!tool?.idempotent || typeof args !== 'object' || args === null || Array.isArray(args) || !Object.hasOwn(args, 'idempotency_key'))
    return { args, key: beside };
  const { idempotency_key: key = null, ...rest } = args as JsonObject;
  return { args: rest, key: key ?? beside };
}

function isKey(key: Json): key is string {
  return typeof key === 'string' && key.length >= 1 && key.length <= MAX_KEY_LENGTH && key.isWellFormed() && !key.includes('\0');
}

function refusalOf(environment: Environment, permission: PermissionContext, tool: Tool, args: JsonObject): OperationProblem | null {
  if (tool.builtin) return null;
  const reason = standingRefusal(environment, permission, tool.name) ?? environment.permissions?.check?.({ tool: tool.name, args, permission }) ?? null;
  return reason === null ? null : { code: 'not_permitted', message: printable(reason, MAX_PROBLEM_LENGTH) };
}

/** Tools that a case permits, whatever their arguments. */
export function permittedTools(
  { environment, toolSchemas }: Pick<LoadedEnvironment, 'environment' | 'toolSchemas'>,
  permission: PermissionContext,
): readonly ToolSchema[] {
  return toolSchemas.filter(({ name }) => {
    const tool = environment.tools.find((candidate) => candidate.name === name);
    return tool?.builtin !== undefined || standingRefusal(environment, permission, name) === null;
  });
}

/** Why a tool is not permitted, whatever its arguments. */
export function standingRefusal(environment: Environment, permission: PermissionContext, tool: string): string | null {
  const role = environment.permissions?.roles[permission.role];
  if (environment.permissions && !role) return `The role "${permission.role}" has no permissions.`;
  if (role && role.tools !== '*' && !role.tools.includes(tool)) return `The role "${permission.role}" may not call ${tool}.`;
  if (permission.tools.length > 0 && !permission.tools.includes(tool)) return `You may not call ${tool} here.`;
  return null;
}

/** What the door lets through: for a server's tool, what the server says. */
export function accepted({ input, served }: Tool): z.ZodType {
  return served ? input : strict(input);
}

/** The arguments as they go to a server's tool that has the key among its own. */
export function withKey({ served }: Tool, args: Json, key: Json): Json {
  return served && key !== null && takesKey(served) && isObject(args) ? { ...args, idempotency_key: key } : args;
}

/** By the pack's schema. One made anew would be compiled anew, at each call. */
const stricts = new WeakMap<z.ZodType, z.ZodType>();

/** Objects are strict at the door, whatever the pack's schema says of unknown keys. */
function strict(schema: z.ZodType): z.ZodType {
  const known = stricts.get(schema);
  if (known) return known;
  const object = schema as { strict?: () => z.ZodType };
  const made = typeof object.strict === 'function' ? object.strict() : schema;
  stricts.set(schema, made);
  return made;
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.map(String).join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}

/** JSON as it would travel: what JSON cannot hold (undefined, functions, cycles) becomes null, so that it is refused, not run. */
function toJson(value: unknown): Json {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? null : (JSON.parse(text) as Json);
  } catch {
    return null;
  }
}
