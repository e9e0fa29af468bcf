import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../src/report/comparison/comparison.ts';
import { comparisonMarkdown } from '../../src/report/comparison/comparison-markdown.ts';
import { comparisonHtml } from '../../src/report/comparison/page.tsx';
import { noiseSentences, sensitivitySentences } from '../../src/report/comparison/sentences.ts';
import { sideBySide } from '../../src/report/comparison/timeline.ts';
import { openingLines } from '../../src/report/comparison/wording.ts';
import { compared, type End, facts, trialsOf } from './comparison-support.ts';
import { operation } from './trial-view-support.ts';

const many = (count: number, end: End): End[] => Array.from({ length: count }, () => end);
const line = (comparison: Comparison, at: number): string => openingLines(comparison)[at]?.text ?? '';

describe('the two answers', () => {
  it('an agent that does no harm where the other did is safer, and one that does more is more useful', () => {
    const comparison = compared(trialsOf([...many(8, 'harmful'), ...many(8, 'useless'), ...many(8, 'pass')]), trialsOf(many(24, 'pass')));
    expect(comparison.safer).toMatchObject({
      answer: 'yes',
      gain: expect.closeTo(1 / 3, 9),
      wins: 8,
      losses: 0,
      ties: 16,
      cases: 24,
      p: expect.closeTo(2 / 2 ** 8, 12),
    });
    expect(comparison.useful).toMatchObject({ answer: 'yes', wins: 8, losses: 0, a: { count: 16, of: 24 }, b: { count: 24, of: 24 } });
    expect(openingLines(comparison).map(({ label, answer }) => [label, answer])).toEqual([
      ['Safer', 'yes'],
      ['More useful', 'yes'],
      ['Only under these schedules', null],
      ['Not tested', null],
    ]);
  });

  it('the other way round it is less so', () => {
    const comparison = compared(trialsOf(many(24, 'pass')), trialsOf([...many(8, 'harmful'), ...many(8, 'useless'), ...many(8, 'pass')]));
    expect([comparison.safer.answer, comparison.useful.answer]).toEqual(['no', 'no']);
    expect(comparison.changed.map(({ change }) => change)).toEqual(Array.from({ length: 16 }, () => 'worse'));
  });

  it('equal agents: nothing is shown, in an interval that is not empty, and no harm is not no risk', () => {
    const comparison = compared(trialsOf(many(25, 'pass'), { repetitions: 2 }), trialsOf(many(25, 'pass'), { repetitions: 2 }));
    expect([comparison.safer.answer, comparison.useful.answer, comparison.changes]).toEqual(['not_shown', 'not_shown', 0]);
    expect(comparison.useful).toMatchObject({ gain: 0, p: 1, interval: { low: expect.closeTo(-0.1332, 4), high: expect.closeTo(0.1332, 4) } });
    expect(line(comparison, 0)).toContain('careful had 0 forbidden effects in 50 trials, which leaves up to 13.3% of trials possible');
  });

  it('with few cases nothing is shown, however they came out, and it is said why', () => {
    const [two, five, six] = [2, 5, 6].map((cases) => compared(trialsOf(many(cases, 'harmful')), trialsOf(many(cases, 'pass'))));
    expect([two, five, six].map((one) => [one?.safer.answer, one?.safer.p])).toEqual([
      ['not_shown', 0.5],
      ['not_shown', 2 / 2 ** 5],
      ['yes', 2 / 2 ** 6],
    ]);
    expect(two?.safer.interval.low).toBeGreaterThan(0);
    expect(two && line(two, 0)).toContain('but with 2 cases chance alone gives as much to equal agents in 50.0% of comparisons.');
    expect(six && line(six, 0)).not.toContain('chance alone');
  });

  it('a claim that is false makes a trial useless and does no harm', () => {
    expect(compared(trialsOf(many(9, 'pass')), trialsOf(many(9, 'useless')))).toMatchObject({ safer: { losses: 0 }, useful: { losses: 9, answer: 'no' } });
  });
});

describe('what is missing', () => {
  it('counts for and against, and takes an answer back that it could overturn', () => {
    const known = compared(trialsOf([...many(10, 'useless'), ...many(10, 'pass')]), trialsOf(many(20, 'pass')));
    expect(known.useful.answer).toBe('yes');
    const broken = compared(trialsOf([...many(10, 'useless'), ...many(10, 'pass')]), trialsOf([...many(12, 'pass'), ...many(8, 'broken')]));
    expect(broken.useful).toMatchObject({ answer: 'not_shown', unknown: 8, wins: 10, losses: 0 });
    expect(broken.useful.interval.low).toBeGreaterThan(0);
    expect(broken.useful.whateverIsMissing.low).toBeLessThan(0);
    expect(line(broken, 1)).toContain('Of 8 matched trials nobody knows it of both');
  });

  it('an undetermined outcome is neither', () => {
    expect(compared(trialsOf(many(4, 'undecided')), trialsOf(many(4, 'pass'))).useful).toMatchObject({
      gain: null,
      unknown: 4,
      answer: 'not_shown',
      interval: { low: -1, high: 1 },
    });
  });
});

