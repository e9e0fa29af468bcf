import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type CommandPlace, commandPlace, type Ended, jsonLines } from './cli-process.ts';

const CASES = ['--case', 'refund-within-policy', '--case', 'price-question'];
const AGENTS = ['--agent', 'reference', '--agent', 'do-nothing'];

describe('the command, over real services', { timeout: 180_000 }, () => {
  let place: CommandPlace;
  let first: Ended;

  beforeAll(async () => {
    place = await commandPlace(inject('services'));
    first = await place.run('run', 'support-desk', '--json', ...CASES, ...AGENTS);
  }, 180_000);
  afterAll(() => place[Symbol.asyncDispose]());

  test('run --json prints a line per trial, then the summary, and nothing else on standard output', () => {
    expect(first.stderr).not.toContain('error');
    const lines = jsonLines(first.stdout);
    expect(lines.map((line) => line.type)).toEqual(['trial', 'trial', 'trial', 'trial', 'summary']);
    const trials = lines.slice(0, -1).map((line) => `${line['case']} ${line['agent']} ${line['ending']} ${line['pass']}`);
    expect(trials.sort()).toEqual([
      'price-question do-nothing completed fail',
      'price-question reference completed pass',
      'refund-within-policy do-nothing completed fail',
      'refund-within-policy reference completed pass',
    ]);
    for (const key of ['schedule', 'repetition', 'outcome', 'constraints', 'effects', 'why', 'attempt', 'trial', 'batch']) expect(lines[0]).toHaveProperty(key);
    expect(lines.at(-1)).toMatchObject({ suite: 'support-desk', trials: 4, passed: 2, failed: 2, undetermined: 0, infraErrors: 0, gate: 'not_met' });
    expect(first.code).toBe(1);
  });

  test('both reports lie in the home folder, and tell what the run told', async () => {
    const batch = String(jsonLines(first.stdout).at(-1)?.['batch']);
    const dir = join(place.cwd, '.trialbed', 'reports', batch);
    const markdown = await readFile(join(dir, 'report.md'), 'utf8');
    expect(markdown).toContain('# support-desk: 2 of 4 passed, gate not met');
    expect(markdown).toMatch(/\| `refund-within-policy` \| pass \| \*\*fail\*\* \|/);
    expect(markdown).toMatch(/missing_effect/);
    const json = JSON.parse(await readFile(join(dir, 'report.json'), 'utf8')) as { trials: unknown[]; summary: unknown };
    expect(json.trials).toHaveLength(4);
    expect(json.summary).toMatchObject({ passed: 2, failed: 2 });
  });

  test('report writes a batch again in the formats that are asked for, with the exit code of its gate', async () => {
    const batch = String(jsonLines(first.stdout).at(-1)?.['batch']);
    const written = await place.run('report', batch, '--format', 'junit,csv', '--out', 'again', '--gate', 'pass>=0', '--json');
    expect(written.code).toBe(0);
    expect(jsonLines(written.stdout)).toMatchObject([{ type: 'report_files', batch, state: 'finished', gate: 'met' }]);
    expect((await readdir(join(place.cwd, 'again'))).sort()).toEqual(['junit.xml', 'trials.csv']);
    expect(await readFile(join(place.cwd, 'again', 'junit.xml'), 'utf8')).toContain(
      '<testsuite name="do-nothing" tests="2" failures="2" errors="0" skipped="0"',
    );
    const told = await place.run('report', batch);
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(/^do-nothing passed 0 of 2 trials \(0.0%, 95% interval 0.0% to 65.8%\).$/m);
    const wrong = await place.run('report', batch, '--format', 'jnit');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('did you mean junit?');
  });

  test('--no-gate and --gate decide the exit code, not the verdicts', async () => {
    const free = await place.run('run', 'support-desk', '--case', 'price-question', ...AGENTS, '--no-gate');
    expect(free.code).toBe(0);
    expect(free.stdout).toContain('1 passed, 1 failed, of 2');
    expect(free.stdout).not.toContain('\u001b');
    const half = await place.run('run', 'support-desk', '--case', 'price-question', ...AGENTS, '--gate', 'pass>=0', '--gate', 'forbidden==0', '--json');
    expect(half.code).toBe(0);
    expect(jsonLines(half.stdout).at(-1)).toMatchObject({
      gate: 'met',
      failed: 1,
      gates: [
        { gate: 'pass>=0', result: 'met' },
        { gate: 'forbidden==0', result: 'met' },
        { gate: 'pass>=0', result: 'met', figure: 0 },
        { gate: 'forbidden==0' },
      ],
    });
    const bound = await place.run('run', 'support-desk', '--case', 'price-question', '--agent', 'reference', '--gate', 'lower(pass)>=0.9');
    expect(bound.code).toBe(1);
    expect(bound.stdout).toContain('gate lower(pass)>=0.9 by reference: not met, the lower bound is 20.65% of 1 scored trial');
    const wrong = await place.run('run', 'support-desk', '--gate', 'pas>=0.9');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('column 1: "pas" is no figure (did you mean "pass"?)');
  });

  test('show tells a trial by the beginning of its id, and ps lists it', async () => {
    const passed = jsonLines(first.stdout).find((line) => line['case'] === 'refund-within-policy' && line['agent'] === 'reference');
    const id = String(passed?.['trial']);
    const shown = await place.run('show', id.slice(0, -2));
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('refund-within-policy by reference, repetition 1: pass');
    expect(shown.stdout).toMatch(
      /issue_refund .*committed[\s\S]*effect insert refunds[\s\S]*send_mail .*committed[\s\S]*effect mail to sofia\.lindqvist@example\.org/,
    );
    expect(shown.stdout).toMatch(/outcome +pass/);
    const json = JSON.parse((await place.run('show', id, '--json')).stdout) as { record: { operations: unknown[] }; verdicts: { pass: string }[] };
    expect(json.record.operations).toHaveLength(5);
    expect(json.verdicts).toMatchObject([{ pass: 'pass' }]);
    const batch = String(passed?.['batch']);
    expect((await place.run('ps')).stdout).toMatch(new RegExp(`^${batch} +finished +4/4`, 'm'));
    expect((await place.run('ps', batch)).stdout).toContain(id);
    const rows = jsonLines((await place.run('ps', batch, '--json')).stdout);
    expect(rows.map((row) => row['phase'])).toEqual(['done', 'done', 'done', 'done']);
  });

  test('regrade grades stored records again', async () => {
    const batch = String(jsonLines(first.stdout).at(-1)?.['batch']);
    const again = await place.run('regrade', batch, '--json');
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ type: 'regrade', regraded: 4, unchanged: 4, changed: [], skipped: 0 });
  });

  test('sweep finds nothing of this batch to drop', async () => {
    const swept = await place.run('sweep', '--dry-run', '--json');
    expect(swept.code).toBe(0);
    const batch = String(jsonLines(first.stdout).at(-1)?.['batch']);
    const report = JSON.parse(swept.stdout) as { swept: { owner: string }[] };
    expect(report.swept.filter((world) => world.owner.startsWith(batch))).toEqual([]);
  });

  test('validate says of a case that its mutants are killed', async () => {
    const valid = await place.run('validate', 'support-desk', '--case', 'refund-within-policy', '--json');
    const lines = jsonLines(valid.stdout);
    expect(lines.find((line) => line['variant'] === 'reference')).toMatchObject({ verdict: 'pass', ok: true });
    expect(lines.find((line) => line['variant'] === 'do-nothing')).toMatchObject({ verdict: 'fail', ok: true });
    expect(lines.at(-1)).toMatchObject({ type: 'summary', cases: 1 });
    expect(Number(lines.at(-1)?.['mutants'])).toBeGreaterThan(3);
    expect(valid.code).toBe(lines.at(-1)?.['ok'] ? 0 : 1);
  });

  test.each([
    [['run', 'suport-desk'], 'did you mean "support-desk"?'],
    [['run', 'support-desk', '--agent', 'refrence'], 'did you mean "reference"?'],
    [['run', 'support-desk', '--case', 'refund-witin-policy'], 'did you mean "refund-within-policy"?'],
    [['run', 'support-desk', '--tag', 'smokee'], 'did you mean "smoke"?'],
    [['show', 'no-such-trial'], 'no-such-trial'],
    [['ps', 'no-such-batch'], 'no-such-batch'],
    [['regrade', 'no-such-batch'], 'no-such-batch'],
  ])('%j exits 2 and names what there is', async (args, named) => {
    const ended = await place.run(...args);
    expect(ended.stderr).toContain(named);
    expect(ended.stderr).toMatch(/^error: /m);
    expect(ended.code).toBe(2);
    expect(ended.stdout).toBe('');
  });

  test('a service that does not answer exits 3 and points to doctor', async () => {
    await using lost = await commandPlace({ ...inject('services'), postgresUrl: 'postgres://nobody@127.0.0.1:1/x' }).then((made) => ({
      ...made,
      [Symbol.asyncDispose]: async () => {},
    }));
    const ended = await lost.run('ps', '--json');
    expect(ended.code).toBe(3);
    const error = ended.stderr.split('\n').find((line) => line.startsWith('{'));
    expect(JSON.parse(error ?? '{}')).toMatchObject({ type: 'error', hint: expect.stringContaining('trialbed doctor') });
  });
});

