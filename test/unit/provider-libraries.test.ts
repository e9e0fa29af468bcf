import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { type Answer, data, inTurn, PassThroughBed, says, streams, USAGE } from '../harness/pass-through.ts';
import { PYTHON_PATH, requireOrSkip, skipTitle } from '../harness/requirements.ts';

const python = await requireOrSkip('python');
const QUESTION = [{ role: 'user' as const, content: 'Where is order 7?' }];
const PARAMETERS = { type: 'object' as const, properties: { id: { type: 'integer' } }, required: ['id'] };
const CALL = { id: 'c1', type: 'function', function: { name: 'get_order', arguments: '{"id":7}' } };

let bed: PassThroughBed;
beforeAll(async () => {
  bed = await PassThroughBed.start();
});
afterAll(() => bed[Symbol.asyncDispose]());
afterEach(() => {
  for (const name of ['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY']) delete process.env[name];
});

/** A session with a route of each format, and the environment that its agent has. */
async function session(more: Parameters<PassThroughBed['session']>[0] = {}) {
  const routes = [bed.routeTo({ retries: 2 }), bed.routeTo({ name: 'claude', api: 'anthropic', url: bed.url, retries: 2 })];
  const one = await bed.session({ routes, ...more });
  const { openai = '', anthropic = '' } = one.models;
  const env = { OPENAI_BASE_URL: openai, OPENAI_API_KEY: one.token, ANTHROPIC_BASE_URL: anthropic, ANTHROPIC_API_KEY: one.token };
  Object.assign(process.env, env);
  return { ...one, env };
}

const chunk = (delta: JsonObject, finish: string | null = null): string =>
  data({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'tiny-2026', choices: [{ index: 0, delta, finish_reason: finish }] });
const END = `${data({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'tiny-2026', choices: [], usage: { ...USAGE, total_tokens: 120 } })}data: [DONE]\n\n`;
const callsTool: Answer = says('', {
  id: 'x',
  choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [CALL] } }],
});
const streamsTool = streams([
  chunk({ role: 'assistant', tool_calls: [{ index: 0, ...CALL, function: { name: 'get_order', arguments: '{"id"' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: ':7}' } }] }),
  chunk({}, 'tool_calls'),
  END,
]);
const streamsText = streams([chunk({ role: 'assistant', content: 'In ' }), chunk({ content: 'Bonn.' }), chunk({}, 'stop'), END]);
const error =
  (status: number, body: JsonObject): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(body));
const limited = error(429, { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } });

const MESSAGE = { id: 'm', type: 'message', role: 'assistant', model: 'tiny-2026', stop_reason: null, stop_sequence: null };
const TOOL_USE = { type: 'tool_use', id: 't1', name: 'get_order' };
const event = (value: JsonObject): string => `event: ${String(value['type'])}\n${data(value)}`;
const usesTool: Answer = (response) =>
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(
      JSON.stringify({ ...MESSAGE, stop_reason: 'tool_use', content: [{ ...TOOL_USE, input: { id: 7 } }], usage: { input_tokens: 100, output_tokens: 20 } }),
    );
const streamsToolUse = streams([
  event({ type: 'message_start', message: { ...MESSAGE, content: [], usage: { input_tokens: 100, output_tokens: 1 } } }),
  event({ type: 'content_block_start', index: 0, content_block: { ...TOOL_USE, input: {} } }),
  event({ type: 'ping' }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"id"' } }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ':7}' } }),
  event({ type: 'content_block_stop', index: 0 }),
  event({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 20 } }),
  event({ type: 'message_stop' }),
]);

const counted = { end: 'replied', problem: null, usage: { input: 100, output: 20 } };

