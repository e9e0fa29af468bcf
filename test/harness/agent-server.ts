import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json, JsonObject } from '../../src/domain/json.ts';

/** What an agent's server is sent for one turn. */
export interface Start {
  readonly turn: number;
  readonly text: string;
  readonly messages: readonly JsonObject[];
  readonly parameters: JsonObject;
  readonly services: JsonObject;
  readonly gateway: string;
  readonly mcp: string;
  readonly token: string;
  readonly models: { readonly openai?: string; readonly anthropic?: string };
}

export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of a POST; else null. */
  readonly start: Start;
}

/** An HTTP server that is an agent, each path another. */
export interface AgentServer extends AsyncDisposable {
  readonly url: string;
  /** `GET /status` and the like, in order. */
  readonly seen: readonly string[];
  /** Ends the server with all its connections. */
  stop(): void;
}

/** `answers`: by method and first part of the path, as `POST polls`. */
export async function startAgentServer(answers: { readonly [request: string]: (asked: Asked) => unknown }): Promise<AgentServer> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const answer = answers[`${request.method} ${request.url?.split('/')[1]}`];
    const serve = async () => {
      const body = await text(request);
      if (answer) await answer({ request, response, start: (body === '' ? null : JSON.parse(body)) as Start });
      else response.writeHead(404).end();
    };
    serve().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    stop,
    [Symbol.asyncDispose]: async () => stop(),
  };
}

/** Calls a tool as an agent does. */
export async function callTool({ gateway, token }: Pick<Start, 'gateway' | 'token'>, tool: string, args: JsonObject): Promise<Json> {
  const response = await fetch(`${gateway}/tools/${tool}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(args) });
  return (await response.json()) as Json;
}
