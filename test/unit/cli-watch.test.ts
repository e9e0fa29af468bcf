import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BatchEvent, Trialbed, WatchedBatch } from '../../src/client/api.ts';
import { EndLines, Tick } from '../../src/cli/pace.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { progressLine, progressLines, runningLines } from '../../src/cli/progress-lines.ts';
import type { BatchProgress } from '../../src/domain/progress.ts';
import { displayWidth } from '../../src/report/plain-text.ts';
import { TestHost } from './cli-support.ts';
import { reportData, reportTrial, trial } from './report-support.ts';

const PROGRESS: BatchProgress = {
  ...{ type: 'progress', batch: 'b1', state: 'running', trials: 480, done: 120, running: 8, waiting: 352 },
  waits: { approval: 2, model: 4, turn: 346 },
  ...{ passed: 100, failed: 18, undetermined: 0, infraErrors: 2, userErrors: 0, cancelled: 0, seconds: 95.2, perMinute: 75.3, secondsLeft: 287 },
  slowest: [
    { trial: 'b1-x', case: 'refund-\u001b[2Jx', schedule: 'flaky', agent: 'careful', repetition: 3, attempt: 2, phase: 'drive', waits: 'model', seconds: 84 },
    { trial: 'b1-y', case: 'cancel', schedule: 'none', agent: 'careful', repetition: 1, attempt: 1, phase: 'fence', waits: null, seconds: 3 },
  ],
};

describe('where a batch stands', () => {
  test('in one line for a log', () => {
    expect(progressLine(PROGRESS)).toBe(
      "120 of 480 done, 8 running, 352 waiting (2 for an approval, 4 for a model's rate limit, 346 for their turn); 100 passed, 18 failed, 2 infrastructure errors, 75 a minute, 4 min 47 s left, 1 min 35 s",
    );
    const paused = { ...PROGRESS, state: 'paused', waiting: 352, waits: { paused: 352 }, secondsLeft: null, perMinute: null } as const;
    expect(progressLine(paused)).toContain('352 waiting for the batch to be resumed, paused; 100 passed');
    expect(progressLine(paused)).not.toMatch(/left|a minute/);
  });

  test.each([40, 48, 80, 200])('fits %i columns, and nothing in it moves the terminal', (columns) => {
    const lines = [...progressLines(PROGRESS, columns), ...runningLines(PROGRESS.slowest, columns)];
    expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([]);
    expect(lines.join('')).not.toContain('\u001b');
    expect(lines.join(' ')).toContain('1 min 24 s');
    expect(lines.join(' ')).toContain('drive');
  });

  test('a line every half minute, and after ten minutes every five', () => {
    const tick = new Tick();
    const due = Array.from({ length: 3000 }, (_, seconds) => seconds).filter((seconds) => tick.due(seconds));
    expect(due.slice(0, 3)).toEqual([30, 60, 90]);
    expect((due.at(-1) ?? 0) - (due.at(-2) ?? 0)).toBe(300);
    expect(due.length).toBeLessThan(32);
  });

  test('a batch of ten thousand has not ten thousand lines', () => {
    const lines = new EndLines(10_000);
    const shown = Array.from({ length: 10_000 }, (_, at) => lines.shows(trial({ case: `c${at}`, pass: at % 4 === 0 ? 'fail' : 'pass' })));
    expect(shown.filter((one) => one === 'line')).toHaveLength(100);
    expect(shown.filter((one) => one === 'last')).toHaveLength(1);
    const few = new EndLines(200);
    expect(Array.from({ length: 200 }, () => few.shows(trial({})))).toEqual(Array(200).fill('line'));
  });
});

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'cli-watch-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

const TRIALS = [trial({ case: 'a' }), trial({ case: 'b', pass: 'fail' })];

