import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BatchEvent, BatchHandle, Trialbed } from '../../src/client/api.ts';
import type { BatchSummary, TrialSummary } from '../../src/domain/trial.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { displayWidth } from '../../src/report/plain-text.ts';
import { TestHost } from './cli-support.ts';
import { reportData, reportTrial, trial } from './report-support.ts';

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'cli-run-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A client whose batch ends with these trials; `hangs`: it never ends by itself. */
function client(
  trials: readonly TrialSummary[],
  options: { readonly gate?: BatchSummary['gate']; readonly done?: number; readonly hangs?: boolean; readonly interrupted?: () => void } = {},
): Partial<Trialbed> {
  const data = reportData(trials.map((t) => reportTrial(t)));
  const summary: BatchSummary = { ...data.summary, gate: options.gate ?? 'not_met' };
  const done = options.done ?? 0;
  const handle: BatchHandle = {
    id: 'b1',
    resumed: done > 0,
    async *events(): AsyncGenerator<BatchEvent> {
      yield { type: 'batch', batch: 'b1', suite: 'support-desk', trials: trials.length, done, resumed: done > 0 };
      for (const t of trials.slice(done)) {
        yield { type: 'phase', trial: t.trial, case: t.case, schedule: t.schedule, agent: t.agent, phase: 'drive' };
        if (options.hangs) await new Promise(() => undefined);
        yield t;
      }
      yield summary;
    },
    result: async () => (options.hangs ? new Promise<never>(() => undefined) : summary),
    interrupt: async () => options.interrupted?.(),
  };
  return {
    run: async () => handle,
    worldsOf: async () => ({ held: 3, containers: 2, outlive: true }),
    results: async () => ({ batch: data.batch, trials, summary, facts: data.facts, today: data.today }),
    documents: async () => ({ cases: [], agents: [], schedules: [], approvals: [] }),
    show: async (id) => {
      const found = data.trials.find((t) => t.summary.trial === id);
      if (!found) throw new Error(id);
      const { kase } = await import('./trial-view-support.ts');
      return {
        trial: found.row,
        kase: kase(),
        schedule: null,
        attempts: [],
        record: null,
        messages: [],
        verdicts: [],
        lateRequests: [],
        modelCalls: [],
        conversation: [],
      };
    },
  };
}

const TRIALS = [trial({ case: 'a' }), trial({ case: 'a', agent: 'hasty', pass: 'fail', why: 'paid twice \u001b[31m| x' }), trial({ case: 'b' })];

describe('run --json', () => {
  test('prints one line per trial and last the summary on standard output, and nothing else', async () => {
    const host = new TestHost({ client: client(TRIALS) });
    const report = await folder();
    expect(await runCommandLine(['run', 'support-desk', '--json', '--report', report], host)).toBe(1);
    const lines = host.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; case?: string });
    expect(lines.map((line) => line.type)).toEqual(['trial', 'trial', 'trial', 'summary']);
    expect(lines[1]).toEqual(TRIALS[1]);
    expect(lines[3]).toMatchObject({ passed: 2, failed: 1, gate: 'not_met' });
    expect(await readFile(join(report, 'report.md'), 'utf8')).toContain('2 of 3 passed');
  });

  test('a batch that goes on prints its earlier trials as well, each once', async () => {
    const host = new TestHost({ client: client(TRIALS, { done: 2 }) });
    await runCommandLine(['run', 'support-desk', '--json', '--report', await folder()], host);
    const lines = host.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; trial: string });
    expect(lines.map((line) => line.type)).toEqual(['trial', 'trial', 'trial', 'summary']);
    expect(new Set(lines.slice(0, 3).map((line) => line.trial)).size).toBe(3);
  });
});

describe('exit codes of run', () => {
  test.each([
    ['met', [], 0],
    ['not_met', [], 1],
    ['infrastructure', [], 3],
    ['not_met', ['--no-gate'], 0],
    ['infrastructure', ['--no-gate'], 3],
    ['not_met', ['--gate', 'pass>=0%'], 0],
    ['not_met', ['--gate', 'pass>=0%', '--gate', 'pass>=1'], 1],
  ] as const)('gate %s with %j', async (gate, args, exit) => {
    const host = new TestHost({ client: client(TRIALS, { gate }) });
    expect(await runCommandLine(['run', 'support-desk', '--json', ...args, '--report', await folder()], host)).toBe(exit);
  });

  test('a report folder that cannot be made fails before a trial runs', async () => {
    const host = new TestHost();
    expect(await runCommandLine(['run', 'support-desk', '--report', '/dev/null/x'], host)).toBe(2);
    expect(host.stderr).toContain('the report cannot be written');
  });
});

