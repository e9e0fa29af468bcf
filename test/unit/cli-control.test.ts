import { expect, test } from 'vitest';
import type { BatchStands, ControlReceipt } from '../../src/client/api.ts';
import { ControlRefusedError, ControlUnansweredError } from '../../src/client/control-errors.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { StandingLines } from '../../src/cli/standing-lines.ts';
import { TestHost } from './cli-support.ts';
import { trial } from './report-support.ts';

const RECEIPT: ControlReceipt = { batch: 'b1', state: 'running', hold: 'paused', concurrency: 8, inFlight: 3, served: true };

test('pause, resume and concurrency say how the batch stands now', async () => {
  const asked: unknown[] = [];
  const answer =
    (receipt: ControlReceipt) =>
    async (...args: unknown[]) => {
      asked.push(args);
      return receipt;
    };
  const client = {
    pause: answer(RECEIPT),
    resume: answer({ ...RECEIPT, hold: null, inFlight: null, served: false }),
    setConcurrency: answer({ ...RECEIPT, hold: null, concurrency: 50 }),
  };
  const paused = new TestHost({ client });
  expect(await runCommandLine(['pause', 'b1'], paused)).toBe(0);
  expect(paused.stdout).toBe('batch b1 is paused, with at most 8 trials in flight, 3 in flight now\n');
  const resumed = new TestHost({ client });
  expect(await runCommandLine(['resume', 'b1'], resumed)).toBe(0);
  expect(resumed.stdout).toBe('batch b1 is running, with at most 8 trials in flight\n');
  expect(resumed.stderr).toContain('trialbed worker');
  const json = new TestHost({ client });
  expect(await runCommandLine(['concurrency', 'b1', '50', '--json'], json)).toBe(0);
  expect(JSON.parse(json.stdout)).toEqual({ type: 'control', ...RECEIPT, hold: null, concurrency: 50 });
  expect(asked).toEqual([['b1'], ['b1'], ['b1', 50]]);
});

test('a number that no batch can have is refused before anything is started', async () => {
  for (const n of ['0', 'many', '10001']) {
    const host = new TestHost();
    expect(await runCommandLine(['concurrency', 'b1', n], host)).toBe(2);
  }
});

test('cancel tells what became of a batch or a trial', async () => {
  const batch = new TestHost({ client: { cancel: async () => ({ what: 'batch' as const, ...RECEIPT, state: 'cancelled' as const, hold: null }) } });
  expect(await runCommandLine(['cancel', 'b1'], batch)).toBe(0);
  expect(batch.stdout).toBe('batch b1 is cancelled\n');
  const summary = { ...trial({ ending: 'cancelled', pass: null, why: 'red \u001b[31m' }) };
  const one = new TestHost({ client: { cancel: async () => ({ what: 'trial' as const, batch: 'b1', summary }) } });
  expect(await runCommandLine(['cancel', 'b1-1'], one)).toBe(0);
  expect(one.stdout).toContain('cancelled');
  expect(one.stdout).not.toContain('\u001b');
});

test('what changes nothing ends with 2, what nobody answers with 3', async () => {
  const refused = new TestHost({ client: { pause: () => Promise.reject(new ControlRefusedError('batch b1: The batch is paused already.')) } });
  expect(await runCommandLine(['pause', 'b1'], refused)).toBe(2);
  expect(refused.stderr).toContain('paused already');
  const unanswered = new TestHost({ client: { pause: () => Promise.reject(new ControlUnansweredError('no worker answered')) } });
  expect(await runCommandLine(['pause', 'b1', '--json'], unanswered)).toBe(3);
  expect(JSON.parse(unanswered.stderr)).toMatchObject({ code: 'control_unanswered' });
});

test('whoever follows a batch is told once of each change', () => {
  const hint = (command: string) => `trialbed ${command}`;
  const lines = new StandingLines();
  const now = (change: Partial<BatchStands>): readonly string[] =>
    lines.lines({ type: 'stands', batch: 'b1', state: 'running', hold: null, concurrency: 8, ...change }, hint);
  expect(now({})).toEqual([]);
  expect(now({ hold: 'paused' })).toEqual([expect.stringContaining('trialbed resume b1')]);
  expect(now({ hold: 'paused', concurrency: 9 })).toEqual([expect.stringContaining('9 trials')]);
  expect(now({ concurrency: 9 })).toEqual(['resumed']);
  expect(now({ hold: 'cancelling', concurrency: 9 })).toEqual([expect.stringContaining('cancelled')]);
});
