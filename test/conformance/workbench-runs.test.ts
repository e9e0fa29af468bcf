import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { regradeRecorded } from '../../src/client/regrade-runs.ts';
import type { AgreementReport } from '../../src/report/agreement.ts';
import { ownServer } from '../fixtures/packs/shop/kit.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'workbench');

interface PublishedRun {
  readonly predicted: readonly string[];
  readonly error: string;
  readonly ref_correct: boolean;
  readonly ref_unwanted_side_effects: boolean;
  readonly ref_exact_match: boolean;
}

/** A sample of the published runs and spoilt solutions; all of them: `trialbed regrade --from workbench-runs FILE --data DIR`. */
describe.skipIf(!datasets.met)(skipTitle('recorded runs of WorkBench', datasets), () => {
  /** Of its own, since whatever is leased for recorded runs is looked at, and other files make them too. */
  let server: Awaited<ReturnType<typeof ownServer>>;
  let testbed: Testbed;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-runs-'));
    server = await ownServer();
    testbed = await startTestbed({ ...inject('services'), postgresUrl: server.url }, { worker: false });
  });

  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const linesOf = async (name: string): Promise<string[]> => (await readFile(join(data, name), 'utf8')).trimEnd().split('\n');

  const regrade = async (from: string, lines: readonly string[], more: { readonly signal?: AbortSignal } = {}): Promise<AgreementReport> => {
    const file = join(folder, `${from}-${lines.length}.jsonl`);
    await writeFile(file, lines.join('\n'));
    return regradeRecorded(testbed.root, { from, file, data, ...more });
  };

  const sentences = (report: AgreementReport) => report.disagreements.map((one) => `line ${one.line}, ${one.model}, ${one.task}, ${one.about}: ${one.why}`);

  it('get the published verdicts: every tenth, and those that are out of the ordinary', { timeout: 600_000 }, async () => {
    const lines = (await linesOf('recorded_runs.jsonl')).filter((line, at) => at % 10 === 0 || unusual(JSON.parse(line) as PublishedRun));
    const runs = lines.map((line) => JSON.parse(line) as PublishedRun);
    const report = await regrade('workbench-runs', lines);
    print('recorded runs', report);
    expect(sentences(report)).toEqual([]);
    expect(report.totals).toMatchObject({
      n: runs.length,
      correct: runs.filter((run) => run.ref_correct).length,
      side_effects: runs.filter((run) => run.ref_unwanted_side_effects).length,
      exact: runs.filter((run) => run.ref_exact_match).length,
      disagreements: 0,
    });
    expect(report.calls.made).toBe(runs.reduce((sum, run) => sum + run.predicted.length, 0));
    // The whole file has three.
    expect(report.calls.unreadable).toBe(3);
    expect(report.totals.stricter).toBeGreaterThan(0);
    expect(await testbed.root.worlds.leased('regrade-')).toBe(0);
  });

  it('and spoilt solutions, of every tenth task', { timeout: 600_000 }, async () => {
    const lines = (await linesOf('gold_mutations.jsonl')).filter((_, at) => at % 10 === 0);
    const report = await regrade('workbench-mutations', lines);
    print('spoilt solutions', report);
    expect(sentences(report)).toEqual([]);
    expect(report.parts.correct.published).toBe(lines.reduce((sum, line) => sum + Object.keys((JSON.parse(line) as { verdicts: object }).verdicts).length, 0));
    expect(report.parts).toMatchObject({ correct: { agree: report.totals.n }, sideEffects: { agree: report.totals.n }, exact: { published: 0 } });
    // A write that was made twice and left the right state is found in the ledger.
    const twice = report.groups.filter((group) => group.tools.startsWith('dup_'));
    expect(twice.reduce((sum, group) => sum + group.table.bothPass, 0)).toBe(0);
    expect(twice.reduce((sum, group) => sum + group.table.stricter, 0)).toBe(twice.reduce((sum, group) => sum + group.correct, 0));
  });

  it('a verdict that is not ours is reported with its reason', { timeout: 120_000 }, async () => {
    const lines = await linesOf('recorded_runs.jsonl');
    const wrong = lines.find((line) => (JSON.parse(line) as PublishedRun).ref_unwanted_side_effects) ?? '';
    const turned = JSON.stringify({ ...(JSON.parse(wrong) as PublishedRun), ref_correct: true, ref_unwanted_side_effects: false });
    const report = await regrade('workbench-runs', [turned]);
    expect(report.totals).toMatchObject({ n: 1, correct: 0, side_effects: 1, disagreements: 1 });
    expect(report.table).toEqual({ bothPass: 0, bothFail: 0, stricter: 0, referenceOnly: 1, oursOnly: 0 });
    expect(report.disagreements.map((one) => one.about)).toEqual(['correct', 'sideEffects', 'product']);
    expect(report.disagreements[0]?.why).toContain('is there and should not be');
  });

  it('calls of any type and text are made or refused, never run as code, and crash nothing', { timeout: 120_000 }, async () => {
    const predicted = [
      null,
      7,
      { call: 'email.delete_email' },
      ['email.delete_email.func(email_id="00000001")'],
      '',
      '__import__("os").system("touch /tmp/owned")',
      'email.delete_email.func(email_id=__import__("os").getcwd())',
      'email.delete_email.func(__proto__="x")',
      'email.send_email.func(recipient="a@b.c", subject="\u0000", body="\ud800")',
      'email.search_emails.func(query="\u0000")',
      'calendar.search_events.func(query="(((")',
      `calendar.search_events.func(query="${'(a+)+'.repeat(50)}$")`,
      `email.send_email.func(recipient="a@b.c", subject="${'x'.repeat(2_000_000)}", body="y")`,
      'email.delete_email.func(email_id="1\'; drop table emails; --")',
      'email.reply_email.func(email_id="00000001", body="${op-1.result}")',
      `\u0000.func(${'('.repeat(10_000)}`,
    ];
    const run = { model: 'odd', tools: 'all', domain: 'email', row: 0, query: 'q', predicted, gold: [], error: { code: 1 } };
    const report = await regrade('workbench-runs', [JSON.stringify(run), JSON.stringify({ ...run, predicted: [], error: null })]);
    expect(report.calls.made).toBe(predicted.length);
    expect(report.calls.unreadable).toBeGreaterThanOrEqual(7);
    expect(report.totals).toMatchObject({ n: 2, correct: 1, side_effects: 1, disagreements: 0 });
    expect(report.parts.correct.published).toBe(0);
    expect(await testbed.root.worlds.leased('regrade-')).toBe(0);
  });

  it('an interruption ends it between two calls, and no world stays leased', { timeout: 120_000 }, async () => {
    const lines = (await linesOf('recorded_runs.jsonl')).slice(0, 200);
    const stop = new AbortController();
    const file = join(folder, 'interrupted.jsonl');
    await writeFile(file, lines.join('\n'));
    const onProgress = (done: number): void => {
      if (done === 5) stop.abort(new Error('enough'));
    };
    await expect(regradeRecorded(testbed.root, { from: 'workbench-runs', file, data, signal: stop.signal, onProgress })).rejects.toThrow('enough');
    expect(await testbed.root.worlds.leased('regrade-')).toBe(0);
  });
});

/** Calls that are not made, errors after calls, verdicts that text and state see differently. */
function unusual(run: PublishedRun): boolean {
  const odd = run.predicted.some((call) => !/^\w+\.\w+\.func\((\w+="[^"]*"(, )?)*\)$/.test(call) || call.startsWith('update_event') || call.includes('from="'));
  return odd || (run.error !== '' && run.predicted.length > 0) || (run.ref_correct && !run.ref_exact_match);
}

function print(what: string, report: AgreementReport): void {
  const { n, correct, side_effects: sideEffects, exact, stricter, disagreements } = report.totals;
  process.stdout.write(
    `${what}: ${n} runs, ${correct} correct, ${sideEffects} side effects, ${exact} exact, ${stricter} stricter, ${disagreements} disagreements; ${report.seconds} s, ${report.runsPerSecond} runs a second\n`,
  );
}
