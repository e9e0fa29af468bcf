import { type CallToolResult, createMcpHandler, type McpHttpHandler, ProtocolError, ProtocolErrorCode, Server, type Tool } from '@modelcontextprotocol/server';
import type { ToolSchema } from '../environments/world.ts';
import type { CallAnswer } from './answer.ts';
import { CALL_ID_FORM, isCallId } from './call-request.ts';
import type { TrialSession } from './session.ts';

/** Serves a session's tools as an MCP server over Streamable HTTP: the protocol of 2026-07-28, and clients of earlier revisions without sessions. */
export type McpEndpoint = (request: Request, session: TrialSession) => Promise<Response>;

/** `maxBodyBytes`: of one request. */
export function mcpEndpoint(maxBodyBytes: number, onError: (error: Error) => void): McpEndpoint {
  const handlers = new WeakMap<TrialSession, McpHttpHandler>();
  return (request, session) => {
    const handler = handlers.get(session) ?? createMcpHandler(() => serverOf(session), { maxRequestBodySize: maxBodyBytes, onerror: onError });
    handlers.set(session, handler);
    return handler.fetch(request);
  };
}

/** Key of a call's own name in the request's `_meta`. */
const CALL_ID = 'trialbed/call-id';

function serverOf(session: TrialSession): Server {
  const server = new Server({ name: 'trialbed', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: session.tools.map(toolOf) }));
  // A client that cancels or vanishes takes nothing back.
  server.setRequestHandler('tools/call', async ({ params }) => {
    const callId = params._meta?.[CALL_ID] ?? null;
    if (callId !== null && !isCallId(callId)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `_meta ${CALL_ID}: ${CALL_ID_FORM}`);
    return resultOf(await session.call({ tool: params.name, args: params.arguments ?? {}, idempotencyKey: null, callId }));
  });
  return server;
}

function toolOf({ name, description, inputSchema, effect }: ToolSchema): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema as Tool['inputSchema'],
    annotations: { readOnlyHint: effect === 'read', openWorldHint: effect === 'external' },
  };
}

/** What is not known to have happened is an error to a client that looks no further; the structured form says which. */
function resultOf(answer: CallAnswer): CallToolResult {
  const { operation, state, result, problem } = answer;
  const why = problem ? `: ${problem.code}: ${problem.message}` : '';
  const text = state === 'committed' ? JSON.stringify(result) : `${operation ? `${operation} ` : ''}${WORDS[state]}${why}`;
  return {
    content: [{ type: 'text', text }],
    structuredContent: { operation, state, result, problem },
    isError: state !== 'committed' && state !== 'awaiting_approval',
  };
}

const WORDS: { readonly [state in Exclude<CallAnswer['state'], 'committed'>]: string } = {
  failed: 'failed and had no effect',
  unknown: 'has an unknown outcome: it may have had its effect, or may yet have it',
  rejected: 'was rejected and had no effect',
  denied: 'was denied and had no effect',
  awaiting_approval: 'waits for an approval',
};
