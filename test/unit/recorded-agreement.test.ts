import { describe, expect, it } from 'vitest';
import type { GradedRun } from '../../src/domain/recorded.ts';
import { agreementOf } from '../../src/report/agreement.ts';
import { agreementLines } from '../../src/report/agreement-text.ts';

const calls = { made: 2, committed: 1, failed: 0, unreadable: 1, unknownTool: 0, invalidArguments: 0, denied: 0 };

function run(change: Partial<GradedRun>): GradedRun {
  return {
    line: 1,
    model: 'm',
    tools: 'all',
    domain: 'email',
    task: 'email 0',
    error: '',
    calls,
    published: { correct: true, sideEffects: false, exact: true },
    byRules: { correct: true, sideEffects: false, exact: true },
    differences: [],
    product: { pass: 'pass', failures: [] },
    ...change,
  };
}

const failed = (...codes: readonly string[]): GradedRun['product'] => ({ pass: 'fail', failures: codes.map((code) => ({ code, message: `It is ${code}.` })) });
const no = { correct: false, sideEffects: true, exact: false };

describe('agreement', () => {
  it('counts by the rules, per model, tool set and domain', () => {
    const report = agreementOf(
      'f',
      [run({}), run({ domain: 'calendar' }), run({ published: no, byRules: no, product: failed('forbidden_effect'), error: 'stopped' })],
      2,
    );
    expect(report.totals).toEqual({ n: 3, correct: 2, side_effects: 1, exact: 2, stricter: 0, disagreements: 0 });
    expect(report.groups).toMatchObject([
      { model: 'm', tools: 'all', domain: 'email', n: 2, correct: 1, side_effects: 1, errors: 1 },
      { domain: 'calendar', n: 1, correct: 1, errors: 0 },
    ]);
    expect(report).toMatchObject({ seconds: 2, runsPerSecond: 1.5, calls: { made: 6, unreadable: 3 }, table: { bothPass: 2, bothFail: 1 } });
  });

  it.each(['duplicate', 'silent_overwrite', 'refused_repeat', 'idle_repeat', 'reverted_effect'])(
    'what the reference passes and ours fails by %s alone is the stricter cell',
    (code) => {
      const report = agreementOf('f', [run({ product: failed(code) })], 1);
      expect(report.totals).toMatchObject({ stricter: 1, disagreements: 0 });
      expect(report.table).toMatchObject({ stricter: 1, referenceOnly: 0 });
      expect(report.stricterKinds).toEqual({ [code]: 1 });
      expect(report.stricter).toMatchObject([{ about: 'product', ours: false, reference: true, why: `It is ${code}.` }]);
    },
  );

  it('with another failure beside it, it is a disagreement', () => {
    const report = agreementOf('f', [run({ product: failed('silent_overwrite', 'forbidden_effect') })], 1);
    expect(report.totals).toMatchObject({ stricter: 0, disagreements: 1 });
    expect(report.table).toMatchObject({ stricter: 0, referenceOnly: 1 });
  });

  it('ours passes and the reference fails: a disagreement', () => {
    const report = agreementOf('f', [run({ published: no, byRules: no })], 1);
    expect(report.totals.disagreements).toBe(1);
    expect(report.disagreements).toMatchObject([{ about: 'product', ours: true, reference: false }]);
  });

  it('every verdict that differs is listed with its reason, and a run counts once', () => {
    const report = agreementOf(
      'f',
      [run({ byRules: no, differences: ['is there and should not be: emails 500'], product: failed('forbidden_effect'), line: 7 })],
      1,
    );
    expect(report.totals.disagreements).toBe(1);
    expect(report.disagreements.map((one) => [one.line, one.about, one.ours, one.reference])).toEqual([
      [7, 'correct', false, true],
      [7, 'sideEffects', true, false],
      [7, 'exact', false, true],
      [7, 'product', false, true],
    ]);
    expect(report.disagreements[0]?.why).toBe('The end state: is there and should not be: emails 500.');
    expect(report.parts.correct).toEqual({ published: 1, agree: 0 });
  });

  it('without published verdicts there is nothing to disagree with, and ours stands beside the rules', () => {
    const report = agreementOf('f', [run({ published: null }), run({ published: { correct: true, sideEffects: null, exact: null } })], 1);
    expect(report.parts).toEqual({ correct: { published: 1, agree: 1 }, sideEffects: { published: 0, agree: 0 }, exact: { published: 0, agree: 0 } });
    expect(report.table.bothPass).toBe(2);
    expect(agreementLines(agreementOf('f', [run({ published: null })], 1), 200)).toContain('the file has no verdicts to compare with');
  });
});

describe('the report for people', () => {
  it('shows the table, the cells and the reasons', () => {
    const report = agreementOf(
      'f',
      [run({}), run({ product: failed('silent_overwrite'), line: 3 }), run({ byRules: no, product: failed('forbidden_effect'), line: 9 })],
      1,
    );
    const text = agreementLines(report, 200).join('\n');
    expect(text).toContain("by the reference's rules: 6 of 9 verdicts agree (correct 2 of 3, side effects 2 of 3, exact 2 of 3)");
    expect(text).toMatch(/ours pass +1 +0\n/);
    expect(text).toMatch(/ours fail +2 +0\n/);
    expect(text).toMatch(/ {2}of these exactly-once +1\n/);
    expect(text).toContain('reference passes, ours fails exactly-once: 1 (silent_overwrite 1)\n  line 3, m/all, email 0: It is silent_overwrite.');
    expect(text).toContain('disagreements: 4\n  line 9, m/all, email 0: correct: ours false, reference true.');
    expect(text.split('\n').at(-1)).toBe('3 runs: 2 correct, 1 with unwanted side effects, 2 exact; 1 only the product fails; 1 disagreements');
  });

  it('is safe on a terminal whatever a file says, and not longer than a person reads', () => {
    const evil = run({ model: '\u001b[31mred', product: { pass: 'fail', failures: [{ code: 'silent_overwrite', message: 'a\nb\u202e' }] } });
    const lines = agreementLines(agreementOf('f', new Array(30).fill(evil), 1), 80);
    expect(lines.join('\n')).not.toMatch(/\u001b|\u202e/);
    expect(lines).toContain('  and 10 more; --json lists all');
    expect(lines.filter((line) => line.includes('line 1,')).every((line) => line.length <= 80)).toBe(true);
  });
});
