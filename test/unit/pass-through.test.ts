import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { ModelBudget } from '../../src/domain/model-budget.ts';
import { type Answer, data, delta, inTurn, KEY, PassThroughBed, says, streams, USAGE } from '../harness/pass-through.ts';

let bed: PassThroughBed;
beforeAll(async () => {
  bed = await PassThroughBed.start();
});
afterAll(async () => {
  await bed[Symbol.asyncDispose]();
});

describe('a call of a model through the gateway', () => {
  it('goes to the route with its key, model and parameters, and comes back as it was', async () => {
    const one = await bed.session();
    bed.answer = says('Hi.');
    const response = await one.chat({ model: 'whatever', max_tokens: 5, user: one.token });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-request-id')).toBe('r-1');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hi.' } }] });
    const sent = bed.seen.at(-1);
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
    const one = await bed.session();
    bed.answer = says('Done.');
    const messages: Json[] = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: `I am ann@example.org, ${one.token}` },
    ];
    await one.chat({ messages });
    messages.push({ role: 'assistant', content: 'Done.', refusal: null }, { role: 'user', content: 'Thanks.' });
    bed.answer = says('Bye.');
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
    const one = await bed.session({ budget: { steps: 2 } });
    bed.answer = says('Hi.');
    const before = bed.seen.length;
    const statuses = (await Promise.all([1, 2, 3, 4].map(() => one.chat()))).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 429, 429]);
    const refused = await one.chat();
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.json()).toEqual({
      error: { message: 'The budget of 2 model calls is used up.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' },
    });
    expect(bed.seen.length - before).toBe(2);
    expect(one.calls).toHaveLength(2);
    expect(one.ends[0]).toBe('budget_exhausted: The budget of 2 model calls is used up.');
  });

  it.each<[string, Partial<ModelBudget>, number, string]>([
    ['tokens that are used up exactly', { tokens: 240 }, 2, 'The budget of 240 tokens is used up (240).'],
    ['tokens that were overdrawn', { tokens: 230 }, 2, 'The budget of 230 tokens is overdrawn (240).'],
    ['money', { money: [{ amount: 0.0006, currency: 'USD' }] }, 2, 'The budget of 0.0006 USD is used up (0.0006 USD).'],
  ])('is refused beyond %s', async (_, budget, served, words) => {
    const one = await bed.session({ budget });
    bed.answer = says('Hi.');
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await one.chat()).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(served);
    expect(one.ends[0]).toBe(`budget_exhausted: ${words}`);
  });

  it('goes on counting where an earlier worker has left off', async () => {
    bed.answer = says('Hi.');
    const first = await bed.session();
    await first.chat();
    const next = await bed.session({ budget: { steps: 2 }, before: { calls: first.calls, messages: first.kept.length } });
    expect([(await next.chat()).status, (await next.chat()).status]).toEqual([200, 429]);
    expect(next.calls.map(({ id }) => id)).toEqual(['gateway-2']);
    expect(next.kept.map(({ seq }) => seq)).toEqual([3, 4]);
  });

  it('whose budget nobody measures is the trouble of whoever set it', async () => {
    const one = await bed.session({ budget: { tokens: 100 } });
    bed.answer = says('Hi.', { usage: null });
    await one.chat();
    expect(one.ends.join()).toContain('a budget of tokens or money cannot be kept');
  });

  it('of a route is found by name or model; another is none', async () => {
    const one = await bed.session({
      routes: [bed.routeTo(), bed.routeTo({ name: 'large', model: 'huge', prices: null }), bed.routeTo({ name: 'claude', api: 'anthropic' })],
    });
    bed.answer = says('Hi.');
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
    const one = await bed.session({ routes: [bed.routeTo({ api: 'anthropic', url: bed.url })] });
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

describe('a provider in trouble', () => {
  const limited =
    (headers: { readonly [name: string]: string } = {}): Answer =>
    (response) =>
      response.writeHead(429, headers).end('{"error":{"message":"slow down"}}');
  const broken: Answer = (response) => response.writeHead(503, { 'retry-after-ms': '1' }).end();
  const gone: Answer = (response) => response.destroy();

  it('is asked again before the agent hears of it, at no cost of its time or its budget', async () => {
    const one = await bed.session({ routes: [bed.routeTo({ retries: 3 })], budget: { steps: 1 } });
    bed.answer = inTurn(gone, limited({ 'retry-after': '0' }), broken, says('Hi.'));
    const response = await one.chat();
    expect([response.status, await response.json()]).toMatchObject([200, { choices: [{ message: { content: 'Hi.' } }] }]);
    expect(one.calls).toMatchObject([{ tries: 4, end: 'replied', problem: null, usage: { input: 100 } }]);
    // While it waits for another try the agent waits for nobody of its own.
    expect(one.clock).toEqual([...Array(3).fill(['hold', 'release', 'give back']).flat(), 'hold', 'release']);
    expect(one.ends).toEqual([]);
  });

  it('to the last try is told as it is', async () => {
    const one = await bed.session({ routes: [bed.routeTo({ retries: 1 })] });
    bed.answer = inTurn(broken, limited({ 'retry-after': '0' }));
    const before = bed.seen.length;
    const response = await one.chat();
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '0']);
    expect(bed.seen.length - before).toBe(2);
    expect(one.calls).toMatchObject([{ tries: 2, end: 'failed', latencyMs: null, problem: { code: 'model_rate_limited' } }]);
  });

  it('is left alone for as long as it asks; a client that hangs up ends the wait', async () => {
    const one = await bed.session({ routes: [bed.routeTo({ retries: 3 })] });
    bed.answer = limited({ 'retry-after': '300' });
    const before = bed.seen.length;
    const leave = new AbortController();
    const left = one.chat({}, leave.signal).catch(String);
    // More than the pause without its word.
    await sleep(1_000);
    leave.abort();
    expect(await left).toContain('AbortError');
    await expect.poll(() => one.calls).toMatchObject([{ tries: 1, end: 'failed', usage: null, problem: { code: 'model_cut_off' } }]);
    expect(bed.seen.length - before).toBe(1);
    expect(one.clock.filter((heard) => heard === 'hold')).toHaveLength(one.clock.filter((heard) => heard === 'release').length);
  });

  it.each<[string, Answer, number]>([
    ['that has begun to reply', (response) => response.writeHead(200).write('{', () => response.destroy()), 200],
    ['that refuses', (response) => response.writeHead(400).end(), 400],
    ['whose account is empty', (response) => response.writeHead(429).end('{"error":{"code":"insufficient_quota"}}'), 429],
  ])('%s is not asked again', async (_, how, status) => {
    const one = await bed.session({ routes: [bed.routeTo({ retries: 3 })] });
    bed.answer = how;
    const before = bed.seen.length;
    const response = await one.chat();
    expect(response.status).toBe(status);
    await response.text().catch(() => {});
    expect(bed.seen.length - before).toBe(1);
    await expect.poll(() => one.calls).toMatchObject([{ tries: 1 }]);
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
    const one = await bed.session();
    bed.answer = how;
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
    const one = await bed.session();
    bed.answer = how;
    await one.chat();
    expect(one.ends).toHaveLength(1);
    expect(one.ends[0]).toContain('ModelError');
  });

  it('is never asked without its key', async () => {
    const one = await bed.session({ routes: [bed.routeTo({ key: 'NOT_SET' })] });
    const before = bed.seen.length;
    expect((await one.chat()).status).toBe(502);
    expect(bed.seen).toHaveLength(before);
    expect(one.ends[0]).toContain('NOT_SET');
  });

  it('that says nothing is left after the time of its route', async () => {
    const one = await bed.session({ routes: [bed.routeTo({ timeoutMs: 200 })] });
    bed.answer = () => {};
    expect((await one.chat()).status).toBe(504);
    expect(one.calls).toMatchObject([{ problem: { code: 'model_timeout' } }]);
  });

  it('that sends ten megabytes at once is passed on, event or document', async () => {
    const one = await bed.session();
    const much = 'x'.repeat(10 * 1024 * 1024);
    bed.answer = says(much);
    expect((await (await one.chat()).text()).length).toBeGreaterThan(much.length);
    bed.answer = streams([delta({ content: much }), data({ choices: [], usage: USAGE }), 'data: [DONE]\n\n']);
    expect((await (await one.chat({ stream: true })).text()).length).toBeGreaterThan(much.length);
    // A document of that size is not read for its tokens.
    expect(one.calls.map(({ usage }) => usage?.input ?? null)).toEqual([null, 100]);
    expect(JSON.stringify(one.kept).length).toBeLessThan(10_000);
  });
});
