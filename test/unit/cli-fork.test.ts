import { expect, test } from 'vitest';
import type { ForkReceipt, ForkRequest, ResetReceipt } from '../../src/client/api.ts';
import { PointRefusedError } from '../../src/client/points/errors.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';

const FORK: ForkReceipt = {
  trial: 'f1-2',
  batch: 'f1',
  source: { trial: 'b1-2', attempt: 1 },
  point: 'op-3',
  calls: 3,
  agent: 'red \u001b[31m',
  schedule: 'none',
};
const RESET: ResetReceipt = {
  ...{ trial: 'b1-2', batch: 'b1', state: 'running', attempt: 1, already: false },
  ...{ how: 'attempt', point: 'op-1', calls: 1, ended: true, event: null },
};

test('fork makes a trial, tells where it comes from and, unless told otherwise, runs it', async () => {
  const asked: unknown[] = [];
  const fork = async (trial: string, request: ForkRequest) => {
    asked.push([trial, request]);
    return FORK;
  };
  const made = new TestHost({ client: { fork } });
  expect(await runCommandLine(['fork', 'b1-2', '--at', 'op-3', '--agent', 'careful', '--faults', 'none', '--no-start'], made)).toBe(0);
  expect(made.stdout).toContain('trial f1-2 goes on from attempt 1 of b1-2 after op-3');
  expect(made.stdout).toContain('"trialbed watch f1" runs it');
  expect(made.stdout).not.toContain('\u001b');
  const json = new TestHost({ client: { fork } });
  expect(await runCommandLine(['fork', 'b1-2', '--at', 'op-3', '--no-start', '--json'], json)).toBe(0);
  expect(JSON.parse(json.stdout)).toEqual({ type: 'fork', ...FORK });
  expect(asked).toEqual([
    ['b1-2', { at: 'op-3', agent: 'careful', faults: 'none' }],
    ['b1-2', { at: 'op-3' }],
  ]);
  const watched: unknown[] = [];
  const run = new TestHost({
    client: {
      fork,
      watch: (batch) => {
        watched.push(batch);
        return Promise.reject(new PointRefusedError('f1-2', 'watched'));
      },
    },
  });
  await runCommandLine(['fork', 'b1-2', '--at', 'op-3'], run);
  expect(watched).toEqual(['f1']);
});

test('reset tells what goes on, and what became of the attempt that ran', async () => {
  const reset = async () => RESET;
  const host = new TestHost({ client: { reset } });
  expect(await runCommandLine(['reset', 'b1-2', '--to', 'op-1'], host)).toBe(0);
  expect(host.stdout.split('\n').slice(0, 3)).toEqual([
    'attempt 1 of b1-2 has ended as cancelled, and is kept',
    'the next attempt of b1-2 goes on in a fresh world after op-1: its first 1 call is answered from the record',
    'batch b1 runs: "trialbed watch b1" shows it',
  ]);
  const json = new TestHost({ client: { reset } });
  expect(await runCommandLine(['reset', 'b1-2', '--to', 'op-1', '--json'], json)).toBe(0);
  expect(JSON.parse(json.stdout)).toEqual({ type: 'reset', ...RESET });
  const wedged = new TestHost({ client: { reset: async () => ({ ...RESET, how: 'temporal', event: 57 }) } });
  expect(await runCommandLine(['reset', 'b1-2', '--to', '57'], wedged)).toBe(0);
  expect(wedged.stdout).toContain('goes on from event 57 of its history, in its own world');
});

test('a point that cannot be is an error of the command line, and so is none', async () => {
  const refused = new TestHost({ client: { reset: () => Promise.reject(new PointRefusedError('b1-2', 'there is no point op-9; did you mean op-8?')) } });
  expect(await runCommandLine(['reset', 'b1-2', '--to', 'op-9', '--json'], refused)).toBe(2);
  expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'point_refused', message: expect.stringContaining('op-8') });
  for (const command of ['fork', 'reset']) expect(await runCommandLine([command, 'b1-2'], new TestHost())).toBe(2);
});

test('both are completed with their options, and help shows examples', async () => {
  const script = new TestHost();
  await runCommandLine(['completion', 'bash'], script);
  expect(script.stdout).toMatch(/'fork'\) words='[^']*--at --agent --faults/);
  expect(script.stdout).toMatch(/'reset'\) words='[^']*--to/);
  for (const command of ['fork', 'reset']) {
    const help = new TestHost();
    expect(await runCommandLine([command, '--help'], help)).toBe(0);
    expect(help.stdout).toContain(`$ trialbed ${command} ksu672m9bf-1f2a09c4`);
  }
});
