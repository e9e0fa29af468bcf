import { describe, expect, test } from 'vitest';
import type { ModelRoute } from '../../src/domain/model.ts';
import { createModelClient } from '../../src/models/client.ts';
import { ModelError } from '../../src/models/errors.ts';
import { calls, type ProviderAnswer, type ProviderRequest, says, startProvider } from '../harness/provider.ts';

const KEY = 'sk-unit-0123456789abcdef';
const SIGNAL = new AbortController().signal;
const HELLO = { messages: [{ role: 'user' as const, text: 'Hello' }], tools: [] };
const client = createModelClient({ variable: (name) => ({ MODEL_KEY: KEY, ODD_KEY: 'two words' })[name] });

function routeTo(url: string, changes: Partial<ModelRoute> = {}): ModelRoute {
  return {
    ...{ name: 'tiny', api: 'openai', url, model: 'tiny', key: 'MODEL_KEY', parameters: { temperature: 0.2 }, seed: 7 },
    ...{ prices: null, timeoutMs: 2_000, retries: 2, rate: { perMinute: null, atOnce: null } },
    ...changes,
  };
}

/** What asking a provider that answers so comes to. */
async function failing(answer: ProviderAnswer, changes: Partial<ModelRoute> = {}, limitMs?: number): Promise<ModelError> {
  await using provider = await startProvider(() => answer);
  const error: unknown = await client
    .ask(routeTo(provider.url, changes), HELLO, { signal: SIGNAL, ...(limitMs !== undefined && { limitMs }) })
    .catch((thrown: unknown) => thrown);
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`);
  return error;
}

describe('a request in the format of OpenAI', () => {
  test('carries messages, tools, parameters, seed and key; the reply is read with its tokens', async () => {
    await using provider = await startProvider(() => calls(['find', { id: 1 }], ['find', '{oops']));
    const reply = await client.ask(
      routeTo(provider.url),
      {
        messages: [
          { role: 'system', text: 'Be kind.' },
          { role: 'user', text: 'Find 1.' },
          { role: 'assistant', text: null, calls: [{ id: 'c1', tool: 'find', args: '{"id":1}' }] },
          { role: 'tool', call: 'c1', text: '{"state":"committed"}' },
        ],
        tools: [{ name: 'find', description: 'Finds', inputSchema: { type: 'object' } }],
      },
      { signal: SIGNAL },
    );
    expect(provider.requests).toEqual([
      {
        path: '/v1/chat/completions',
        headers: expect.objectContaining({ authorization: `Bearer ${KEY}` }),
        body: {
          ...{ model: 'tiny', temperature: 0.2, seed: 7 },
          messages: [
            { role: 'system', content: 'Be kind.' },
            { role: 'user', content: 'Find 1.' },
            { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"id":1}' } }] },
            { role: 'tool', tool_call_id: 'c1', content: '{"state":"committed"}' },
          ],
          tools: [{ type: 'function', function: { name: 'find', description: 'Finds', parameters: { type: 'object' } } }],
        },
      },
    ]);
    expect(reply).toEqual({
      text: null,
      calls: [
        { id: 'call-0', tool: 'find', args: '{"id":1}' },
        { id: 'call-1', tool: 'find', args: '{oops' },
      ],
      finish: 'tool_calls',
      reported: 'tiny-2026-01',
      usage: { input: 100, output: 20, cached: 40, reasoning: 5 },
      latencyMs: expect.any(Number),
    });
  });

  test('tokens that are not reported, or in another way, are not measured', async () => {
    for (const usage of [null, { prompt_tokens: 'many', completion_tokens: 2 }]) {
      await using provider = await startProvider(() => says('Hi.', usage));
      expect(await client.ask(routeTo(provider.url), HELLO, { signal: SIGNAL })).toMatchObject({ text: 'Hi.', usage: null });
    }
  });
});

test('a request in the format of Anthropic: turns alternate, tools answer as the user, cached tokens count as input', async () => {
  await using provider = await startProvider(() => ({
    json: {
      model: 'other-1',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 't2', name: 'find', input: { id: 2 } },
      ],
      usage: { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 30 },
    },
  }));
  const reply = await client.ask(
    routeTo(provider.url.replace('/v1', ''), { api: 'anthropic' }),
    {
      messages: [
        { role: 'system', text: 'Be kind.' },
        { role: 'user', text: 'Find.' },
        {
          role: 'assistant',
          text: null,
          calls: [
            { id: 'a', tool: 'find', args: '{"id":1}' },
            { id: 'b', tool: 'find', args: 'oops' },
          ],
        },
        { role: 'tool', call: 'a', text: 'one' },
        { role: 'tool', call: 'b', text: 'none' },
      ],
      tools: [{ name: 'find', description: 'Finds', inputSchema: { type: 'object' } }],
    },
    { signal: SIGNAL },
  );
  const [request] = provider.requests;
  expect(request?.path).toBe('/v1/messages');
  expect(request?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
  expect(request?.body).toEqual({
    ...{ max_tokens: 4096, temperature: 0.2, model: 'tiny', system: 'Be kind.' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Find.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'find', input: { id: 1 } },
          { type: 'tool_use', id: 'b', name: 'find', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'one' },
          { type: 'tool_result', tool_use_id: 'b', content: 'none' },
        ],
      },
    ],
    tools: [{ name: 'find', description: 'Finds', input_schema: { type: 'object' } }],
  });
  expect(reply).toMatchObject({
    text: 'Looking.',
    calls: [{ id: 't2', tool: 'find', args: '{"id":2}' }],
    usage: { input: 40, output: 4, cached: 30, reasoning: null },
  });
});

describe('what a provider answers instead of a reply', () => {
  test.each<[string, ProviderAnswer, Partial<ModelError>]>([
    ['limited', { status: 429, headers: { 'retry-after': '3' } }, { kind: 'passing', code: 'model_rate_limited', retryAfterMs: 3_000 }],
    ['limited, in milliseconds', { status: 429, headers: { 'retry-after-ms': '250', 'retry-after': '9' } }, { kind: 'passing', retryAfterMs: 250 }],
    ['limited for hours', { status: 429, headers: { 'retry-after': '90000' } }, { kind: 'passing', retryAfterMs: 300_000 }],
    ['an empty account', { status: 429, json: { error: { code: 'insufficient_quota', message: 'pay' } } }, { kind: 'setup', code: 'model_quota' }],
    ['broken', { status: 503, text: 'upstream' }, { kind: 'passing', code: 'model_unavailable', retryAfterMs: null }],
    ['no JSON', { text: '<html>' }, { kind: 'passing', code: 'model_malformed' }],
    ['no choice', { json: { choices: [] } }, { kind: 'passing', code: 'model_malformed' }],
    ['silent', { hang: true }, { kind: 'passing', code: 'model_timeout' }],
    [
      'a wrong key',
      { status: 401, json: { error: { message: 'no' } } },
      { kind: 'setup', message: 'tiny answered 401: no; the key is that of the variable MODEL_KEY' },
    ],
    ['an unknown model', { status: 404, json: { error: 'no such model' } }, { kind: 'setup', message: 'tiny answered 404: no such model' }],
    ['too long a conversation', { status: 400, json: { error: { message: 'too long' } } }, { kind: 'refused', code: 'model_refused' }],
  ])('%s', async (_name, answer, expected) => {
    expect(await failing(answer, { timeoutMs: 300 })).toMatchObject(expected);
  });

  test('elsewhere: the key is not sent there', async () => {
    await using other = await startProvider(() => says('I have the key.'));
    expect(await failing({ status: 307, headers: { location: `${other.url}/chat/completions` } })).toMatchObject({ kind: 'setup', code: 'model_setup' });
    expect(other.requests).toEqual([]);
  });

  test('the key itself: no message shows it', async () => {
    const { message } = await failing({ status: 400, json: { error: { message: `I do not like ${KEY}` } } });
    expect(message).toBe('tiny answered 400: I do not like [redacted: MODEL_KEY]');
  });

  test('nothing in the time that is left', async () => {
    expect(await failing({ hang: true }, {}, 50)).toMatchObject({ kind: 'refused', code: 'out_of_time' });
  });
});

test('a key that is not set, or can be none, is nobody else’s failure, and is not shown', async () => {
  await using provider = await startProvider(() => says('Hi.'));
  const ask = (key: string) => client.ask(routeTo(provider.url, { key }), HELLO, { signal: SIGNAL });
  await expect(ask('NO_KEY')).rejects.toMatchObject({ kind: 'setup', code: 'no_key', message: expect.stringContaining('NO_KEY') });
  await expect(ask('ODD_KEY')).rejects.toMatchObject({ kind: 'setup', message: expect.not.stringContaining('two words') });
  expect(provider.requests).toEqual([]);
});

test('what is sent at once is limited, and a call that was given up leaves its turn to the next', async () => {
  const answers: (() => void)[] = [];
  let most = 0;
  let now = 0;
  const answer = async (_request: ProviderRequest) => {
    most = Math.max(most, ++now);
    await new Promise<void>((resolve) => answers.push(resolve));
    now--;
    return says('Hi.');
  };
  await using provider = await startProvider(answer);
  const route = routeTo(provider.url, { rate: { perMinute: 60_000, atOnce: 2 }, timeoutMs: 20_000 });
  const leaving = new AbortController();
  const asked = [SIGNAL, SIGNAL, leaving.signal, SIGNAL, SIGNAL].map((signal) =>
    client.ask(route, HELLO, { signal }).then(
      ({ text }) => text,
      () => 'left',
    ),
  );
  await expect.poll(() => answers.length).toBe(2);
  leaving.abort();
  for (let given = 0; given < 4; given++) {
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    answers.shift()?.();
  }
  expect(await Promise.all(asked)).toEqual(['Hi.', 'Hi.', 'left', 'Hi.', 'Hi.']);
  expect(most).toBe(2);
});

test('a call that waits for its turn tells for how long', async () => {
  await using provider = await startProvider(() => says('Hi.'));
  const route = routeTo(provider.url, { rate: { perMinute: 600, atOnce: null } });
  const waits: number[] = [];
  await client.ask(route, HELLO, { signal: SIGNAL, waits: (ms) => waits.push(ms) });
  expect(waits).toEqual([]);
  await client.ask(route, HELLO, { signal: SIGNAL, waits: (ms) => waits.push(ms) });
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThan(0);
  expect(waits[0]).toBeLessThanOrEqual(100);
});
