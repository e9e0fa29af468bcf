import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { ModelCall, ModelRoute } from '../../src/domain/model.ts';
import type { ModelBudget } from '../../src/domain/model-budget.ts';
import { type Gateway, startGateway } from '../../src/gateway/gateway.ts';
import { type KeptMessage, ModelAccount, type ModelAccountOptions } from '../../src/gateway/models/account.ts';
import { createModelClient } from '../../src/models/client.ts';

const KEY = 'the-key-of-the-provider';
const USAGE = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };

interface Seen {
  readonly path: string;
  readonly headers: { readonly [name: string]: unknown };
  readonly body: JsonObject;
}
type Answer = (response: ServerResponse, seen: Seen) => unknown;

let gateway: Gateway & AsyncDisposable;
let provider: { readonly url: string; readonly close: () => void };
let answer: Answer;
const seen: Seen[] = [];
beforeAll(async () => {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(body) as JsonObject };
      seen.push(one);
      return answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
  const store = {
    putGatewayToken: nothing,
    gatewayToken: async () => null,
    gatewayTokenOf: async () => null,
    endGatewayToken: nothing,
    addLateRequest: nothing,
  };
  gateway = await startGateway({ listen: '127.0.0.1', store, log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  provider.close();
});

async function nothing(): Promise<void> {}

const routeTo = (more: Partial<ModelRoute> = {}): ModelRoute => ({
  ...{ name: 'small', api: 'openai', url: `${provider.url}/v1`, model: 'tiny', key: 'PROVIDER_KEY', parameters: { temperature: 0 }, seed: null },
  ...{ prices: { currency: 'USD', input: 1, output: 10 }, timeoutMs: 5_000, retries: 0, rate: { perMinute: null, atOnce: null }, ...more },
});

/** A session over the gateway, with all that it recorded. */
async function session(
  options: { readonly routes?: readonly ModelRoute[]; readonly budget?: Partial<ModelBudget> } & Pick<ModelAccountOptions, 'before'> = {},
) {
  const calls: ModelCall[] = [];
  const kept: KeptMessage[] = [];
  const ends: string[] = [];
  const account = new ModelAccount({
    agent: null,
    routes: options.routes ?? [routeTo()],
    budget: { steps: 50, tokens: null, money: [], ...options.budget },
    redaction: { secrets: {}, addresses: 'mask', maxText: 1_000 },
    now: () => new Date(0),
    ...(options.before && { before: options.before }),
    record: async (call, messages) => {
      calls.push(call);
      kept.push(...messages);
    },
  });
  const opened = await gateway.open(
    { trial: 't', attempt: 1, agent: 'a' },
    {
      tools: [],
      budget: 0,
      carry: async () => Promise.reject(new Error('no tool is called here')),
      late: async (request) => void ends.push(`late ${request}`),
      models: { account, client: createModelClient({ variable: (name) => (name === 'PROVIDER_KEY' ? KEY : undefined) }) },
      events: {
        busy: () => {},
        idle: () => {},
        exhausted: ({ code, message }) => ends.push(`${code}: ${message}`),
        failed: (error) => ends.push(String(error)),
      },
    },
  );
  const token = await opened.token();
  account.hide('TRIALBED_TOKEN', token);
  const post = (url: string, body: Json | string, headers: { readonly [name: string]: string } = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const chat = (body: JsonObject = {}) =>
    post(`${opened.models.openai}/chat/completions`, { model: 'tiny', messages: [{ role: 'user', content: 'Hello' }], ...body });
  const close = async () => {
    await opened.close();
    await opened.settled();
  };
  return { ...opened, token, calls, kept, ends, post, chat, close };
}

const says =
  (content: string, more: JsonObject = {}): Answer =>
  (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r-1', 'set-cookie': 'a=b' })
      .end(JSON.stringify({ model: 'tiny-2026', choices: [{ message: { role: 'assistant', content } }], usage: USAGE, ...more }));

/** Events, each once the one before it has been asked for. */
const streams =
  (events: readonly string[], end: (response: ServerResponse) => void = (response) => response.end()): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) {
      response.write(event);
      await sleep(5);
    }
    end(response);
  };
const data = (value: JsonObject) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (part: JsonObject) => data({ model: 'tiny-2026', choices: [{ index: 0, delta: part }], usage: null });

describe('a call of a model through the gateway', () => {
  it('goes to the route with its key, model and parameters, and comes back as it was', async () => {
    const one = await session();
    answer = says('Hi.');
    const response = await one.chat({ model: 'whatever', max_tokens: 5, user: one.token });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-request-id')).toBe('r-1');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hi.' } }] });
    const sent = seen.at(-1);
    expect(sent).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
      body: { model: 'tiny', temperature: 0, max_tokens: 5 },
    });
    expect(one.calls).toMatchObject([
      {
        ...{ id: 'gateway-1', who: 'agent', source: 'gateway', route: 'small', model: 'tiny', reported: 'tiny-2026', end: 'replied', tries: 1, problem: null },
        ...{ usage: { input: 100, output: 20, cached: 40, reasoning: null }, price: { amount: 0.0003, currency: 'USD' } },
        parameters: { temperature: 0, max_tokens: 5, user: '[redacted: TRIALBED_TOKEN]' },
      },
    ]);
    expect(one.calls[0]?.latencyMs).toBeGreaterThan(0);
    expect(JSON.stringify([one.calls, one.kept])).not.toContain(KEY);
  });

  it('keeps what was said once, without secrets and addresses', async () => {
    const one = await session();
    answer = says('Done.');
    const messages: Json[] = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: `I am ann@example.org, ${one.token}` },
    ];
    await one.chat({ messages });
    messages.push({ role: 'assistant', content: 'Done.', refusal: null }, { role: 'user', content: 'Thanks.' });
    answer = says('Bye.');
    await one.chat({ messages });
    expect(one.kept.map(({ seq, role, call, body }) => [seq, role, call, body['content']])).toEqual([
      [1, 'system', 'gateway-1', 'Be kind.'],
      [2, 'user', 'gateway-1', 'I am [redacted]@example.org, [redacted: TRIALBED_TOKEN]'],
      [3, 'assistant', 'gateway-1', 'Done.'],
      [4, 'user', 'gateway-2', 'Thanks.'],
      [5, 'assistant', 'gateway-2', 'Bye.'],
    ]);
  });

  it('is refused exactly at the limit, in the form of the provider, and nothing is sent', async () => {
    const one = await session({ budget: { steps: 2 } });
    answer = says('Hi.');
    const before = seen.length;
    const statuses = (await Promise.all([1, 2, 3, 4].map(() => one.chat()))).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 429, 429]);
    const refused = await one.chat();
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.json()).toEqual({
      error: { message: 'The budget of 2 model calls is used up.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' },
    });
    expect(seen.length - before).toBe(2);
    expect(one.calls).toHaveLength(2);
    expect(one.ends[0]).toBe('budget_exhausted: The budget of 2 model calls is used up.');
  });

  it.each<[string, Partial<ModelBudget>, number, string]>([
    ['tokens that are used up exactly', { tokens: 240 }, 2, 'The budget of 240 tokens is used up (240).'],
    ['tokens that were overdrawn', { tokens: 230 }, 2, 'The budget of 230 tokens is overdrawn (240).'],
    ['money', { money: [{ amount: 0.0006, currency: 'USD' }] }, 2, 'The budget of 0.0006 USD is used up (0.0006 USD).'],
  ])('is refused beyond %s', async (_, budget, served, words) => {
    const one = await session({ budget });
    answer = says('Hi.');
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await one.chat()).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(served);
    expect(one.ends[0]).toBe(`budget_exhausted: ${words}`);
  });

  it('goes on counting where an earlier worker has left off', async () => {
    answer = says('Hi.');
    const first = await session();
    await first.chat();
    const next = await session({ budget: { steps: 2 }, before: { calls: first.calls, messages: first.kept.length } });
    expect([(await next.chat()).status, (await next.chat()).status]).toEqual([200, 429]);
    expect(next.calls.map(({ id }) => id)).toEqual(['gateway-2']);
    expect(next.kept.map(({ seq }) => seq)).toEqual([3, 4]);
  });

  it('whose budget nobody measures is the trouble of whoever set it', async () => {
    const one = await session({ budget: { tokens: 100 } });
    answer = says('Hi.', { usage: null });
    await one.chat();
    expect(one.ends.join()).toContain('a budget of tokens or money cannot be kept');
  });

  it('of a route is found by name or model; another is none', async () => {
    const one = await session({ routes: [routeTo(), routeTo({ name: 'large', model: 'huge', prices: null }), routeTo({ name: 'claude', api: 'anthropic' })] });
    answer = says('Hi.');
    for (const model of ['large', 'huge', 'small']) await one.chat({ model });
    expect(one.calls.map(({ model, price }) => [model, price?.currency ?? null])).toEqual([
      ['huge', null],
      ['huge', null],
      ['tiny', 'USD'],
    ]);
    const none = await one.chat({ model: 'gpt' });
    expect([none.status, await none.json()]).toMatchObject([404, { error: { message: expect.stringContaining('there are: small, large') } }]);
    const bad = await one.post(`${one.models.openai}/chat/completions`, '[]');
    expect([bad.status, await bad.json()]).toMatchObject([400, { error: { type: 'invalid_request_error' } }]);
  });

  it('needs the token, and not after the end', async () => {
    const one = await session({ routes: [routeTo({ api: 'anthropic', url: provider.url })] });
    const url = `${one.models.anthropic}/v1/messages`;
    expect(await (await one.post(url, {}, { authorization: 'Bearer x.y' })).json()).toEqual({
      type: 'error',
      error: { type: 'authentication_error', message: 'The bearer token is missing or not valid.' },
    });
    await one.close();
    expect((await one.post(url, {})).status).toBe(401);
    expect(one.ends).toEqual(['late POST /model/anthropic/v1/messages with the token of an attempt that has ended']);
  });
});

