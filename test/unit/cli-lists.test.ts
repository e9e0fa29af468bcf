import { describe, expect, test } from 'vitest';
import type { RunningRow, ValidationReport, ValidationResult } from '../../src/client/api.ts';
import { validationReport } from '../../src/client/validation-report.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';
import { reportData, reportTrial, trial } from './report-support.ts';

const result = (over: Partial<ValidationResult>): ValidationResult => ({
  case: 'refund',
  file: '/suites/desk/cases/refund.yaml',
  variant: 'reference',
  description: 'the reference solution',
  verdict: 'pass',
  ok: true,
  explained: null,
  line: 40,
  why: null,
  sameEnd: over.verdict !== 'fail',
  findings: [],
  ...over,
});

const LABELS: ValidationReport['labels'] = [
  { case: 'refund', tags: ['mail', 'money'], severity: 'critical', quarantine: { reason: 'the fixture lags', owner: 'mara', until: '2027-01-31' } },
];

function validation(results: readonly ValidationResult[], ok: boolean): ValidationReport {
  return { ...validationReport('desk', LABELS, results, []), ok };
}

const RESULTS = [
  result({}),
  result({ variant: 'do-nothing', verdict: 'fail' }),
  result({ variant: 'drop:2', verdict: 'fail', description: 'the second write is left out' }),
  result({ variant: 'amount:1', ok: false, description: 'amount 25 becomes 26', line: 17 }),
  result({ variant: 'repeat:1', explained: 'the tool refuses a second refund' }),
];

describe('validate', () => {
  test('prints each surviving mutant with the line to mend, the explained ones, and the kill rate', async () => {
    const host = new TestHost({ client: { validate: async () => validation(RESULTS, false) }, cwd: '/suites' });
    expect(await runCommandLine(['validate', 'desk'], host)).toBe(1);
    expect(host.stdout).toContain('fails refund: 1 of 3 mutants killed  critical; mail, money; in quarantine until 2027-01-31 (mara: the fixture lags)\n');
    expect(host.stdout).toContain('1 case (1 critical; 1 in quarantine), 3 mutants');
    expect(host.stdout).toMatch(/desk\/cases\/refund\.yaml:17\n +mutant amount:1 survives: amount 25 becomes 26/);
    expect(host.stdout).toContain('repeat:1 passes, explained: the tool refuses a second refund');
    expect(host.stdout).toContain('3 mutants: 1 killed, 1 explained, 1 survived; kill rate 33.3 %');
  });

  test('counts each kind of mutant, and by finding those that failed in the accepted end state', async () => {
    const mutants = [
      result({ variant: 'repeat:1', verdict: 'fail', sameEnd: true, findings: ['refused_repeat', 'refused_repeat'] }),
      result({ variant: 'repeat:2', verdict: 'fail', sameEnd: true, findings: ['repeated_write'] }),
      result({ variant: 'repeat:3', verdict: 'fail', findings: ['forbidden_effect', 'repeated_write'] }),
      result({ variant: 'drop:1', explained: 'a later call overwrites it' }),
      result({ variant: 'drop:2', verdict: 'infra_error', ok: false, sameEnd: false, explained: 'a later call overwrites it' }),
    ];
    const report = validationReport('desk', LABELS, mutants, []);
    expect(report.kinds).toEqual([
      { kind: 'repeat', made: 3, killed: 3, explained: 0, survived: 0, sameEnd: { made: 2, findings: { refused_repeat: 1, repeated_write: 1 } } },
      { kind: 'drop', made: 2, killed: 0, explained: 1, survived: 1, sameEnd: { made: 1, findings: {} } },
    ]);
    const host = new TestHost({ client: { validate: async () => report } });
    await runCommandLine(['validate', 'desk'], host);
    expect(host.stdout).toMatch(/repeat +3 +3 +0 +0 +2 \(1 refused_repeat, 1 repeated_write\)\n/);
    expect(host.stdout).toMatch(/drop +2 +0 +1 +1 +1\n/);
  });

  test('a terminal that was never told its size shows its tables', async () => {
    const report = validationReport('desk', LABELS, [result({ variant: 'drop:1', verdict: 'fail' })], []);
    const host = new TestHost({ client: { validate: async () => report }, terminal: { columns: 0 } });
    await runCommandLine(['validate', 'desk'], host);
    expect(host.stdout).toMatch(/mutant +made +killed/);
  });

  test('warns of rules that test nothing, and the suite is valid nevertheless', async () => {
    const warnings = [{ file: '/suites/desk/faults/lost.yaml', line: 3, column: null, message: 'faults[0]: can never fire', suggestion: null }];
    const report = { ...validation(RESULTS, true), warnings };
    const host = new TestHost({ client: { validate: async () => report }, cwd: '/suites' });
    expect(await runCommandLine(['validate', 'desk'], host)).toBe(0);
    expect(host.stdout).toContain('warns desk/faults/lost.yaml:3 faults[0]: can never fire');
    const json = new TestHost({ client: { validate: async () => report } });
    await runCommandLine(['validate', 'desk', '--json'], json);
    expect(JSON.parse(json.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ type: 'summary', warnings });
  });

  test('trouble of the test bed is not a verdict on the suite', async () => {
    const host = new TestHost({ client: { validate: async () => validation([result({ verdict: 'infra_error', ok: false })], false) } });
    expect(await runCommandLine(['validate', 'desk'], host)).toBe(3);
  });

  test('--json prints each variant and last the counts; progress goes to standard error', async () => {
    const host = new TestHost({
      client: {
        validate: async (_suite, options) => {
          for (let done = 1; done <= 20; done++) options?.onProgress?.(done, 20);
          return validation(RESULTS, true);
        },
      },
    });
    expect(await runCommandLine(['validate', 'desk', '--json', '--no-mutants'], host)).toBe(0);
    const lines = host.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map((line) => line.type)).toEqual([...RESULTS.map(() => 'validation'), 'summary']);
    expect(lines.at(-1)).not.toHaveProperty('results');
    expect(host.stderr.trimEnd().split('\n')).toHaveLength(10);
  });
});

