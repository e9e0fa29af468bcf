import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { ModelCall, ModelRoute } from '../../src/domain/model.ts';
import type { ModelBudget } from '../../src/domain/model-budget.ts';
import { type Gateway, startGateway } from '../../src/gateway/gateway.ts';
import { type KeptMessage, ModelAccount, type ModelAccountOptions } from '../../src/gateway/models/account.ts';
import { createModelClient } from '../../src/models/client.ts';

export const KEY = 'the-key-of-the-provider';
export const USAGE = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };

/** A request as it reached the provider. */
export interface Seen {
  readonly path: string;
  readonly headers: { readonly [name: string]: unknown };
  readonly body: JsonObject;
}
export type Answer = (response: ServerResponse, seen: Seen) => unknown;

export interface SessionRequest extends Pick<ModelAccountOptions, 'before'> {
  /** Default: one to the provider, in OpenAI's format. */
  readonly routes?: readonly ModelRoute[];
  readonly budget?: Partial<ModelBudget>;
}

/** A gateway in front of a provider that answers as it is told, without a trial around it. */
export class PassThroughBed implements AsyncDisposable {
  /** How the provider answers. */
  answer: Answer = (response) => response.writeHead(500).end();
  readonly seen: Seen[] = [];
  readonly gateway: Gateway & AsyncDisposable;
  /** Of the provider, without a path. */
  readonly url: string;
  private readonly close: () => void;

  static async start(): Promise<PassThroughBed> {
    const store = {
      putGatewayToken: nothing,
      gatewayToken: async () => null,
      gatewayTokenOf: async () => null,
      moveGatewayToken: async () => {},
      endGatewayToken: nothing,
      addLateRequest: nothing,
    };
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const bed = new PassThroughBed(
      await startGateway({ listen: '127.0.0.1', store, log: pino({ level: 'silent' }) }),
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      () => server.close(),
    );
    server.on('request', (request, response) => {
      void text(request).then((body) => {
        const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(body) as JsonObject };
        bed.seen.push(one);
        return bed.answer(response, one);
      });
    });
    return bed;
  }

  private constructor(gateway: Gateway & AsyncDisposable, url: string, close: () => void) {
    this.gateway = gateway;
    this.url = url;
    this.close = close;
  }

  routeTo(more: Partial<ModelRoute> = {}): ModelRoute {
    return {
      ...{ name: 'small', api: 'openai', url: `${this.url}/v1`, model: 'tiny', key: 'PROVIDER_KEY', parameters: { temperature: 0 }, seed: null },
      ...{ prices: { currency: 'USD', input: 1, output: 10 }, timeoutMs: 5_000, retries: 0, rate: { perMinute: null, atOnce: null }, ...more },
    };
  }

  /** A session over the gateway, with all that it recorded. */
  async session(options: SessionRequest = {}) {
    const calls: ModelCall[] = [];
    const kept: KeptMessage[] = [];
    const ends: string[] = [];
    /** What an agent's clock hears. */
    const clock: string[] = [];
    const account = new ModelAccount({
      agent: null,
      routes: options.routes ?? [this.routeTo()],
      budget: { steps: 50, tokens: null, money: [], ...options.budget },
      redaction: { secrets: {}, addresses: 'mask', maxText: 1_000 },
      now: () => new Date(0),
      ...(options.before && { before: options.before }),
      record: async (call, messages) => {
        calls.push(call);
        kept.push(...messages);
      },
    });
    const opened = await this.gateway.open(
      { trial: 't', attempt: 1, agent: 'a' },
      {
        tools: [],
        budget: 0,
        carry: async () => Promise.reject(new Error('no tool is called here')),
        late: async (request) => void ends.push(`late ${request}`),
        models: { account, client: createModelClient({ variable: (name) => (name === 'PROVIDER_KEY' ? KEY : undefined) }) },
        events: {
          busy: () => clock.push('hold'),
          idle: () => clock.push('release'),
          mark: () => () => clock.push('give back'),
          exhausted: ({ code, message }) => ends.push(`${code}: ${message}`),
          failed: (error) => ends.push(String(error)),
        },
      },
    );
    const token = await opened.token();
    account.hide('TRIALBED_TOKEN', token);
    const post = (url: string, body: Json | string, headers: { readonly [name: string]: string } = {}, signal: AbortSignal | null = null) =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal,
      });
    const chat = (body: JsonObject = {}, signal: AbortSignal | null = null) =>
      post(`${opened.models.openai}/chat/completions`, { model: 'tiny', messages: [{ role: 'user', content: 'Hello' }], ...body }, {}, signal);
    const close = async () => {
      await opened.close();
      await opened.settled();
    };
    return { ...opened, token, calls, kept, ends, clock, post, chat, close };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    this.close();
  }
}

async function nothing(): Promise<void> {}

export const says =
  (content: string, more: JsonObject = {}): Answer =>
  (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r-1', 'set-cookie': 'a=b' })
      .end(JSON.stringify({ model: 'tiny-2026', choices: [{ message: { role: 'assistant', content } }], usage: USAGE, ...more }));

/** Events, each once the one before it has been asked for. */
export const streams =
  (events: readonly string[], end: (response: ServerResponse) => void = (response) => response.end()): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) {
      response.write(event);
      await sleep(5);
    }
    end(response);
  };

/** One after the other; the last one for all that follow. */
export const inTurn = (...answers: readonly Answer[]): Answer => {
  let number = 0;
  return (response, seen) => answers[Math.min(number++, answers.length - 1)]?.(response, seen);
};

export const data = (value: JsonObject) => `data: ${JSON.stringify(value)}\n\n`;
export const delta = (part: JsonObject) => data({ model: 'tiny-2026', choices: [{ index: 0, delta: part }], usage: null });