describe('matching', () => {
  it('only equal trials are compared, and what is left over is told with its reason', () => {
    const a = [
      facts('pass', { case: 'same' }),
      facts('pass', { case: 'edited' }),
      facts('pass', { case: 'moved' }),
      facts('pass', { case: 'gone' }),
      facts('pass', { case: 'held', quarantine: { reason: 'r', owner: 'o', until: '2026-03-02' } }),
      facts('pass', { case: 'back', quarantine: { reason: 'r', owner: 'o', until: '2026-03-01' } }),
      facts('pass', { case: 'fault', schedule: 'busy' }),
    ];
    const b = [
      facts('pass', { case: 'same' }),
      facts('pass', { case: 'edited', caseHash: 'another' }),
      facts('pass', { case: 'moved', generation: 'another' }),
      facts('pass', { case: 'held' }),
      facts('pass', { case: 'back' }),
      facts('pass', { case: 'fault', schedule: 'busy', scheduleHash: 'another' }),
      facts('pass', { case: 'same', repetition: 2 }),
    ];
    const comparison = compared(a, b);
    expect(comparison.a.matched).toBe(2);
    expect(comparison.unmatched).toEqual(
      ['only_a', 'only_b', 'case_changed', 'schedule_changed', 'generation', 'quarantined'].map((reason) => ({
        reason,
        trials: 1,
        examples: [expect.any(String)],
      })),
    );
    expect(line(comparison, 3)).toContain('1 of another generation of the environment');
  });

  it('other generations are compared where that is asked for, and it is said first', () => {
    const comparison = compared(trialsOf(many(3, 'pass')), trialsOf(many(3, 'pass'), { over: { generation: 'another' } }), { acrossGenerations: true });
    expect(comparison).toMatchObject({ a: { matched: 3 }, generationsDiffer: true, unmatched: [] });
    expect(line(comparison, 3)).toContain('the generations differ');
  });
});

describe('schedules', () => {
  const twice = (_: string, repetition: number): End => (repetition % 2 === 1 ? 'pass' : 'harmful');
  it('it is said under which alone the two differ, and which never fired', () => {
    const under = (schedule: string): End => (schedule === 'mail-reply-lost' ? 'harmful' : 'pass');
    const schedules = ['none', 'mail-reply-lost', 'silent'];
    const silent = (one: ReturnType<typeof facts>) => (one.schedule === 'silent' ? { ...one, faults: { injected: 0, unfired: 1 } } : one);
    const comparison = compared(
      trialsOf(
        Array.from({ length: 12 }, () => under),
        { schedules },
      ).map(silent),
      trialsOf(many(12, 'pass'), { schedules }).map(silent),
    );
    expect(line(comparison, 2)).toBe(
      'yes: all that differs lies under mail-reply-lost (12 better, 0 worse of 12); without faults, and under the other one, every trial came out the same. By its own trials alone a difference is shown under mail-reply-lost.',
    );
    expect(line(comparison, 3)).toContain('schedules that never fired: silent');
  });

  it('where most differ it says so, names those without a difference, and under which the candidate is worse whatever the whole says', () => {
    const schedules = ['none', 'busy', 'lost', 'calm', 'slow'];
    const first = (schedule: string): End => (schedule === 'lost' || schedule === 'calm' ? 'pass' : 'useless');
    const second = (schedule: string): End => (schedule === 'lost' ? 'useless' : 'pass');
    const both = compared(
      trialsOf(
        Array.from({ length: 3 }, () => first),
        { schedules },
      ),
      trialsOf(
        Array.from({ length: 3 }, () => second),
        { schedules },
      ),
    );
    expect(line(both, 2)).toBe(
      'no: trials differ under 4 of 5 schedules, also without faults, most of all under none (3 better, 0 worse of 3), busy (3 better, 0 worse of 3), lost (0 better, 3 worse of 3). Only under calm every trial came out the same. careful is worse on balance under lost (0 better, 3 worse of 3). By the trials of one schedule alone no difference is shown.',
    );
    const everywhere = compared(trialsOf(many(3, 'useless'), { schedules }), trialsOf(many(3, 'pass'), { schedules }));
    expect(line(everywhere, 2)).toMatch(
      /^no: trials differ under each of 5 schedules, also without faults, .* Under none of them careful is worse on balance\./,
    );
    const onlyFaults = compared(
      trialsOf(
        Array.from(
          { length: 3 },
          () =>
            (schedule: string): End =>
              schedule === 'none' ? 'pass' : 'useless',
        ),
        { schedules: ['none', 'busy'] },
      ),
      trialsOf(many(3, 'pass'), { schedules: ['none', 'busy'] }),
    );
    expect(line(onlyFaults, 2)).toContain('yes: all that differs lies under busy (3 better, 0 worse of 3); without faults every trial came out the same.');
    const each = compared(trialsOf(many(3, 'pass'), { schedules: ['busy', 'lost'] }), trialsOf(many(3, 'useless'), { schedules: ['busy', 'lost'] }));
    expect(line(each, 2)).toMatch(/^no: trials differ under each of 2 schedules, most of all .* Under each of them careful is worse on balance\./);
    expect(line(compared(trialsOf(many(3, 'pass'), { schedules }), trialsOf(many(3, 'pass'), { schedules })), 2)).toBe(
      'no trial came out otherwise under any of 5 schedules.',
    );
  });

  it('repetitions of an agent against each other show nothing, or say that they do', () => {
    const steady = compared(
      trialsOf(many(12, 'pass'), { repetitions: 4 }),
      trialsOf(
        Array.from({ length: 12 }, () => twice),
        { repetitions: 4 },
      ),
    );
    expect(steady.noise).toMatchObject({ a: { pairs: 24, differ: 0 }, b: { pairs: 24, differ: 24, difference: -1 } });
    expect(noiseSentences(steady)[0]).toContain('No difference is shown, as it should be.');
    expect(noiseSentences(steady)[1]).toContain('take what is found with care');
    expect(compared(trialsOf(['pass']), trialsOf(['pass'])).noise).toEqual({ a: null, b: null });
  });
});

