import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ModelCall, priceOf, totalsOf } from '../../src/domain/model.ts';
import { type Redaction, redactJson, redactText } from '../../src/models/redact.ts';
import { readRoute, routeOf } from '../../src/suite/route-file.ts';
import { readYaml } from '../../src/suite/yaml-file.ts';
import { folderWith, problemsIn } from './suite-fixture.ts';

const PRICES = { currency: 'USD', input: 0.15, output: 0.6, cached: 0.075 };
const USAGE = { input: 1_000, output: 100, cached: 400, reasoning: 10 };

describe('price', () => {
  test('cached input has a price of its own, or that of other input', () => {
    expect(priceOf(USAGE, PRICES)).toEqual({ amount: 0.00018, currency: 'USD' });
    expect(priceOf({ ...USAGE, cached: null }, PRICES)).toEqual({ amount: 0.00021, currency: 'USD' });
    expect(priceOf(USAGE, { currency: 'EUR', input: 1, output: 1 })).toEqual({ amount: 0.0011, currency: 'EUR' });
  });

  test('without tokens or prices it is not measured, which is not 0', () => {
    expect(priceOf(null, PRICES)).toBeNull();
    expect(priceOf(USAGE, null)).toBeNull();
  });
});

describe('totals', () => {
  const call = (changes: Partial<ModelCall>): ModelCall => ({
    ...{ id: 'm', who: 'agent', agent: null, source: 'loop', route: 'tiny', url: null, model: 'tiny', reported: 'v1', parameters: {}, seed: null },
    ...{ usage: USAGE, price: { amount: 0.1, currency: 'USD' }, latencyMs: 10, tries: 1, end: 'replied', problem: null, at: '2026-03-02T08:00:00Z' },
    ...changes,
  });

  test('of no call are not measured', () => expect(totalsOf([])).toBeNull());

  test('add up exactly, by currency, and say how much is missing', () => {
    const calls = [
      call({}),
      call({ price: { amount: 0.2, currency: 'USD' }, tries: 3, reported: 'v2' }),
      call({ price: { amount: 1, currency: 'EUR' }, usage: null }),
      call({ price: null, usage: null }),
      call({ end: 'failed', tries: 4, price: null, usage: null, latencyMs: null, reported: null }),
    ];
    expect(totalsOf(calls)).toEqual({
      ...{ calls: 5, unanswered: 1, tokens: { input: 2_000, output: 200, cached: 800, reasoning: 20 }, cost: { USD: 0.3, EUR: 1 } },
      ...{ unmeasured: { tokens: 2, cost: 1 }, latencyMs: 40, failedTries: 6, versions: ['v1', 'v2'] },
    });
  });

  test('of calls that nobody counted have no tokens and no cost', () => {
    expect(totalsOf([call({ usage: null, price: null })])).toMatchObject({ tokens: null, cost: null });
  });
});

describe('redaction', () => {
  const redaction: Redaction = {
    secrets: { MODEL_KEY: 'hunter2-hunter2', SHORT: 'ab', LONGER: 'hunter2-hunter2-and-more' },
    addresses: 'keep',
    maxText: 10_000,
  };

  test.each([
    ['by name', 'it is hunter2-hunter2, ab', 'it is [redacted: MODEL_KEY], ab'],
    ['the longest of those that overlap', 'hunter2-hunter2-and-more', '[redacted: LONGER]'],
    ['a key', 'use sk-abcdefghijklmnop1234 now', 'use [redacted: api key] now'],
    ['an access key', 'AKIAIOSFODNN7EXAMPLE.', '[redacted: access key].'],
    ['a token', 'ghp_abcdefghijklmnopqrstuvwxyz', '[redacted: token]'],
    ['a signed token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', '[redacted: token]'],
    ['a private key', 'a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b', 'a [redacted: private key] b'],
    ['a header', 'Authorization: Bearer abc.def-123', 'Authorization: Bearer [redacted]'],
    ['a password', '{"password": "letmein123"}', '{"password": "[redacted]"}'],
    ['a URL', 'postgres://user:pa55word@host/db', 'postgres://user:[redacted]@host/db'],
    ['no address', 'write to ada@example.com', 'write to ada@example.com'],
  ])('%s', (_name, text, expected) => expect(redactText(text, redaction)).toBe(expected));

  test('addresses by policy: who it was is hidden, where it was is not', () => {
    expect(redactText('<ada.b+c@mail.example.com>, eve@x.org', { ...redaction, addresses: 'mask' })).toBe('<[redacted]@mail.example.com>, [redacted]@x.org');
  });

  test('of a value: every text, and what stands under the key of a secret', () => {
    expect(redactJson({ password: 'x', list: ['hunter2-hunter2', 1, null], 'hunter2-hunter2': true }, redaction)).toEqual({
      ...{ password: '[redacted]', list: ['[redacted: MODEL_KEY]', 1, null], '[redacted: MODEL_KEY]': true },
    });
  });

  test('is bounded, and a secret at the edge is hidden with its start', () => {
    const text = `${'x'.repeat(90)} sk-abcdefghijklmnop1234`;
    expect(redactText(text, { ...redaction, maxText: 100 })).toBe(`${'x'.repeat(90)} [redacted…`);
  });
});

describe('a route', () => {
  test('of a file has that file’s name, and defaults', async () => {
    await using folder = await folderWith({ 'tiny.yaml': 'url: http://127.0.0.1:1/v1/\nmodel: m\n', 'agent.yaml': 'route: ./tiny.yaml\n' });
    const expected = {
      ...{ name: 'tiny', api: 'openai', url: 'http://127.0.0.1:1/v1', model: 'm', key: null, parameters: {}, seed: null, prices: null },
      ...{ timeoutMs: 120_000, retries: 6, rate: { perMinute: null, atOnce: null } },
    };
    expect(await readRoute(join(folder.path, 'tiny.yaml'))).toEqual(expected);
    const source = await readYaml(join(folder.path, 'agent.yaml'));
    expect(await routeOf('./tiny.yaml', source, ['route'])).toEqual(expected);
    expect(await problemsIn(folder.path, () => routeOf('./tinny.yaml', source, ['route']))).toEqual([
      'agent.yaml:1:8 route: there is no file ./tinny.yaml, looked up from the folder of this file',
    ]);
  });

  test.each([
    ['url: ftp://x\nmodel: m\n', ':1:6 url: expected a URL with https or http'],
    ['url: https://me:secret@x/v1\nmodel: m\n', ':1:6 url: a URL with a password would stand in records; name the variable of the key under "key"'],
    ['url: https://x/v1\nmodel: m\nkey: sk-123\n', ':3:6 key: expected the name of an environment variable, never the key itself'],
    ['url: https://x/v1\nmodel: m\nparameters: { stream: true }\n', ':3:23 parameters.stream: "stream" is no parameter: replies are read as a whole'],
    ['url: https://x/v1\nmodel: m\nprises: {}\n', expect.stringMatching(/"prises".* \(prices\)$/)],
  ])('%s is refused with its place', async (text, expected) => {
    await using folder = await folderWith({ 'route.yaml': text });
    const [problem] = await problemsIn(folder.path, () => readRoute(join(folder.path, 'route.yaml')));
    expect(problem?.replace('route.yaml', '')).toEqual(expected);
  });
});
