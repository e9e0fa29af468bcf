import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { runRequest } from '../../src/cli/commands/run.ts';
import { assignment, commaList, gates, positiveInteger, shard } from '../../src/cli/options.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';

describe('values of options', () => {
  test.each([['0'], ['-1'], ['1.5'], ['1e3'], ['x'], [''], ['99999999999999999999']])('"%s" is no whole number from 1', (text) => {
    expect(() => positiveInteger(text)).toThrow(InvalidArgumentError);
  });

  test.each([
    ['1/1', { index: 1, of: 1 }],
    ['2/4', { index: 2, of: 4 }],
  ])('shard %s', (text, parts) => {
    expect(shard(text)).toEqual(parts);
  });

  test.each([['0/4'], ['5/4'], ['2'], ['2/0'], ['a/b'], ['1/2/3'], ['']])('"%s" is no shard', (text) => {
    expect(() => shard(text)).toThrow(InvalidArgumentError);
  });

  test.each([['pass>=1.1'], ['pass>=-0.1'], ['x'], [''], [' ']])('"%s" is no gate', (text) => {
    expect(() => gates(text, undefined)).toThrow(InvalidArgumentError);
  });

  test('values of the environment are JSON where they read as JSON, else text', () => {
    let all = assignment('limit=50', undefined);
    all = assignment('open=true', all);
    all = assignment('id=0012', all);
    all = assignment('query=a=b', all);
    all = assignment('list=["a"]', all);
    all = assignment('empty=', all);
    expect(all).toEqual({ limit: 50, open: true, id: '0012', query: 'a=b', list: ['a'], empty: '' });
    expect(() => assignment('limit=1', all)).toThrow('given twice');
    expect(() => assignment('limit', undefined)).toThrow('NAME=VALUE');
    expect(() => assignment('=1', undefined)).toThrow(InvalidArgumentError);
  });

  test('a name that every object has can be given once', () => {
    expect(assignment('constructor=1', {})).toEqual({ constructor: 1 });
  });

  test('lists with commas', () => {
    expect(commaList('email, project_management')).toEqual(['email', 'project_management']);
    expect(() => commaList('email,,x')).toThrow(InvalidArgumentError);
  });
});

test('options that were not given are not asked for, so that the defaults of the client hold', () => {
  expect(runRequest('s', {})).toEqual({ suite: 's' });
  expect(runRequest('s', { gate: false, agent: ['a'], case: ['c*'], lastFailed: true, trials: 2, shard: { index: 1, of: 2 }, with: { x: 1 } })).toEqual({
    suite: 's',
    agents: ['a'],
    cases: ['c*'],
    lastFailed: true,
    trials: 2,
    shard: { index: 1, of: 2 },
    environmentOptions: { x: 1 },
  });
});

describe('a command line that is not valid exits 2 and says what was meant', () => {
  test.each([
    [['rnu', 'x'], 'Did you mean run?'],
    [['run', 'x', '--tirals', '3'], 'Did you mean --trials?'],
    [['run'], "missing required argument 'suite'"],
    [['run', 'x', 'y'], 'too many arguments'],
    [['run', 'x', '--keep', 'sometimes'], 'Allowed choices are never, failed, always'],
    [['run', 'x', '--shard', '5/4'], 'PART/PARTS'],
    [['run', 'x', '--trials'], 'argument missing'],
    [['import', 'workbench', 'd'], "required option '--out <dir>' not specified"],
    [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish'],
    [['run', 'x', '--\u001b[31m'], "unknown option '--\\x1b[31m'"],
  ])('%j', async (args, said) => {
    const host = new TestHost();
    expect(await runCommandLine(args, host)).toBe(2);
    expect(host.stderr).toContain(said);
    expect(host.stderr).toMatch(/^error: /);
    expect(host.stdout).toBe('');
  });

  test('with --json the error is one line of JSON on standard error', async () => {
    const host = new TestHost();
    expect(await runCommandLine(['run', 'x', '--trials', '0', '--json'], host)).toBe(2);
    expect(JSON.parse(host.stderr)).toMatchObject({ type: 'error', code: 'usage', message: expect.stringContaining('whole number') });
    expect(host.stdout).toBe('');
  });

  test('without a command the help is shown, and it is still a usage error', async () => {
    const host = new TestHost();
    expect(await runCommandLine([], host)).toBe(2);
    expect(host.stderr).toContain('Usage: trialbed');
  });
});

/** Of those with commands below them, one. */
const WITH_COMMANDS: { readonly [name: string]: readonly string[] } = { import: ['workbench'], snapshot: ['restore'], keys: ['rotate'], schedule: ['nightly'] };

test('every command has help with examples, and --json', async () => {
  const program = new TestHost();
  expect(await runCommandLine(['--help'], program)).toBe(0);
  const commands = [...program.stdout.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1] ?? '').filter((name) => name !== 'help');
  const read = [
    'run',
    'report',
    'show',
    'trace',
    'compare',
    'replay',
    'watch',
    'ps',
    'why',
    'requeue',
    'reset',
    'fork',
    'regrade',
    'pause',
    'resume',
    'concurrency',
    'cancel',
    'approvals',
    'approve',
    'deny',
    'audit',
    'judge',
    'label',
    'agreement',
  ];
  const write = ['init', 'validate', 'record', 'contract', 'pin', 'schema', 'import'];
  expect(commands).toEqual([...read, ...write, 'doctor', 'up', 'down', 'console', 'worker', 'schedule', 'sweep', 'snapshot', 'purge', 'keys', 'completion']);
  for (const name of commands) {
    const host = new TestHost();
    expect(await runCommandLine([name, ...(WITH_COMMANDS[name] ?? []), '--help'], host)).toBe(0);
    expect(host.stdout, name).toMatch(/Examples:\n {2}\$ /);
    if (name !== 'completion') expect(host.stdout, name).toContain('--json');
  }
});