describe('the library openai, with nothing but its variables', () => {
  const tools = [{ type: 'function' as const, function: { name: 'get_order', parameters: PARAMETERS } }];

  it('calls tools, at once and streamed, and is counted', async () => {
    const one = await session();
    const client = new OpenAI();
    bed.answer = callsTool;
    const whole = await client.chat.completions.create({ model: 'tiny', messages: QUESTION, tools });
    expect(whole.choices[0]?.message.tool_calls).toMatchObject([CALL]);
    bed.answer = streamsTool;
    const streamed = await client.chat.completions.stream({ model: 'tiny', messages: QUESTION, tools }).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject([CALL]);
    expect(one.calls).toMatchObject([counted, counted]);
  });

  it('reads responses, streamed ones too, and lists models', async () => {
    const one = await session();
    const client = new OpenAI();
    const output = [
      { id: 'o', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'In Bonn.', annotations: [] }] },
    ];
    const whole = { id: 'r', object: 'response', status: 'completed', model: 'tiny-2026', output, usage: { input_tokens: 100, output_tokens: 20 } };
    bed.answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    expect((await client.responses.create({ model: 'tiny', input: 'Where?' })).output_text).toBe('In Bonn.');
    const delta = { type: 'response.output_text.delta', item_id: 'o', output_index: 0, content_index: 0, delta: 'In Bonn.', sequence_number: 1 };
    bed.answer = streams([event(delta), event({ type: 'response.completed', response: whole, sequence_number: 2 })]);
    const heard: string[] = [];
    for await (const part of await client.responses.create({ model: 'tiny', input: 'Where?', stream: true })) heard.push(part.type);
    expect(heard).toEqual(['response.output_text.delta', 'response.completed']);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['tiny']);
    expect(one.calls).toMatchObject([counted, counted]);
  });

  it('knows what went wrong', async () => {
    const one = await session({ budget: { steps: 2 } });
    const client = new OpenAI();
    const ask = () => client.chat.completions.create({ model: 'tiny', messages: QUESTION });
    bed.answer = inTurn(limited, says('Here.'));
    expect((await ask()).choices[0]?.message.content).toBe('Here.');
    bed.answer = error(400, { error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } });
    await expect(ask()).rejects.toThrow(OpenAI.BadRequestError);
    const before = bed.seen.length;
    await expect(ask()).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
    expect(bed.seen).toHaveLength(before);
    expect(one.calls).toMatchObject([{ tries: 2, end: 'replied' }, { end: 'refused' }]);
    // It was told once: its library does not send again what cannot succeed.
    expect(one.ends).toEqual(['budget_exhausted: The budget of 2 model calls is used up.']);
  });
});

describe('the library of Anthropic, with nothing but its variables', () => {
  const tools = [{ name: 'get_order', input_schema: PARAMETERS }];
  const request = { model: 'tiny', max_tokens: 9, messages: QUESTION, tools };

  it('calls tools, at once and streamed, and is counted', async () => {
    const one = await session();
    const client = new Anthropic();
    bed.answer = usesTool;
    expect((await client.messages.create(request)).content).toMatchObject([{ ...TOOL_USE, input: { id: 7 } }]);
    bed.answer = streamsToolUse;
    expect((await client.messages.stream(request).finalMessage()).content).toMatchObject([{ ...TOOL_USE, input: { id: 7 } }]);
    expect(one.calls).toMatchObject([counted, counted]);
  });

  it('knows what went wrong', async () => {
    const one = await session({ budget: { steps: 2 } });
    const client = new Anthropic();
    bed.answer = inTurn(error(529, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }), usesTool);
    expect((await client.messages.create(request)).stop_reason).toBe('tool_use');
    bed.answer = error(400, { type: 'error', error: { type: 'invalid_request_error', message: 'too long' } });
    await expect(client.messages.create(request)).rejects.toThrow(Anthropic.BadRequestError);
    await expect(client.messages.create(request)).rejects.toMatchObject({ status: 429, error: { error: { type: 'billing_error' } } });
    expect(one.calls).toMatchObject([{ tries: 2, end: 'replied' }, { end: 'refused' }]);
    expect(one.ends).toHaveLength(1);
  });
});

describe('the package ai', () => {
  it('drives tools over a provider in the format of OpenAI, at once and streamed', async () => {
    const one = await session();
    const model = createOpenAICompatible({ name: 'gateway', baseURL: one.env.OPENAI_BASE_URL, apiKey: one.token })('tiny');
    const asked: unknown[] = [];
    const order = tool({
      inputSchema: jsonSchema<{ id: number }>(PARAMETERS as never),
      execute: async (args) => {
        asked.push(args);
        return { city: 'Bonn' };
      },
    });
    const request = { model, prompt: 'Where is order 7?', tools: { get_order: order }, stopWhen: stepCountIs(3), maxRetries: 0 };
    bed.answer = inTurn(
      callsTool,
      says('In Bonn.', { id: 'x', choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'In Bonn.' } }] }),
    );
    expect((await generateText(request)).text).toBe('In Bonn.');
    bed.answer = inTurn(streamsTool, streamsText);
    expect(await streamText(request).text).toBe('In Bonn.');
    expect(asked).toEqual([{ id: 7 }, { id: 7 }]);
    expect(JSON.stringify(bed.seen.at(-1)?.body['messages'])).toContain('Bonn');
    expect(one.calls).toMatchObject([counted, counted, counted, counted]);
  });
});

it.skipIf(!python.met)(skipTitle('the Python libraries of both, with nothing but their variables', python), async () => {
  const one = await session();
  bed.answer = (response, seen) => {
    const [whole, streamed] = seen.path.endsWith('/messages') ? [usesTool, streamsToolUse] : [callsTool, streamsTool];
    return (seen.body['stream'] === true ? streamed : whole)(response, seen);
  };
  const file = resolve('test/fixtures/agents/programs/libraries.py');
  const { stdout } = await promisify(execFile)('python3', [file], { env: { PATH: PYTHON_PATH, ...one.env } });
  expect(JSON.parse(stdout)).toEqual(Array(4).fill(['get_order', { id: 7 }]));
  expect(one.calls).toMatchObject([counted, counted, counted, counted]);
});