/** A client whose newest batch is watched; `hangs`: it does not end. */
function client(over: Partial<WatchedBatch> & { readonly hangs?: boolean } = {}, seen: unknown[] = []): Partial<Trialbed> {
  const data = reportData(TRIALS.map((t) => reportTrial(t)));
  const watched: WatchedBatch = {
    id: 'b1',
    async *events(): AsyncGenerator<BatchEvent> {
      yield { type: 'batch', batch: 'b1', suite: 'desk', trials: 2, done: 0, resumed: false };
      yield { ...PROGRESS, seconds: 31 };
      if (over.hangs) await new Promise(() => undefined);
      yield* TRIALS;
      yield data.summary;
    },
    result: async () => (over.hangs ? new Promise<never>(() => undefined) : { ...data.summary, gate: 'not_met' }),
    leave: () => seen.push('left'),
    work: 'others',
    why: null,
    ...over,
  };
  return {
    watch: async (batch) => {
      seen.push(batch);
      return watched;
    },
    results: async () => ({ batch: data.batch, trials: TRIALS, summary: data.summary, facts: data.facts, today: data.today }),
    documents: async () => ({ cases: [], agents: [], schedules: [], approvals: [] }),
    show: async (id) => {
      const found = data.trials.find((t) => t.summary.trial === id);
      if (!found) throw new Error(id);
      const { trialView } = await import('./trial-view-support.ts');
      return { ...trialView(), trial: found.row };
    },
  };
}

describe('watch', () => {
  test('ends as the run does: summary, report and exit code; without an id it is the newest batch', async () => {
    const seen: unknown[] = [];
    const host = new TestHost({ client: client({}, seen) });
    const home = await folder();
    expect(await runCommandLine(['watch', '--home', home], host)).toBe(1);
    expect(seen).toEqual([undefined]);
    expect(host.stdout).toContain('1 passed, 1 failed, of 2');
    expect(host.stdout).toContain('gate not met');
    expect(host.stdout).toContain(`report: ${join(home, 'reports', 'b1', 'report.md')}`);
    expect(host.stderr).toContain('120 of 480 done');
    const named = new TestHost({ client: client({}, seen) });
    expect(await runCommandLine(['watch', 'b1', '--no-gate', '--report', await folder()], named)).toBe(0);
    expect(seen.at(-1)).toBe('b1');
  });

  test('--json has a line for progress beside those of trials and the summary', async () => {
    const host = new TestHost({ client: client() });
    await runCommandLine(['watch', '--json', '--report', await folder()], host);
    const lines = host.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type)).toEqual(['progress', 'trial', 'trial', 'summary']);
    expect(lines[0]).toEqual({ ...PROGRESS, seconds: 31 });
  });

  test.each([
    ['others', null, 'is not watched any more, and goes on: "trialbed watch b1 --home /h" attaches again'],
    ['ours', null, 'its worker ended with the watching: "trialbed watch b1 --home /h" goes on from here'],
    ['nobody', 'agent x has changed', 'is not watched any more: "trialbed watch b1 --home /h" attaches again'],
  ] as const)('Ctrl-C where the work is of %s leaves the batch, and says what becomes of it', async (work, why, said) => {
    const seen: unknown[] = [];
    const host = new TestHost({ client: client({ work, why, hangs: true }, seen) });
    const exit = runCommandLine(['watch', '--home', '/h'], host);
    await expect.poll(() => host.stdout).toContain('batch b1');
    host.signal('SIGINT');
    expect(await exit).toBe(130);
    expect(seen).toEqual([undefined, 'left']);
    expect(host.stderr).toContain(said);
    if (work === 'ours') expect(host.stderr).toContain('nobody worked on batch b1: a worker was started');
    if (work === 'nobody') expect(host.stderr).toContain('none can be started here (agent x has changed)');
  });
});

describe('requeue', () => {
  const receipt = { trial: 'b1-x', batch: 'b1', state: 'running', attempt: 2, already: false, ended: false } as const;

  test.each([
    [receipt, 'attempt 2 is kept', 'the batch runs: "trialbed watch b1"'],
    [{ ...receipt, already: true }, 'in the queue already: nothing was changed', 'the batch runs'],
    [{ ...receipt, state: 'interrupted', ended: true }, 'has ended as cancelled', 'nobody works on the batch: "trialbed watch b1" goes on with it'],
  ] as const)('%j', async (given, first, second) => {
    const asked: unknown[] = [];
    const host = new TestHost({
      client: {
        requeue: async (...args) => {
          asked.push(args);
          return given;
        },
      },
    });
    expect(await runCommandLine(['requeue', 'b1-x', '--force'], host)).toBe(0);
    expect(asked).toEqual([['b1-x', { force: true }]]);
    expect(host.stdout).toContain(first);
    expect(host.stdout).toContain(second);
  });
});
