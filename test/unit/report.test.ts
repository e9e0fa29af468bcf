import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import type { StoredVerdict } from '../../src/store/store.ts';
import { collectReport } from '../../src/report/collect.ts';
import { cellText, matrix } from '../../src/report/matrix.ts';
import { reportMarkdown } from '../../src/report/report-markdown.ts';
import { writeReport } from '../../src/report/report.ts';
import { reportData, reportTrial, trial } from './report-support.ts';
import { operation } from './trial-view-support.ts';

const PASS = { judgement: 'pass', findings: [] } as const;

function failed(message: string, found: Json): StoredVerdict {
  return {
    pass: 'fail',
    outcome: {
      judgement: 'fail',
      findings: [{ code: 'missing_effect', judgement: 'fail', rule: 'outcomes[0].effects[0]', message, expected: { row: 'refunds' }, found }],
    },
    constraints: PASS,
    effects: PASS,
    reached: null,
    diagnostics: {
      calls: 1,
      callsByTool: {},
      rejectedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      deniedCalls: 0,
      repeatedCalls: 0,
      emptyRetrievals: 0,
      noOpWrites: 0,
      unattributedEffects: 0,
      lateAttempts: 0,
      disturbed: false,
    },
    graderVersion: '1',
    caseHash: 'c'.repeat(64),
    trial: 'b1-refund-hasty-1',
    attempt: 1,
    gradedAt: '2026-03-02T09:31:00Z',
    current: true,
  };
}

describe('matrix', () => {
  test('counts by case and agent; what was not scored is neither passed nor failed', () => {
    const { head, rows } = matrix([
      trial({ case: 'a', agent: 'x' }),
      trial({ case: 'a', agent: 'x', repetition: 2, pass: 'fail' }),
      trial({ case: 'a', agent: 'x', repetition: 3, pass: null, ending: 'infra_error' }),
      trial({ case: 'b', agent: 'y', pass: 'undetermined' }),
      trial({ case: 'a', agent: 'y', pass: null, ending: 'infra_error' }),
      trial({ case: 'c', agent: 'y', pass: null, ending: 'cancelled' }),
    ]);
    expect(head).toEqual(['case', 'x', 'y']);
    expect(rows.map((r) => [...r.names, ...r.cells.map((cell) => (cell ? cellText(cell) : null))])).toEqual([
      ['a', '1/2 pass, 1 infra', 'infra error'],
      ['b', null, 'undetermined'],
      ['c', null, 'cancelled'],
    ]);
  });

  test('fault schedules have lines of their own when there are several, below their case', () => {
    const { head, rows } = matrix([trial({ case: 'a' }), trial({ case: 'b' }), trial({ case: 'a', schedule: 'slow', agent: 'x' })]);
    expect(head).toEqual(['case', 'faults', 'reference', 'x']);
    expect(rows.map((r) => [...r.names, ...r.cells.map((cell) => (cell ? cellText(cell) : null))])).toEqual([
      ['a', 'none', 'pass', null],
      ['a', 'slow', null, 'pass'],
      ['b', 'none', 'pass', null],
    ]);
  });
});

