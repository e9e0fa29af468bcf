import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { runFormat } from '../../src/recorded/formats.ts';
import { RecordedRunsError, type RunFacts } from '../../src/recorded/run.ts';
import { judgeWorkbench, workbenchCall } from '../../src/recorded/workbench.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-recorded-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const good = { model: 'm', tools: 'all', domain: 'email', row: 3, query: 'q', predicted: ['email.delete_email.func(email_id="1")'], gold: [], error: '' };

async function read(text: string, limit: number | null = null, from = 'workbench-runs') {
  const file = join(folder, 'runs.jsonl');
  await writeFile(file, text);
  return runFormat(from).read(file, { limit, data: folder, model: null });
}

async function problems(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof RecordedRunsError) return error.problems.map((problem) => problem.replaceAll(`${folder}/`, ''));
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a file of runs', () => {
  it('is read line by line, other models and tool sets too, empty lines and a byte order mark aside', async () => {
    const lines = ['\uFEFF', JSON.stringify(good), '', JSON.stringify({ ...good, model: 'new', tools: 'few', row: 900, ref_correct: true }), '\r'];
    const runs = await read(lines.join('\n'));
    expect(runs).toMatchObject([
      { line: 2, model: 'm', task: 'email 3', published: null, calls: [{ tool: 'email.delete_email', args: { email_id: '1' }, unreadable: null }] },
      { line: 4, model: 'new', tools: 'few', task: 'email 900', published: { correct: true, sideEffects: null, exact: null } },
    ]);
    expect(await read(lines.join('\n'), 1)).toHaveLength(1);
  });

  it.each([[null], [7], [{}], [[]], [true]])('takes %j for a call that no tool takes', async (call) => {
    const [run] = await read(JSON.stringify({ ...good, predicted: [call] }));
    expect(run?.calls).toMatchObject([{ unreadable: 'it is no text', tool: 'unreadable' }]);
  });

  it.each([
    [undefined, ''],
    [null, ''],
    ['', ''],
    ['stopped', 'stopped'],
    [{ code: 1 }, '{"code":1}'],
    [false, 'false'],
  ])('takes the error %j for "%s"', async (error, text) => {
    expect(await read(JSON.stringify({ ...good, error }))).toMatchObject([{ error: text }]);
  });

  it('names every line that is not right, and what is wrong there', async () => {
    const lines = [
      JSON.stringify(good),
      '{"model": ',
      '[]',
      JSON.stringify({ ...good, domain: 'mail' }),
      JSON.stringify({ ...good, predicted: 'none', row: -1 }),
    ];
    expect(await problems(read(lines.join('\n')))).toEqual([
      'runs.jsonl:2: this is no JSON: "{"model": "',
      expect.stringMatching(/^runs.jsonl:3: Invalid input: expected object/),
      expect.stringMatching(/^runs.jsonl:4: domain: Invalid option/),
      expect.stringMatching(/^runs.jsonl:5: row: .*; predicted: /),
    ]);
  });

  it('does not list a thousand lines', async () => {
    const told = await problems(read('x\n'.repeat(1000)));
    expect(told).toHaveLength(21);
    expect(told.at(-1)).toBe('and 980 more lines like these');
  });

  it('must be there and hold a run', async () => {
    const all = { limit: null, data: folder, model: null };
    expect(await problems(read('\n\n'))).toEqual(['runs.jsonl:1: there is no run in the file']);
    expect(await problems(runFormat('workbench-runs').read(join(folder, 'none.jsonl'), all))).toEqual([expect.stringContaining('none.jsonl does not exist')]);
    expect(await problems(runFormat('workbench-runs').read(folder, all))).toEqual([expect.stringContaining('is a folder')]);
  });

  test('a format that is not known', () => {
    expect(() => runFormat('workbench')).toThrow('there are workbench-runs, workbench-mutations');
  });
});

describe('a file of spoilt solutions', () => {
  const call = (id: number): string => `email.delete_email.func(email_id="${id}")`;
  const line = { domain: 'email', row: 0, query: 'q', gold: [call(1), call(2)] };

  it('is a run for each variant', async () => {
    const verdicts = { dup_first: [true, false], drop_last: [false, true], reversed: [true, false], empty: [false, false] };
    const runs = await read(JSON.stringify({ ...line, verdicts }), null, 'workbench-mutations');
    expect(runs.map((run) => [run.tools, run.calls.map((one) => one.source), run.published?.correct, run.published?.sideEffects])).toEqual([
      ['dup_first', [call(1), call(1), call(2)], true, false],
      ['drop_last', [call(1)], false, true],
      ['reversed', [call(2), call(1)], true, false],
      ['empty', [], false, false],
    ]);
  });

  it('names a variant that it does not know', async () => {
    expect(await problems(read(JSON.stringify({ ...line, verdicts: { shuffled: [true, false] } }), null, 'workbench-mutations'))).toEqual([
      expect.stringMatching(/^runs.jsonl:1: verdicts.shuffled: there is no such variant/),
    ]);
  });
});

describe("WorkBench's three verdicts", () => {
  const send = 'email.send_email.func(recipient="A@b.c", subject="s", body="x")';
  const search = 'email.search_emails.func(query="x")';
  const runOf = (predicted: readonly unknown[], gold: readonly string[], error = '') => ({
    line: 1,
    model: 'm',
    tools: 'all',
    domain: 'email',
    task: 'email 0',
    query: 'q',
    calls: predicted.map(workbenchCall),
    gold: gold.map(workbenchCall),
    error,
    published: null,
  });
  const facts: RunFacts = { changed: true, sameAsGold: true, writeTools: new Set(['email.send_email', 'email.delete_email']) };

  it('an error makes a run incorrect and is no side effect', () => {
    expect(judgeWorkbench(runOf([], [], 'stopped'), facts)).toMatchObject({ correct: false, sideEffects: false });
    expect(judgeWorkbench(runOf([], []), facts)).toMatchObject({ correct: true, sideEffects: false });
    expect(judgeWorkbench(runOf([], [], 'stopped'), { ...facts, sameAsGold: false })).toMatchObject({ correct: false, sideEffects: true });
    expect(judgeWorkbench(runOf([], []), { ...facts, sameAsGold: false, changed: false })).toMatchObject({ correct: false, sideEffects: false });
  });

  it.each([
    ['reads do not count', [search, send], [send], true],
    ['letter case does not count', [send.toUpperCase().replace('EMAIL.SEND_EMAIL.FUNC', 'email.send_email.func')], [send], true],
    ['the order of calls does not count', ['email.delete_email.func(email_id="1")', send], [send, 'email.delete_email.func(email_id="1")'], true],
    ['how often counts', [send, send], [send], false],
    ['the order of arguments counts', ['email.send_email.func(subject="s", recipient="A@b.c", body="x")'], [send], false],
    [
      'a real line break is the two characters',
      ['email.send_email.func(recipient="a@b.c", subject="s", body="x\ny")'],
      ['email.send_email.func(recipient="a@b.c", subject="s", body="x\\ny")'],
      true,
    ],
    ['a write that is no call counts as its text', ['email.send_email.func(recipient=)'], [], false],
    ['what is no text is no write', [null, 7], [], true],
  ])('exact: %s', (_, predicted, gold, exact) => {
    expect(judgeWorkbench(runOf(predicted, gold), facts).exact).toBe(exact);
  });
});
