import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it reached the provider. */
export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content?: unknown; readonly tool_calls?: unknown; readonly tool_call_id?: string }[];
    readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: object } }[];
    readonly [key: string]: unknown;
  };
}

/** What it answers: a body with its status, or nothing at all. */
export type ProviderAnswer =
  | { readonly status?: number; readonly headers?: { readonly [name: string]: string }; readonly json?: object; readonly text?: string }
  | { readonly hang: true };

/** A provider over HTTP that speaks OpenAI's format and answers as it is told. */
export interface Provider extends AsyncDisposable {
  /** Base URL, as a route names it. */
  readonly url: string;
  readonly requests: ProviderRequest[];
}

export async function startProvider(answer: (request: ProviderRequest, number: number) => ProviderAnswer | Promise<ProviderAnswer>): Promise<Provider> {
  const requests: ProviderRequest[] = [];
  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const request = { path: incoming.url ?? '', headers: incoming.headers, body: JSON.parse(Buffer.concat(parts).toString('utf8')) };
    const told = await answer(request, requests.push(request));
    if ('hang' in told) return;
    response.writeHead(told.status ?? 200, { 'content-type': 'application/json', ...told.headers });
    response.end(told.text ?? JSON.stringify(told.json ?? {}));
  };
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 5 },
} as const;

/** A reply that says something. */
export function says(text: string, usage: object | null = USAGE): ProviderAnswer {
  return { json: { model: 'tiny-2026-01', choices: [{ message: { role: 'assistant', content: text }, finish_reason: 'stop' }], ...(usage && { usage }) } };
}

/** A reply that calls tools; arguments that are a text are sent as they are. */
export function calls(...made: readonly (readonly [tool: string, args: object | string])[]): ProviderAnswer {
  const toolCalls = made.map(([name, args], index) => ({
    id: `call-${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
  const message = { role: 'assistant', content: null, tool_calls: toolCalls };
  return { json: { model: 'tiny-2026-01', choices: [{ message, finish_reason: 'tool_calls' }], usage: USAGE } };
}