describe('report.md', () => {
  test('names the failing rule with expected and found, and keeps infrastructure errors apart', () => {
    const text = reportMarkdown(
      reportData([
        reportTrial(trial()),
        reportTrial(trial({ agent: 'hasty', pass: 'fail', why: 'no refund' }), { verdict: failed('no row of refunds was inserted', 'nothing') }),
        reportTrial(trial({ agent: 'lost', pass: null, ending: 'infra_error', why: 'world gone' }), {
          problem: { code: 'world_gone', message: 'world w1 no longer exists' },
        }),
      ]),
    );
    expect(text).toContain('# support-desk: 1 of 2 passed, gate not met');
    expect(text).toContain('| `refund` | pass | **fail** | **infra error** |');
    const failures = text.slice(text.indexOf('## Failures'), text.indexOf('## Infrastructure errors'));
    expect(failures).toContain('`missing_effect` no row of refunds was inserted (rule `outcomes[0].effects[0]`)');
    expect(failures).toContain('- expected: `row: "refunds"`');
    expect(failures).toContain('- found: nothing');
    expect(failures).not.toContain('lost');
    expect(text.slice(text.indexOf('## Infrastructure errors'))).toContain('world w1 no longer exists');
    expect(text).toContain('with uncommitted changes');
    expect(text).not.toContain('## Undetermined');
  });

  test('text of agents and worlds cannot break out of its place', () => {
    const nasty = 'x | y\n\n## Passed <script>alert(1)</script> ``` @team';
    const nastyTrial = (found: Json, repetition: number) =>
      reportTrial(trial({ case: 'pipe|case', agent: 'a|b', pass: 'fail', why: nasty, repetition }), { title: nasty, verdict: failed(nasty, found) });
    const text = reportMarkdown(reportData([nastyTrial({ body: nasty.repeat(20) }, 1), nastyTrial(nasty, 2)]));
    expect(text).not.toMatch(/^## Passed/m);
    const outsideBlocks = text.replace(/^( *)(`{3,})\n[\s\S]*?\n\1\2$/gm, '');
    expect(outsideBlocks).not.toBe(text);
    expect(outsideBlocks).not.toContain('<script>');
    expect(text).toContain('| `pipe\\|case` |');
    expect(text).toContain('| case | a\\|b |');
  });

  test('says why a tool failed, which the agent was not told; nothing in it is markup', () => {
    const detail = {
      operation: 'op-1',
      seq: 1,
      tool: 'issue_refund',
      told: 'failed',
      code: 'tool_error',
      detail: `duplicate key "a|b" <img src=x> ${'x'.repeat(900)}`,
    };
    const text = reportMarkdown(reportData([reportTrial(trial({ pass: 'fail' }), { verdict: failed('m', 'f'), details: [detail] })]));
    expect(text).toContain('- call 1 `issue_refund` failed (`tool_error`), in the words of what refused it: duplicate key "a\\|b" &lt;img src=x&gt;');
    expect(text).not.toContain('x'.repeat(700));
  });

  test('stays within the size of a comment, and says what it left out', () => {
    const many = Array.from({ length: 400 }, (_, n) =>
      reportTrial(trial({ case: `case-${n}`, pass: 'fail', why: 'no refund' }), { verdict: failed('no row of refunds', 'y'.repeat(1000)) }),
    );
    const text = reportMarkdown(reportData(many));
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain('Without evidence, for length');
    expect(text).toMatch(/and \d+ more, in `report.json`/);
  });
});

test('the files that are asked for are written, whole, and nothing else', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'report-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const data = reportData([reportTrial(trial())]);
  await writeReport(join(dir, 'deep', 'report'), data, ['md', 'json']);
  const files = await writeReport(join(dir, 'deep', 'report'), data, ['json']);
  expect(files).toEqual({ json: join(dir, 'deep', 'report', 'report.json') });
  expect(await readdir(join(dir, 'deep', 'report'))).toEqual(['report.json', 'report.md']);
  const json: unknown = JSON.parse(await readFile(files.json ?? '', 'utf8'));
  expect(json).toMatchObject({ type: 'report', version: 2, summary: { passed: 1 }, trials: [{ summary: { case: 'refund' } }], facts: [{ case: 'refund' }] });
  await writeReport(dir, data);
  expect((await readdir(dir)).sort()).toEqual(['deep', 'junit.xml', 'report.html', 'report.json', 'report.md', 'trials.csv']);
});

test('collecting keeps the order of the manifest and takes the verdict that counts', async () => {
  const trials = Array.from({ length: 20 }, (_, n) => trial({ case: `case-${n}` }));
  const data = reportData(trials.map((t) => reportTrial(t)));
  const old = { ...failed('old', ''), current: false };
  const collected = await collectReport(
    {
      documents: async () => ({ cases: [], agents: [], schedules: [], approvals: [] }),
      show: async (id) => {
        const found = data.trials.find((t) => t.summary.trial === id);
        if (!found) throw new Error(id);
        const record = { problem: null, operations: [operation({ detail: id }), operation({ seq: 2 })], tables: {} };
        return { trial: found.row, kase: { title: id }, attempts: [], record, verdicts: [old, { ...old, current: true, graderVersion: '2' }] };
      },
    },
    data,
  );
  expect(collected.trials.map((t) => t.title)).toEqual(trials.map((t) => t.trial));
  expect(collected.trials.map((t) => t.details.map(({ detail }) => detail))).toEqual(trials.map((t) => [t.trial]));
  expect(collected.trials.every((t) => t.verdict?.graderVersion === '2')).toBe(true);
});
