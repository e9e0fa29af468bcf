import { pino } from 'pino';
import { expect, test } from 'vitest';
import { addConsoleToken } from '../../src/client/console-tokens.ts';
import { consoleApp } from '../../src/gateway/console/app.tsx';
import type { ConsoleBackend } from '../../src/gateway/console/backend.ts';
import { gatewayApp } from '../../src/gateway/http.ts';
import type { ConsoleKey } from '../../src/store/console-keys.ts';
import { type Environment, readConfig } from '../../src/worker/config.ts';

const log = pino({ level: 'silent' });

/** A store that has keys alone: nothing else is asked before somebody is in. */
function keys(): Pick<ConsoleBackend['store'], 'consoleKey' | 'putConsoleKey' | 'endConsoleKey' | 'audit'> {
  const stored = new Map<string, ConsoleKey>();
  return {
    consoleKey: async (name) => stored.get(name) ?? null,
    putConsoleKey: async (key) => void stored.set(key.name, key),
    endConsoleKey: async (name) => stored.delete(name),
    audit: async () => 1,
  };
}

function consoleAt(host: string, secure: boolean) {
  const store = keys();
  const backend = { store, bed: {}, temporalLink: () => null } as unknown as ConsoleBackend;
  const app = consoleApp({ backend, place: { hosts: new Set([host]), secure }, cookie: 'trialbed_1', instance: 'x', log });
  const ask = async (path: string, headers: Readonly<Record<string, string>>, body?: URLSearchParams) =>
    app.request(path, { headers: { host, ...headers }, ...(body && { method: 'POST', body }) });
  const signIn = async (headers: Readonly<Record<string, string>>) => {
    const { token } = await addConsoleToken(store, { holder: 'petra', roles: ['viewer'] }, new Date());
    const page = await ask('/console/sign-in', headers);
    const [, form = ''] = /name="form" value="([^"]+)"/.exec(await page.text()) ?? [];
    const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const answer = await ask('/console/sign-in', { ...headers, cookie }, new URLSearchParams({ form, key: token }));
    return { page, answer };
  };
  return { ask, signIn };
}

/** What a cookie carries beside its value. */
function flags(answer: Response, name: string): readonly string[] {
  const cookie = answer.headers.getSetCookie().find((one) => one.startsWith(`${name}=`)) ?? '';
  return cookie.split(/; */).slice(1).sort();
}

test('where the address says HTTPS every cookie is sent by that alone, whatever a proxy says of the way to it', async () => {
  const site = consoleAt('trialbed.example.com', true);
  for (const headers of [{}, { 'x-forwarded-proto': 'http' }, { forwarded: 'proto=http;host=evil.example' }]) {
    const { page, answer } = await site.signIn({ origin: 'https://trialbed.example.com', ...headers });
    expect(answer.status).toBe(303);
    expect(flags(page, 'trialbed_1_form')).toEqual(['HttpOnly', 'Path=/console', 'SameSite=Strict', 'Secure']);
    expect(flags(answer, 'trialbed_1')).toEqual(['HttpOnly', 'Path=/console', 'SameSite=Strict', 'Secure']);
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000');
  }
  // A page that was loaded without TLS sends no form on.
  expect((await site.signIn({ origin: 'http://trialbed.example.com' })).answer.status).toBe(403);
});

test('on this machine alone a cookie is sent without TLS, and no header of a request makes it another one', async () => {
  const site = consoleAt('127.0.0.1:7420', false);
  for (const headers of [{}, { 'x-forwarded-proto': 'https' }, { forwarded: 'proto=https' }, { 'x-forwarded-ssl': 'on' }]) {
    const { page, answer } = await site.signIn({ origin: 'http://127.0.0.1:7420', ...headers });
    expect(answer.status).toBe(303);
    for (const [from, name] of [
      [page, 'trialbed_1_form'],
      [answer, 'trialbed_1'],
    ] as const)
      expect(flags(from, name)).toEqual(['HttpOnly', 'Path=/console', 'SameSite=Strict']);
    expect(answer.headers.get('strict-transport-security')).toBeNull();
  }
  expect((await site.signIn({ origin: 'https://127.0.0.1:7420', 'x-forwarded-proto': 'https' })).answer.status).toBe(403);
  expect((await site.ask('/console/sign-in', { host: 'evil.example', 'x-forwarded-host': '127.0.0.1:7420' })).status).toBe(421);
});

test('a gateway has a console only while one is mounted, and lets nothing else through without a token', async () => {
  let mounted = false;
  const pages = { fetch: () => new Response('a page') };
  const app = gatewayApp(
    {
      tokens: { find: async () => ({ kind: 'nobody' }) },
      late: async () => {},
      local: true,
      draining: () => false,
      console: () => (mounted ? pages : null),
    },
    log,
  );
  const ask = async (path: string) => (await app.request(path, { headers: { host: '127.0.0.1:1' } })).status;
  expect([await ask('/console'), await ask('/console/batches')]).toEqual([401, 401]);
  mounted = true;
  expect([await ask('/console'), await ask('/console/batches')]).toEqual([200, 200]);
  expect([await ask('/tools'), await ask('/consoles'), await ask('/mcp')]).toEqual([401, 401, 401]);
});

test('a worker serves a console where it is told to: to its own machine, or by HTTPS', () => {
  const endpoints = { storeUrl: '', worldHosts: [], temporal: { address: '', namespace: '' } };
  const read = (env: Environment) => readConfig(env, endpoints).console;
  expect(read({})).toBeNull();
  expect(read({ TRIALBED_CONSOLE: '0', TRIALBED_LISTEN: '0.0.0.0' })).toBeNull();
  expect(read({ TRIALBED_CONSOLE: '1' })).toEqual({ url: null });
  expect(read({ TRIALBED_CONSOLE: 'https://trialbed.example.com/', TRIALBED_LISTEN: '0.0.0.0' })).toEqual({ url: 'https://trialbed.example.com' });
  expect(() => read({ TRIALBED_CONSOLE: '1', TRIALBED_LISTEN: '0.0.0.0' })).toThrow(/TRIALBED_CONSOLE: expected an address .* no TLS/);
  for (const wrong of ['yes', 'http://trialbed.example.com', 'https://x/path', 'https://user@x'])
    expect(() => read({ TRIALBED_CONSOLE: wrong }), wrong).toThrow(/TRIALBED_CONSOLE: expected 1, or an address/);
});
