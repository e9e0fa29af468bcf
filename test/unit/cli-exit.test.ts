import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NotFoundError } from '../../src/client/api.ts';
import { failureOf, UsageError } from '../../src/cli/exit.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { EnvironmentDefinitionError } from '../../src/environments/define.ts';
import { WorldGoneError } from '../../src/environments/world.ts';
import { SuiteFileError } from '../../src/suite/suite.ts';
import { ConfigError } from '../../src/worker/config.ts';
import { TestHost } from './cli-support.ts';

const systemError = (code: string): Error => Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code });

describe('which code an error ends the process with', () => {
  test.each([
    [new UsageError('no'), 2, 'usage'],
    [new NotFoundError('there is no trial x'), 2, 'not_found'],
    [new ConfigError(['X: expected y']), 2, 'config'],
    [new EnvironmentDefinitionError('desk', 'is odd'), 2, 'environment_definition'],
    [new SuiteFileError([{ file: 'a.yaml', line: 3, column: 5, message: 'unknown key', suggestion: 'title' }]), 2, 'suite_file'],
    [new WorldGoneError('w1'), 3, 'world_gone'],
    [systemError('ECONNREFUSED'), 3, 'ECONNREFUSED'],
    [new AggregateError([systemError('ECONNREFUSED'), systemError('ECONNREFUSED')]), 3, 'ECONNREFUSED'],
    [new AggregateError([new UsageError('no'), systemError('ECONNRESET')]), 3, 'ECONNRESET'],
    [new TypeError('x is not a function'), 3, 'unexpected'],
    [systemError('ERR_MODULE_NOT_FOUND'), 3, 'unexpected'],
    ['a string', 3, 'unexpected'],
    [undefined, 3, 'unexpected'],
    [new SuppressedError(systemError('ECONNRESET'), new UsageError('first'), 'both failed'), 2, 'usage'],
  ])('%s', (error, exit, code) => {
    expect(failureOf(error)).toMatchObject({ exit, code });
  });

  test('the same message of several errors is said once', () => {
    expect(failureOf(new AggregateError([systemError('ECONNREFUSED'), systemError('ECONNREFUSED')])).message).toBe('connect ECONNREFUSED 127.0.0.1:5432');
  });
});

test.each([
  [['import', 'workbench', 'x'], 'trialbed import workbench --help'],
  [['import', 'workbnch'], 'trialbed import --help'],
  [['run'], 'trialbed run --help'],
  [['runn'], 'trialbed --help'],
])('%j points to the help of that command', async (args, hint) => {
  const host = new TestHost();
  expect(await runCommandLine(args, host)).toBe(2);
  expect(host.stderr).toContain(`"${hint}"`);
});

test('an error of infrastructure points to doctor', async () => {
  const host = new TestHost({ client: systemError('ECONNREFUSED') });
  expect(await runCommandLine(['ps'], host)).toBe(3);
  expect(host.stderr).toContain('error: connect ECONNREFUSED');
  expect(host.stderr).toContain('trialbed doctor');
});

test('an error that nobody foresaw leaves its stack in the log, and the message says where', async () => {
  const home = await mkdtemp(join(tmpdir(), 'cli-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const host = new TestHost({ client: new TypeError('x is not a function') });
  expect(await runCommandLine(['ps', '--home', home], host)).toBe(3);
  const log = join(home, 'logs', 'errors.log');
  expect(host.stderr).toContain(`Its stack is in ${log}.`);
  expect(await readFile(log, 'utf8')).toMatch(/trialbed ps[\s\S]*TypeError: x is not a function\n {4}at /);
});

test('names in a message cannot steer the terminal', async () => {
  const host = new TestHost({ client: { show: async () => Promise.reject(new NotFoundError('there is no trial \u001b[2Jx')) } });
  expect(await runCommandLine(['show', 'x'], host)).toBe(2);
  expect(host.stderr).toContain('error: there is no trial \\x1b[2Jx');
});