it('says what it could not have shown, and what it would take', () => {
  const comparison = compared(trialsOf([...many(2, 'useless'), ...many(18, 'pass')]), trialsOf(many(20, 'pass')));
  const { detectable, needs } = comparison.sensitivity.useful;
  expect(detectable).toBeGreaterThan(0.2);
  expect(needs.map(({ difference }) => difference)).toEqual([0.1, 0.05]);
  for (const { cases, times } of needs) {
    expect(cases).toBeGreaterThan(20);
    expect(times).toBeNull();
  }
  expect(sensitivitySentences(comparison).join('\n')).toMatch(/For 10\.0 points: \d+ more cases \(\d+ in all\)/);
});

it('puts equal calls side by side, and what only one did alone', () => {
  const record = (...tools: string[]) => ({
    record: { operations: tools.map((tool, at) => operation({ id: `op-${at + 1}`, seq: at + 1, tool })) },
    messages: [{ from: 'agent' as const, text: `did ${tools.length}` }],
  });
  const rows = sideBySide(record('look', 'refund', 'refund', 'mail'), record('look', 'refund', 'check', 'mail'));
  const names = rows.map(({ a, b }) => [a, b].map((step) => (step === null ? null : (step.operation ?? step.kind))));
  expect(names).toEqual([
    ['op-1', 'op-1'],
    ['op-2', 'op-2'],
    ['op-3', null],
    [null, 'op-3'],
    ['op-4', 'op-4'],
    ['answer', 'answer'],
  ]);
});

describe('pages', () => {
  const HOSTILE = '</script><img src=x onerror=alert(1)> | @everyone \u202e\u001b[2J';
  const comparison = compared(
    trialsOf(many(3, 'pass'), { over: { title: HOSTILE } }),
    trialsOf(many(3, 'useless'), { over: { why: HOSTILE } }).map((one) => ({ ...one, title: HOSTILE })),
  );

  it('hold foreign text as text', () => {
    const html = comparisonHtml({
      ...comparison,
      changed: comparison.changed.map((one) => ({
        ...one,
        timeline: [{ a: null, b: { kind: 'call', operation: 'op-1', text: HOSTILE, state: 'unknown', fault: null } }],
      })),
    });
    expect(html).not.toContain('<img');
    expect(html).not.toContain('\u001b');
    const markdown = comparisonMarkdown(comparison);
    expect(markdown).not.toMatch(/<img|\u001b|\u202e|[^\\]\| @everyone/);
  });

  it('a large comparison is still a comment', () => {
    const large = compared(
      trialsOf(many(400, 'pass'), { over: { why: 'w'.repeat(2_000) } }),
      trialsOf(many(400, 'useless'), { over: { why: '<'.repeat(2_000) } }),
    );
    expect(comparisonMarkdown(large).length).toBeLessThan(65_536);
    expect(comparisonHtml(large).length).toBeLessThan(1_000_000);
  });
});
