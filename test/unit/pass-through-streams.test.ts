import { gzipSync } from 'node:zlib';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { data, delta, KEY, PassThroughBed, says, streams, USAGE } from '../harness/pass-through.ts';

let bed: PassThroughBed;
beforeAll(async () => {
  bed = await PassThroughBed.start();
});
afterAll(async () => {
  await bed[Symbol.asyncDispose]();
});

describe('a streamed reply', () => {
  const USAGE_CHUNK = data({ model: 'tiny-2026', choices: [], usage: USAGE });

  it('comes as it is sent, is counted, and holds no more than was asked for', async () => {
    const one = await bed.session();
    let go: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    bed.answer = async (response, told) => {
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
    const one = await bed.session();
    const call = (index: number, part: JsonObject) => delta({ tool_calls: [{ index, ...part }] });
    bed.answer = streams([
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
    const one = await bed.session();
    bed.answer = streams([delta({ content: 'I have' })], (response) => response.destroy());
    await expect(one.chat({ stream: true }).then((response) => response.text())).rejects.toThrow();
    expect(one.calls).toMatchObject([{ end: 'replied', usage: null, price: null, problem: { code: 'model_cut_off' } }]);
  });

  it('that the agent leaves is left by the gateway', async () => {
    const one = await bed.session();
    let left = false;
    bed.answer = (response) => {
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
    const one = await bed.session({ routes: [bed.routeTo({ api: 'anthropic', url: bed.url })] });
    bed.answer = streams([
      `event: message_start\n${data({ type: 'message_start', message: { model: 'tiny-2026', usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 1 } } })}`,
      `event: content_block_start\n${data({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })}`,
      `event: content_block_delta\n${data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } })}`,
      `event: message_delta\n${data({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } })}`,
      `event: message_stop\n${data({ type: 'message_stop' })}`,
    ]);
    const body = { model: 'tiny', max_tokens: 9, stream: true, system: 'Be kind.', messages: [{ role: 'user', content: 'Hello' }] };
    const response = await one.post(`${one.models.anthropic}/v1/messages`, body, { authorization: '', 'x-api-key': one.token, 'anthropic-beta': 'new' });
    expect(await response.text()).toContain('event: message_stop');
    expect(bed.seen.at(-1)?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01', 'anthropic-beta': 'new' });
    expect(one.calls).toMatchObject([{ usage: { input: 100, output: 20, cached: 40 }, parameters: { max_tokens: 9 } }]);
    expect(one.kept.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
  });

  it('of responses is read from its last event', async () => {
    const one = await bed.session();
    const last = { model: 'tiny-2026', output: [{ type: 'message' }], usage: { input_tokens: 7, output_tokens: 3 } };
    bed.answer = streams([data({ type: 'response.output_text.delta', delta: 'Hi' }), data({ type: 'response.completed', response: last })]);
    const response = await one.post(`${one.models.openai}/responses`, { model: 'tiny', stream: true, instructions: 'Be kind.', input: 'Hello' });
    expect(await response.text()).toContain('response.completed');
    expect(bed.seen.at(-1)?.path).toBe('/v1/responses');
    expect(one.calls).toMatchObject([{ usage: { input: 7, output: 3 } }]);
    expect(one.kept.map(({ role, body }) => [role, body['content']])).toEqual([
      ['system', 'Be kind.'],
      ['user', 'Hello'],
      ['assistant', [{ type: 'message' }]],
    ]);
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
    const one = await bed.session({ budget: { tokens: 240 } });
    const agent = span('aa', attribute('gen_ai.operation.name', { stringValue: 'invoke_agent' }), attribute('gen_ai.usage.input_tokens', { intValue: '900' }));
    const send = (body: Json) => one.post(`${bed.gateway.url}/v1/traces`, body, json);
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
    const one = await bed.session();
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
    const response = await fetch(`${bed.gateway.url}/v1/traces`, {
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
    const one = await bed.session();
    bed.answer = says('Hi.');
    await one.chat();
    await one.post(`${bed.gateway.url}/v1/traces`, request(chatSpan('0a')), json);
    expect(one.calls.map(({ source }) => source)).toEqual(['gateway']);
  });

  it.each([
    ['no JSON', 'no', 'application/json', 400],
    ['another type', '{}', 'text/plain', 415],
    ['no protobuf', '\u00ff\u00ff\u00ff', 'application/x-protobuf', 400],
    ['anything', '{"resourceSpans":[{"scopeSpans":[{"spans":[1,{"attributes":{"a":1}}]}]}]}', 'application/json', 200],
  ])('that are %s are answered', async (_, body, type, status) => {
    const one = await bed.session();
    expect((await one.post(`${bed.gateway.url}/v1/traces`, body, { 'content-type': type })).status).toBe(status);
    expect(one.calls).toEqual([]);
  });
});
