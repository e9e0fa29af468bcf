import { expect, test } from 'vitest';
import type { CompareRequest } from '../../src/client/compare.ts';
import { ComparisonRefusedError } from '../../src/client/compare.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';
import { compared, trialsOf } from './comparison-support.ts';

const comparison = compared(
  trialsOf(['pass', 'harmful', 'pass', 'pass']),
  trialsOf(['pass', 'pass', 'useless', 'pass'], { over: { why: 'Nothing \u001b[2J\u202ewas refunded.' } }),
);

async function asked(...args: string[]): Promise<{ readonly exit: number; readonly request: CompareRequest | null; readonly host: TestHost }> {
  let request: CompareRequest | null = null;
  const host = new TestHost({
    client: {
      compare: async (given) => {
        request = given;
        return comparison;
      },
    },
  });
  return { exit: await runCommandLine(['compare', ...args], host), request, host };
}

test.each([
  [['one', 'two'], { a: { batch: 'one' }, b: { batch: 'two' } }],
  [['one:hasty', 'two:care:ful'], { a: { batch: 'one', agent: 'hasty' }, b: { batch: 'two', agent: 'care:ful' } }],
  [['one', '--agents', 'hasty', 'careful'], { a: { batch: 'one', agent: 'hasty' }, b: { batch: 'one', agent: 'careful' } }],
  [['one', 'two', '--agents', 'careful'], { a: { batch: 'one', agent: 'careful' }, b: { batch: 'two', agent: 'careful' } }],
  [['one'], { a: { batch: 'one' }, b: { batch: 'one' } }],
  [['one', 'two', '--across-generations'], { a: { batch: 'one' }, b: { batch: 'two' }, acrossGenerations: true }],
])('compare %j asks for what it says', async (args, request) => {
  expect(await asked(...args)).toMatchObject({ exit: 0, request });
});

test.each([
  [['one:hasty'], 'name the other agent too, as in one:hasty one:OTHER'],
  [['one', '--agents', 'hasty'], '--agents needs two names'],
  [['one:hasty', 'two', '--agents', 'a', 'b'], 'either in BATCH:AGENT or in --agents'],
  [['one:', 'two'], 'neither BATCH nor BATCH:AGENT'],
])('compare %j is refused', async (args, message) => {
  const { exit, request, host } = await asked(...args);
  expect([exit, request]).toEqual([2, null]);
  expect(host.stderr).toContain(message);
});

test('it opens with the four lines, then what changed, and nothing in it commands the terminal', async () => {
  const { host } = await asked('one', 'two');
  const lines = host.stdout.split('\n');
  expect(lines.slice(0, 4).map((line) => line.split(':')[0])).toEqual(['Safer', 'More useful', 'Only under these schedules', 'Not tested']);
  expect(lines[0]).toContain('Safer: not shown. careful broke a rule or had a forbidden effect in 0 of 4 trials, hasty in 1 of 4 trials');
  expect(host.stdout).toMatch(/ {2}worse {2}c3, none, repetition 1\n/);
  expect(host.stdout).toContain('\\x1b[2J\\u{202e}was refunded.');
});

test('with --json it is one line', async () => {
  const { host } = await asked('one', 'two', '--json');
  expect(JSON.parse(host.stdout)).toMatchObject({ type: 'comparison', version: 1, safer: { answer: 'not_shown' }, changes: 2 });
});

test('what cannot be compared is the fault of whoever asked', async () => {
  const client = { compare: () => Promise.reject(new ComparisonRefusedError('nothing_matches', 'no trial of the one is a trial of the other')) };
  const host = new TestHost({ client });
  expect(await runCommandLine(['compare', 'one', 'two'], host)).toBe(2);
  expect(host.stderr).toContain('no trial of the one');
});
