import { ApplicationFailure } from '@temporalio/common';
import type { Json, JsonObject } from '../domain/json.ts';
import { type Tool, ToolFailure } from '../environments/define.ts';
import { SERVER_CALL_MS } from '../environments/tool-server.ts';
import { ToolServerError, ToolServerLostError } from '../tool-server/errors.ts';
import { resultIn } from '../tool-server/result.ts';
import { FAILURE } from './contract.ts';
import type { OperateRequest } from './operate.ts';
import type { ActivityServices } from './services.ts';
import { traceHeaders } from './trace-headers.ts';

/**
 * Has the world's tool server carry out a call. @throws {ToolFailure} when it answers with an error: what it did nevertheless, its effects say.
 * @throws {ToolServerLostError} when its outcome is open.
 */
export async function callServer(services: ActivityServices, request: OperateRequest, tool: Tool, args: JsonObject): Promise<Json> {
  const { world, environment, operation, dispatch, permission, signal } = request;
  const call = {
    operation: { id: operation, attempt: dispatch },
    tool: tool.name,
    args,
    timeoutMs: tool.timeoutMs ?? SERVER_CALL_MS,
    meta: { 'trialbed/operation': operation, 'trialbed/user': permission.user, 'trialbed/role': permission.role, ...traceHeaders() },
    signal,
  };
  const result = await services.toolServers.call(world, environment, call).catch((error: unknown) => {
    // Started again after it was lost, and no better: the call never came to it.
    throw error instanceof ToolServerError ? new ToolServerLostError(tool.name, error.message) : error;
  });
  const { value, failure } = resultIn(result);
  if (failure === null) return value;
  const known = failure.code !== null && tool.failures?.includes(failure.code) ? failure.code : 'tool_error';
  throw new ToolFailure(known, failure.message);
}

/** Reads of a server are its own: they cannot be answered as of an earlier moment. */
export function staleNotApplicable(tool: Tool): ApplicationFailure {
  const message = `a rule of the fault schedule cannot be applied: ${tool.name} is of a tool server, whose reads cannot be made stale`;
  return ApplicationFailure.nonRetryable(message, FAILURE.faultNotApplicable);
}
