import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import type { Trialbed } from '../../src/client/api.ts';
import { TestHost } from './cli-support.ts';

const TOKEN = { name: 'Zq3', token: 'Zq3.secret', holder: 'Petra', roles: ['viewer', 'approver'] as const, expiresAt: '2026-06-01T00:00:00.000Z' };

test('a console that is served already is told with a link for the roles that were asked for, and the command ends', async () => {
  const asked: unknown[] = [];
  const console: Trialbed['console'] = async (options) => {
    asked.push(options);
    const link = async (roles: readonly string[]) => `http://127.0.0.1:7420/console/sign-in?link=${roles.join('+')}`;
    return { url: 'http://127.0.0.1:7420/console/', ours: false, link, async [Symbol.asyncDispose]() {} };
  };
  const host = new TestHost({ client: { console } });
  expect(await runCommandLine(['console', '--port', '7420', '--role', 'viewer', '--role', 'operator'], host)).toBe(0);
  expect(asked).toEqual([{ port: 7420 }]);
  expect(host.stdout).toBe('console  http://127.0.0.1:7420/console/\nsign in  http://127.0.0.1:7420/console/sign-in?link=viewer+operator\n');
  const json = new TestHost({ client: { console } });
  expect(await runCommandLine(['console', '--json'], json)).toBe(0);
  expect(JSON.parse(json.stdout)).toEqual({
    type: 'console',
    url: 'http://127.0.0.1:7420/console/',
    link: 'http://127.0.0.1:7420/console/sign-in?link=viewer+operator+approver+labeller',
    ours: false,
  });
});

test('a token is printed alone, so that it can be passed on; lists never have it', async () => {
  const asked: unknown[] = [];
  const host = new TestHost({
    client: {
      addConsoleToken: async (request) => {
        asked.push(request);
        return TOKEN;
      },
    },
  });
  expect(await runCommandLine(['console', 'token', 'add', '--name', 'Petra', '--role', 'approver', '--days', '7'], host)).toBe(0);
  expect(asked).toEqual([{ holder: 'Petra', roles: ['approver'], days: 7 }]);
  expect(host.stdout).toBe('Zq3.secret\n');
  const { token: _, ...listed } = { ...TOKEN, createdAt: '2026-03-01T00:00:00.000Z', state: 'valid' as const, holder: 'Petra \u001b[2J' };
  const list = new TestHost({ client: { consoleTokens: async () => [listed] } });
  expect(await runCommandLine(['console', 'token', 'list'], list)).toBe(0);
  expect(list.stdout).toMatch(/Zq3 +Petra \\x1b\[2J +viewer, approver +valid/);
});

test('a token is ended by its name; roles, ports and days that cannot be are refused before anything is asked', async () => {
  const ended: string[] = [];
  const host = new TestHost({ client: { revokeConsoleToken: async (name) => void ended.push(name) } });
  expect(await runCommandLine(['console', 'token', 'revoke', 'Zq3'], host)).toBe(0);
  expect(ended).toEqual(['Zq3']);
  for (const args of [
    ['console', '--role', 'admin'],
    ['console', '--port', '70000'],
    ['console', 'token', 'add', '--name', 'x', '--role', 'viewer', '--days', '0'],
    ['console', 'token', 'add', '--name', 'x'],
  ])
    expect(await runCommandLine(args, new TestHost())).toBe(2);
});