describe('run for people', () => {
  test('what it tells people to type carries the home that it was given', async () => {
    const home = await folder();
    const host = new TestHost({ client: client(TRIALS) });
    await runCommandLine(['run', 'support-desk', '--home', home], host);
    expect(host.stdout).toContain(`trialbed show b1-a-hasty-1 --home ${home}\n`);
  });

  test('plain lines where there is no terminal: no escape, no colour, and text of agents made safe', async () => {
    const host = new TestHost({ client: client(TRIALS) });
    await runCommandLine(['run', 'support-desk', '--report', await folder()], host);
    expect(host.stdout).not.toContain('\u001b');
    expect(host.stdout).toMatch(/^a +hasty +completed +fail +paid twice \\x1b\[31m\| x$/m);
    expect(host.stdout).toMatch(/^case +reference +hasty$/m);
    expect(host.stdout).toMatch(/^a +pass +fail$/m);
    expect(host.stdout).toContain('2 passed, 1 failed, of 3');
    expect(host.stdout).toContain('trialbed show b1-a-hasty-1');
  });

  test.each([80, 60, 48])('a terminal of %i columns without colours gets the table without colours, and its cursor back', async (columns) => {
    const host = new TestHost({ client: client(TRIALS), terminal: { columns } });
    await runCommandLine(['run', 'support-desk', '--report', await folder()], host);
    expect(host.stdout).not.toMatch(/\u001b\[\d+m/);
    expect(host.stdout.lastIndexOf('\u001b[?25h')).toBeGreaterThan(host.stdout.lastIndexOf('\u001b[?25l'));
    const lines = host.stdout.split('\n').map((line) => line.replace(/\u001b\[[?\d]*[A-Za-z]|\r/g, ''));
    const wide = lines.filter((line) => displayWidth(line) > columns && !/^(report|timeline)/.test(line));
    expect(wide).toEqual([]);
  });

  test('a terminal with colours gets them', async () => {
    const host = new TestHost({ client: client(TRIALS), terminal: { columns: 120, colours: true } });
    await runCommandLine(['run', 'support-desk', '--report', await folder()], host);
    expect(host.stdout).toContain('\u001b[32mpass');
  });
});

describe('Ctrl-C', () => {
  test('what it breaks off while a batch starts is no failure of the services', async () => {
    const host = new TestHost({
      client: {
        run: async () => {
          host.signal('SIGINT');
          throw Object.assign(new Error('the worker could not start (SIGINT)'), { code: 'worker_ended' });
        },
      },
    });
    expect(await runCommandLine(['run', 'support-desk', '--report', await folder()], host)).toBe(130);
    expect(host.stderr).not.toContain('error:');
  });

  test('the first one interrupts the batch, says how to go on, and exits 130', async () => {
    const interrupted: string[] = [];
    const host = new TestHost({ client: client(TRIALS, { hangs: true, interrupted: () => interrupted.push('b1') }) });
    const exit = runCommandLine(['run', 'support-desk', '--json', '--report', await folder()], host);
    await expect.poll(() => host.stderr).toContain('3 trials, batch b1');
    host.signal('SIGINT');
    expect(await exit).toBe(130);
    expect(interrupted).toEqual(['b1']);
    expect(host.stderr).toContain('run the same command again');
    expect(host.stderr).toMatch(/3 worlds of running trials wait .* 2 in containers .*"trialbed down"/);
    expect(host.stdout).toBe('');
    expect(host.killed).toEqual([]);
  });

  test('the second one ends the process at once', async () => {
    const host = new TestHost({ client: client(TRIALS, { hangs: true }) });
    const exit = runCommandLine(['run', 'support-desk', '--report', await folder()], host);
    await expect.poll(() => host.stdout).toContain('batch b1');
    host.signal('SIGTERM');
    host.signal('SIGTERM');
    expect(await exit).toBe(143);
    expect(host.killed).toEqual([143]);
  });

  test('any other command lets go of its services as well', async () => {
    const ended: string[] = [];
    const hanging: Partial<Trialbed> = {
      sweep: () => new Promise(() => undefined),
      async [Symbol.asyncDispose]() {
        ended.push('released');
      },
    };
    const host = new TestHost({ client: hanging });
    const exit = runCommandLine(['sweep'], host);
    await new Promise((resolve) => setImmediate(resolve));
    host.signal('SIGINT');
    expect(await exit).toBe(130);
    expect(ended).toEqual(['released']);
  });
});