describe('a streamed reply', () => {
  const USAGE_CHUNK = data({ model: 'tiny-2026', choices: [], usage: USAGE });

  it('comes as it is sent, is counted, and holds no more than was asked for', async () => {
    const one = await session();
    let go: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    answer = async (response, told) => {
      expect(told.body['stream_options']).toEqual({ include_usage: true });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta({ role: 'assistant', content: 'One, ' }));
      // The agent has the first part before the second is sent.
      await gone;
      response.write(delta({ content: 'two.' }));
      response.end(`${USAGE_CHUNK}data: [DONE]\n\n`);
    };
    const response = await one.chat({ stream: true });
    const reader = (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toContain('One, ');
    go();
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
    expect(rest).toContain('two.');
    expect(rest).toContain('[DONE]');
    expect(rest).not.toContain('prompt_tokens');
    expect(one.calls).toMatchObject([{ usage: { input: 100, output: 20 }, reported: 'tiny-2026', problem: null }]);
    expect(one.kept.at(-1)).toMatchObject({ role: 'assistant', body: { content: 'One, two.' } });
  });

  it('of tool calls is put together; usage that was asked for stays', async () => {
    const one = await session();
    const call = (index: number, part: JsonObject) => delta({ tool_calls: [{ index, ...part }] });
    answer = streams([
      call(0, { id: 'c1', function: { name: 'get_order', arguments: '{"id"' } }),
      call(1, { id: 'c2', function: { name: 'wait', arguments: '{}' } }),
      call(0, { function: { arguments: ':7}' } }),
      USAGE_CHUNK,
      'data: [DONE]\n\n',
    ]);
    const body = await (await one.chat({ stream: true, stream_options: { include_usage: true } })).text();
    expect(body).toContain('prompt_tokens');
    expect(one.kept.at(-1)?.body).toMatchObject({
      tool_calls: [
        { id: 'c1', function: { name: 'get_order', arguments: '{"id":7}' } },
        { id: 'c2', function: { name: 'wait', arguments: '{}' } },
      ],
    });
  });

  it('that is cut in the middle breaks off for the agent too, and its tokens are not measured', async () => {
    const one = await session();
    answer = streams([delta({ content: 'I have' })], (response) => response.destroy());
    await expect(one.chat({ stream: true }).then((response) => response.text())).rejects.toThrow();
    expect(one.calls).toMatchObject([{ end: 'replied', usage: null, price: null, problem: { code: 'model_cut_off' } }]);
  });

  it('that the agent leaves is left by the gateway', async () => {
    const one = await session();
    let left = false;
    answer = (response) => {
      response.on('close', () => {
        left = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta({ content: 'and so on' }));
    };
    const response = await one.chat({ stream: true });
    await response.body?.cancel();
    await one.close();
    expect(one.calls).toMatchObject([{ problem: { code: 'model_cut_off' } }]);
    await expect.poll(() => left).toBe(true);
  });

  it('of Anthropic is counted at both ends', async () => {
    const one = await session({ routes: [routeTo({ api: 'anthropic', url: provider.url })] });
    answer = streams([
      `event: message_start\n${data({ type: 'message_start', message: { model: 'tiny-2026', usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 1 } } })}`,
      `event: content_block_start\n${data({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })}`,
      `event: content_block_delta\n${data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } })}`,
      `event: message_delta\n${data({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } })}`,
      `event: message_stop\n${data({ type: 'message_stop' })}`,
    ]);
    const body = { model: 'tiny', max_tokens: 9, stream: true, system: 'Be kind.', messages: [{ role: 'user', content: 'Hello' }] };
    const response = await one.post(`${one.models.anthropic}/v1/messages`, body, { authorization: '', 'x-api-key': one.token, 'anthropic-beta': 'new' });
    expect(await response.text()).toContain('event: message_stop');
    expect(seen.at(-1)?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01', 'anthropic-beta': 'new' });
    expect(one.calls).toMatchObject([{ usage: { input: 100, output: 20, cached: 40 }, parameters: { max_tokens: 9 } }]);
    expect(one.kept.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
  });

  it('of responses is read from its last event', async () => {
    const one = await session();
    const last = { model: 'tiny-2026', output: [{ type: 'message' }], usage: { input_tokens: 7, output_tokens: 3 } };
    answer = streams([data({ type: 'response.output_text.delta', delta: 'Hi' }), data({ type: 'response.completed', response: last })]);
    const response = await one.post(`${one.models.openai}/responses`, { model: 'tiny', stream: true, instructions: 'Be kind.', input: 'Hello' });
    expect(await response.text()).toContain('response.completed');
    expect(seen.at(-1)?.path).toBe('/v1/responses');
    expect(one.calls).toMatchObject([{ usage: { input: 7, output: 3 } }]);
    expect(one.kept.map(({ role, body }) => [role, body['content']])).toEqual([
      ['system', 'Be kind.'],
      ['user', 'Hello'],
      ['assistant', [{ type: 'message' }]],
    ]);
  });
});

describe('a hostile provider', () => {
  it.each<[string, Answer, number, JsonObject]>([
    [
      'is limited',
      (response) => response.writeHead(429, { 'retry-after': '0', 'content-type': 'application/json' }).end('{"error":{"message":"slow down"}}'),
      429,
      { end: 'failed', problem: { code: 'model_rate_limited' } },
    ],
    ['is broken', (response) => response.writeHead(500).end(`broken ${KEY}`), 500, { end: 'failed', problem: { code: 'model_unavailable' } }],
    ['hangs up', (response) => response.destroy(), 502, { end: 'failed', problem: { code: 'model_unreachable' } }],
    ['refuses', (response) => response.writeHead(400).end('{"error":{"message":"too long"}}'), 400, { end: 'refused', problem: { code: 'model_refused' } }],
  ])('that %s is told as it is and recorded', async (_, how, status, call) => {
    const one = await session();
    answer = how;
    const response = await one.chat();
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain(KEY);
    expect(one.calls).toMatchObject([{ ...call, usage: null, price: null }]);
    expect(JSON.stringify(one.calls)).not.toContain(KEY);
    expect(one.ends).toEqual([]);
  });

  it.each<[string, Answer]>([
    ['takes no key', (response) => response.writeHead(401).end('{"error":{"message":"no"}}')],
    ['leads elsewhere', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ])('that %s is the trouble of the test bed', async (_, how) => {
    const one = await session();
    answer = how;
    await one.chat();
    expect(one.ends).toHaveLength(1);
    expect(one.ends[0]).toContain('ModelError');
  });

  it('is never asked without its key', async () => {
    const one = await session({ routes: [routeTo({ key: 'NOT_SET' })] });
    const before = seen.length;
    expect((await one.chat()).status).toBe(502);
    expect(seen).toHaveLength(before);
    expect(one.ends[0]).toContain('NOT_SET');
  });

  it('that says nothing is left after the time of its route', async () => {
    const one = await session({ routes: [routeTo({ timeoutMs: 200 })] });
    answer = () => {};
    expect((await one.chat()).status).toBe(504);
    expect(one.calls).toMatchObject([{ problem: { code: 'model_timeout' } }]);
  });

  it('that sends ten megabytes at once is passed on, event or document', async () => {
    const one = await session();
    const much = 'x'.repeat(10 * 1024 * 1024);
    answer = says(much);
    expect((await (await one.chat()).text()).length).toBeGreaterThan(much.length);
    answer = streams([delta({ content: much }), data({ choices: [], usage: USAGE }), 'data: [DONE]\n\n']);
    expect((await (await one.chat({ stream: true })).text()).length).toBeGreaterThan(much.length);
    // A document of that size is not read for its tokens.
    expect(one.calls.map(({ usage }) => usage?.input ?? null)).toEqual([null, 100]);
    expect(JSON.stringify(one.kept).length).toBeLessThan(10_000);
  });
});

describe('spans of an agent that asks models elsewhere', () => {
  const attribute = (key: string, value: JsonObject) => ({ key, value });
  const span = (id: string, ...attributes: JsonObject[]) => ({
    ...{ traceId: '0102030405060708090a0b0c0d0e0f10', spanId: id, startTimeUnixNano: '1000000000', endTimeUnixNano: '1250000000', attributes },
  });
  const chatSpan = (id: string) =>
    span(
      id,
      attribute('gen_ai.operation.name', { stringValue: 'chat' }),
      attribute('gen_ai.provider.name', { stringValue: 'someone' }),
      attribute('gen_ai.request.model', { stringValue: 'tiny' }),
      attribute('gen_ai.request.temperature', { doubleValue: 0.5 }),
      attribute('gen_ai.usage.input_tokens', { intValue: '100' }),
      attribute('gen_ai.usage.output_tokens', { intValue: 20 }),
    );
  const request = (...spans: JsonObject[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  const json = { 'content-type': 'application/json' };

  it('are counted once, and those that sum up others are not', async () => {
    const one = await session({ budget: { tokens: 240 } });
    const agent = span('aa', attribute('gen_ai.operation.name', { stringValue: 'invoke_agent' }), attribute('gen_ai.usage.input_tokens', { intValue: '900' }));
    const send = (body: Json) => one.post(`${gateway.url}/v1/traces`, body, json);
    expect(await (await send(request(chatSpan('0a'), agent, span('0c', attribute('http.method', { stringValue: 'GET' }))))).json()).toEqual({
      partialSuccess: {},
    });
    await send(request(chatSpan('0a')));
    expect(one.calls).toMatchObject([
      {
        ...{ source: 'otlp', route: 'someone', model: 'tiny', usage: { input: 100, output: 20 }, latencyMs: 250, parameters: { temperature: 0.5 } },
        price: { amount: 0.0003, currency: 'USD' },
      },
    ]);
    expect(one.ends).toEqual([]);
    await send(request(chatSpan('0b')));
    expect(one.ends).toEqual(['budget_exhausted: The budget of 240 tokens is used up (240).']);
  });

  it.each([false, true])('come in protobuf as well, packed: %s', async (packed) => {
    const one = await session();
    // More than the gateway reads, as exporters send it.
    const { root } = protobuf.parse(`syntax = "proto3";
      message Request { repeated ResourceSpans resource_spans = 1; }
      message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
      message Resource { repeated KeyValue attributes = 1; }
      message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schema_url = 3; }
      message Scope { string name = 1; }
      message Span {
        bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
        fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
      }
      message Status { int32 code = 3; }
      message KeyValue { string key = 1; AnyValue value = 2; }
      message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; } }
      message ArrayValue { repeated AnyValue values = 1; }`);
    const sent = {
      ...{ traceId: Buffer.from('0102030405060708090a0b0c0d0e0f10', 'hex'), spanId: Buffer.from('0a0b0c0d0e0f0102', 'hex'), name: 'chat tiny', kind: 3 },
      ...{ startTimeUnixNano: 1_000_000_000, endTimeUnixNano: 1_250_000_000, status: { code: 1 } },
      attributes: [
        attribute('gen_ai.operation.name', { stringValue: 'chat' }),
        attribute('gen_ai.request.model', { stringValue: 'tiny' }),
        attribute('gen_ai.response.finish_reasons', { arrayValue: { values: [{ stringValue: 'stop' }] } }),
        attribute('gen_ai.usage.input_tokens', { intValue: 100 }),
        attribute('gen_ai.usage.output_tokens', { intValue: 20 }),
      ],
    };
    const resource = { attributes: [attribute('service.name', { stringValue: 'agent' })] };
    const type = root.lookupType('Request');
    const bytes = type.encode(type.fromObject({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'x' }, spans: [sent] }] }] })).finish();
    const response = await fetch(`${gateway.url}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${one.token}`, 'content-type': 'application/x-protobuf', ...(packed && { 'content-encoding': 'gzip' }) },
      body: packed ? gzipSync(bytes) : Buffer.from(bytes),
    });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(one.calls).toMatchObject([
      { id: 'otlp-0102030405060708090a0b0c0d0e0f10-0a0b0c0d0e0f0102', model: 'tiny', usage: { input: 100, output: 20 }, latencyMs: 250 },
    ]);
  });

  it('do not count where calls went through the gateway', async () => {
    const one = await session();
    answer = says('Hi.');
    await one.chat();
    await one.post(`${gateway.url}/v1/traces`, request(chatSpan('0a')), json);
    expect(one.calls.map(({ source }) => source)).toEqual(['gateway']);
  });

  it.each([
    ['no JSON', 'no', 'application/json', 400],
    ['another type', '{}', 'text/plain', 415],
    ['no protobuf', '\u00ff\u00ff\u00ff', 'application/x-protobuf', 400],
    ['anything', '{"resourceSpans":[{"scopeSpans":[{"spans":[1,{"attributes":{"a":1}}]}]}]}', 'application/json', 200],
  ])('that are %s are answered', async (_, body, type, status) => {
    const one = await session();
    expect((await one.post(`${gateway.url}/v1/traces`, body, { 'content-type': type })).status).toBe(status);
    expect(one.calls).toEqual([]);
  });
});