describe('Ctrl-C', { timeout: 180_000 }, () => {
  test('leaves a batch that the same command goes on with: no trial lost, none twice', async () => {
    await using place = await commandPlace(inject('services'));
    const command = ['run', 'support-desk', '--json', '--case', 'price-question', '--agent', 'reference', '--trials', '12', '--concurrency', '1'];
    const running = place.start(...command);
    await running.lines(2);
    running.process.kill('SIGINT');
    const stopped = await running.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toContain('run the same command again');
    const before = jsonLines(stopped.stdout);
    expect(before.map((line) => line.type)).not.toContain('summary');
    expect(before.length).toBeLessThan(12);
    expect((await place.run('ps')).stdout).toMatch(/interrupted/);

    const finished = await place.run(...command);
    expect(finished.code).toBe(0);
    const after = jsonLines(finished.stdout);
    expect(after.at(-1)).toMatchObject({ batch: before[0]?.['batch'], trials: 12, passed: 12 });
    const ids = after.slice(0, -1).map((line) => line['trial']);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
    for (const line of before) expect(after).toContainEqual(line);
  });

  test('a command that is killed leaves a batch that is told to be interrupted, and that the same command goes on with', async () => {
    await using place = await commandPlace(inject('services'));
    const command = ['run', 'support-desk', '--json', '--case', 'price-question', '--agent', 'reference', '--trials', '60'];
    // One after the other they take longer than any command that looks at them.
    const running = place.start(...command, '--concurrency', '1');
    await running.lines(1);
    expect((await place.run('ps', '--running')).stdout).toMatch(/ running +/);
    running.process.kill('SIGKILL');
    await running.ended;
    expect((await place.run('ps')).stdout).toMatch(/ interrupted +\d+\/60/);
    expect(jsonLines((await place.run('ps', '--running', '--json')).stdout)).toEqual([]);
    const finished = await place.run(...command, '--concurrency', '8');
    expect(jsonLines(finished.stdout).at(-1)).toMatchObject({ trials: 60, passed: 60 });
    expect((await place.run('ps')).stdout).toMatch(/ finished +60\/60/);
  });

  test('a reader that goes away is no error', async () => {
    await using place = await commandPlace(inject('services'));
    const running = place.start('run', 'support-desk', '--json', '--case', 'price-question', '--agent', 'reference', '--trials', '3', '--concurrency', '1');
    await running.lines(1);
    running.process.stdout?.destroy();
    const ended = await running.ended;
    expect(ended.stderr).not.toContain('EPIPE');
    expect(ended.code).toBe(0);
    expect((await place.run('ps')).stdout).toMatch(/finished +3\/3/);
  });
});