const RUNNING: RunningRow = {
  ...{ trial: 'b0-x', batch: 'b0', case: 'refund', schedule: 'flaky', agent: 'careful', repetition: 1, attempt: 2, phase: 'drive' },
  ...{ waits: 'worker', seconds: 84, outage: null },
};

describe('ps', () => {
  test('lists batches with how far they are', async () => {
    const { batch } = reportData([reportTrial(trial())]);
    const rows = [batch, { ...batch, id: 'b0', state: 'interrupted', done: 0 }, { ...batch, id: 'b2', state: 'running', hold: 'paused' }] as const;
    const outcomes = new Map([['b1', { passed: 1, failed: 0, undetermined: 2, infraErrors: 3, cancelled: 0 }]]);
    const client = { batches: async () => rows, outcomes: async () => outcomes, running: async () => [RUNNING, { ...RUNNING, batch: 'b9' }] };
    const host = new TestHost({ client });
    expect(await runCommandLine(['ps', '--home', '/h'], host)).toBe(0);
    expect(host.stdout).toMatch(/^b1 +finished +1\/1 +1 +0 +2 undetermined, 3 infra .*support-desk$/m);
    expect(host.stdout).toMatch(/^b0 +interrupted +0\/1/m);
    expect(host.stdout).toMatch(/^b2 +paused +1\/1/m);
    expect(host.stderr).toContain('nobody works on an interrupted batch');
    expect(host.stderr).toContain('"trialbed watch b0 --home /h"');
    expect(host.stdout).toMatch(/^b0-x +drive +1 min 24 s +2 +refund +careful \/ flaky +a worker$/m);
    expect(host.stdout.match(/^b0-x/gm)).toHaveLength(1);
    const json = new TestHost({ client });
    await runCommandLine(['ps', '--json'], json);
    const lines = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type)).toEqual(['batch', 'batch', 'batch', 'running']);
    expect(lines[0]).toMatchObject({ outcomes: { passed: 1 } });
    expect(lines[3]).toEqual({ type: 'running', ...RUNNING });
  });

  test('lists trials of a batch, those in work first', async () => {
    const done = reportTrial(trial({ case: 'a', pass: 'fail' })).row;
    const driving = { ...reportTrial(trial({ case: 'b' })).row, phase: 'drive', summary: null } as const;
    const host = new TestHost({ client: { trials: async () => [done, driving], running: async () => [{ ...RUNNING, trial: driving.id }] } });
    expect(await runCommandLine(['ps', 'b1'], host)).toBe(0);
    const lines = host.stdout.split('\n');
    expect(lines[1]).toMatch(/^drive +b .* 1 min 24 s, waits for a worker /);
    expect(lines[2]).toMatch(/^done +a .* fail /);
    expect(host.stdout).toContain('drive 1, done 1');
  });

  test('says what makes a batch when there is none', async () => {
    const host = new TestHost({ client: { batches: async () => [], outcomes: async () => new Map(), running: async () => [] } });
    await runCommandLine(['ps'], host);
    expect(host.stdout).toContain('trialbed run SUITE');
  });
});

test('regrade lists what changed', async () => {
  const host = new TestHost({
    client: {
      regrade: async () => ({
        batch: 'b1',
        regraded: 3,
        unchanged: 2,
        changed: [{ trial: 'b1-x', case: 'a', agent: 'hasty', from: 'fail', to: 'pass', why: null }],
        skipped: 1,
      }),
    },
  });
  expect(await runCommandLine(['regrade', 'b1'], host)).toBe(0);
  expect(host.stdout).toBe('a by hasty: fail -> pass  b1-x\n3 graded again: 1 changed, 2 unchanged; 1 have no record and cannot be graded\n');
});

test('sweep tells what it dropped and why; a dry run says that it would', async () => {
  const ever = { made: 9, released: 6, swept: 1 };
  const report = { live: 2, pooled: 3, leaked: 0, forgotten: 1, ever, swept: [{ world: 'w1', owner: 'b1-x.1', reason: 'lease_lapsed' as const }] };
  const host = new TestHost({ client: { sweep: async (options) => (options?.dryRun ? report : { ...report, swept: [] }) } });
  expect(await runCommandLine(['sweep', '--dry-run'], host)).toBe(0);
  expect(host.stdout).toBe(
    'would drop w1 of b1-x.1: its lease has lapsed\n1 to drop, 2 live, 3 pooled, 0 leaked\nconversations of 1 dead trials are to be forgotten, word for word; what is redacted stays\nsince the server of the worlds was prepared: 9 made, 6 released, 1 swept\n',
  );
});
