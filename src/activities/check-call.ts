import type { z } from 'zod';
import type { PermissionContext } from '../domain/case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { OperationProblem } from '../domain/operation.ts';
import type { Environment, Tool } from '../environments/define.ts';
import type { Proposal } from '../environments/world.ts';

/** Arguments larger than this are refused before they reach the ledger; in bytes of JSON. */
const MAX_ARGUMENT_BYTES = 1024 * 1024;

/**
 * Checks a call at the edge where it enters: known tool, valid arguments, permission. A call that fails is written to the ledger as it came and
 * never dispatched. Nothing is repaired: an argument that is not an object is refused, not replaced.
 */
export function checkCall(
  environment: Environment,
  permission: PermissionContext,
  call: { readonly id: string; readonly tool: string; readonly args: unknown; readonly idempotencyKey: string | null },
): Proposal {
  const args = toJson(call.args);
  const proposal = { id: call.id, tool: call.tool.slice(0, 200), args, idempotencyKey: call.idempotencyKey };
  const rejected = (code: string, message: string): Proposal => ({ ...proposal, refusal: { state: 'rejected', problem: { code, message } } });

  const tool = environment.tools.find((candidate) => candidate.name === call.tool);
  if (!tool) return rejected('unknown_tool', `There is no tool "${call.tool.slice(0, 200)}".`);
  if (Buffer.byteLength(JSON.stringify(args)) > MAX_ARGUMENT_BYTES) {
    return {
      ...proposal,
      args: null,
      refusal: { state: 'rejected', problem: { code: 'payload_too_large', message: `The arguments exceed ${MAX_ARGUMENT_BYTES} bytes.` } },
    };
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return rejected('invalid_args', 'The arguments must be a JSON object.');
  if (call.idempotencyKey !== null && !tool.idempotent) return rejected('invalid_args', `Tool ${tool.name} takes no idempotency key.`);
  const parsed = strict(tool.input).safeParse(args);
  if (!parsed.success) return rejected('invalid_args', describeIssues(parsed.error));
  const reason = refusalOf(environment, permission, tool, args as JsonObject);
  if (reason) return { ...proposal, refusal: { state: 'denied', problem: reason } };
  return { ...proposal, refusal: null };
}

function refusalOf(environment: Environment, permission: PermissionContext, tool: Tool, args: JsonObject): OperationProblem | null {
  const denied = (message: string): OperationProblem => ({ code: 'not_permitted', message });
  const role = environment.permissions?.roles[permission.role];
  if (environment.permissions && !role) return denied(`The role "${permission.role}" has no permissions.`);
  if (role && role.tools !== '*' && !role.tools.includes(tool.name)) return denied(`The role "${permission.role}" may not call ${tool.name}.`);
  if (permission.tools.length > 0 && !permission.tools.includes(tool.name)) return denied(`You may not call ${tool.name} here.`);
  const reason = environment.permissions?.check?.({ tool: tool.name, args, permission }) ?? null;
  return reason === null ? null : denied(reason);
}

/** Objects are strict at the door, whatever the pack's schema says of unknown keys. */
export function strict(schema: z.ZodType): z.ZodType {
  const object = schema as { strict?: () => z.ZodType };
  return typeof object.strict === 'function' ? object.strict() : schema;
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
