import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { NotFoundError } from '../../src/client/api.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';
import { lostReply } from './trace-support.ts';

const cwd = await mkdtemp(join(tmpdir(), 'trialbed-cli-trace-'));
afterAll(() => rm(cwd, { recursive: true, force: true }));

test('trace writes a file that its owner alone may read, prints its name, and says what is in it', async () => {
  const asked: unknown[] = [];
  const trace = async (...given: unknown[]) => {
    asked.push(given);
    return lostReply();
  };
  const host = new TestHost({ client: { trace }, cwd });
  expect(await runCommandLine(['trace', 'b1-a'], host)).toBe(0);
  const file = join(cwd, 'trace-b1-abc.html');
  expect(host.stdout).toBe(`${file}\n`);
  expect(host.stderr).toContain('in clear');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toMatch(/^<!doctype html>/);
  expect(await runCommandLine(['trace', 'b1-a', '--attempt', '1', '--out', 'other.html', '--json'], host)).toBe(0);
  expect(JSON.parse(host.stdout.split('\n')[1] ?? '')).toMatchObject({ type: 'trace', file: join(cwd, 'other.html'), focus: 4 });
  expect(asked).toEqual([
    ['b1-a', {}],
    ['b1-a', { attempt: 1 }],
  ]);
  // Nothing is left half.
  expect((await readdir(cwd)).sort()).toEqual(['other.html', 'trace-b1-abc.html']);
});

test('a trial that is not there writes nothing', async () => {
  const trace = () => Promise.reject(new NotFoundError('there is no trial b9'));
  const host = new TestHost({ client: { trace }, cwd });
  expect(await runCommandLine(['trace', 'b9', '--out', 'none.html'], host)).toBe(2);
  expect(host.stderr).toContain('there is no trial b9');
  expect(await readdir(cwd)).not.toContain('none.html');
});
