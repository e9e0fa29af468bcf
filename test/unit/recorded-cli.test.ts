import { describe, expect, test } from 'vitest';
import type { RegradeRunsRequest } from '../../src/client/api.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { RUN_FORMATS } from '../../src/recorded/formats.ts';
import { RecordedRunsError } from '../../src/recorded/run.ts';
import { agreementOf } from '../../src/report/agreement.ts';
import { TestHost } from './cli-support.ts';

const graded = {
  line: 1,
  model: 'm',
  tools: 'all',
  domain: 'email',
  task: 'email 0',
  error: '',
  calls: { made: 1, committed: 1, failed: 0, unreadable: 0, unknownTool: 0, invalidArguments: 0, denied: 0 },
  published: { correct: true, sideEffects: false, exact: true },
  byRules: { correct: true, sideEffects: false, exact: true },
  differences: [],
  product: { pass: 'pass', failures: [] },
} as const;
const agrees = agreementOf('workbench-runs', [graded], 0.5);
const line = ['regrade', '--from', 'workbench-runs', 'runs.jsonl', '--data', 'folder'];

function hostWith(regradeRuns: (request: RegradeRunsRequest) => Promise<typeof agrees>): TestHost {
  return new TestHost({ cwd: '/here', client: { regradeRuns } });
}

describe('regrade --from', () => {
  test('takes paths from the working folder and hands the options on', async () => {
    const asked: RegradeRunsRequest[] = [];
    const host = hostWith(async (request) => {
      asked.push(request);
      return agrees;
    });
    expect(await runCommandLine([...line, '--limit', '5', '--concurrency', '3'], host)).toBe(0);
    expect(asked).toMatchObject([
      { from: 'workbench-runs', file: '/here/runs.jsonl', data: '/here/folder', limit: 5, concurrency: 3, read: { data: '/', runs: [] } },
    ]);
    expect(host.stdout).toContain('1 runs: 1 correct, 0 with unwanted side effects, 1 exact; 0 only the product fails; 0 disagreements');
    expect(host.stderr).toContain('1 runs in 0.5 s, 2.0 runs a second');
  });

  test('with --json prints one object, progress on standard error', async () => {
    const host = hostWith(async (request) => {
      for (let done = 1; done <= 20; done++) request.onProgress?.(done, 20);
      return agrees;
    });
    expect(await runCommandLine([...line, '--json'], host)).toBe(0);
    const printed = JSON.parse(host.stdout);
    expect(printed).toMatchObject({ type: 'agreement', seconds: 0.5, totals: { n: 1, correct: 1, side_effects: 0, exact: 1, stricter: 0, disagreements: 0 } });
    expect(host.stderr.match(/of 20 runs/g)).toHaveLength(10);
  });

  test('exits 1 when a verdict disagrees', async () => {
    const host = hostWith(async () => agreementOf('f', [{ ...graded, byRules: { correct: false, sideEffects: false, exact: true } }], 1));
    expect(await runCommandLine(line, host)).toBe(1);
  });

  test('a file that is not right exits 2 with its lines', async () => {
    const host = hostWith(async () => {
      throw new RecordedRunsError(['runs.jsonl:3: row: expected number', 'runs.jsonl:9: this is no JSON: "x"']);
    });
    expect(await runCommandLine(line, host)).toBe(2);
    expect(host.stderr).toContain('error: runs.jsonl:3: row: expected number\nruns.jsonl:9: this is no JSON');
  });

  test('Ctrl-C raises the signal, waits until the worlds are given back, and exits 130', async () => {
    let released = false;
    const host = hostWith(async ({ signal }) => {
      setTimeout(() => host.signal('SIGINT'), 5);
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
      await new Promise((resolve) => setTimeout(resolve, 20));
      released = true;
      throw signal?.reason;
    });
    expect(await runCommandLine(line, host)).toBe(130);
    expect(released).toBe(true);
    expect(host.stdout).toBe('');
  });

  test.each([
    [['regrade', '--from', 'workbench-runs', 'f'], '--from needs --data DIR'],
    [['regrade', 'b1', '--limit', '3'], '--limit belongs to --from'],
    [['regrade', '--from', 'other', 'f', '--data', 'd'], 'Allowed choices are'],
    [[...line, '--limit', '0'], 'whole number from 1'],
  ])('%j is not valid', async (args, said) => {
    const host = new TestHost();
    expect(await runCommandLine(args, host)).toBe(2);
    expect(host.stderr).toContain(said);
  });

  test('offers every format that there is', async () => {
    const host = new TestHost();
    await runCommandLine(['regrade', '--help'], host);
    for (const format of RUN_FORMATS) expect(host.stdout).toContain(`"${format}"`);
  });
});
