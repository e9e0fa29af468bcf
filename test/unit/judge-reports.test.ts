import { describe, expect, test } from 'vitest';
import type { Judgement, JudgeSeries } from '../../src/domain/judging.ts';
import { parseGate } from '../../src/domain/gates/parse-gate.ts';
import type { StoredRubric } from '../../src/domain/rubric.ts';
import type { TrialFacts } from '../../src/domain/trial-facts.ts';
import { reportCsv } from '../../src/report/csv.ts';
import { judgeGates } from '../../src/domain/gates/judge-gates.ts';
import { reportHtml } from '../../src/report/html/report-page.tsx';
import { judgeFigures } from '../../src/report/judges/figures.ts';
import type { JudgedSeries } from '../../src/report/judges/judged.ts';
import { reportJson } from '../../src/report/json.ts';
import { reportMarkdown } from '../../src/report/report-markdown.ts';
import { facts as factsOf, reportData, reportTrial, trial } from './report-support.ts';

const HOSTILE = '<script>alert(1)</script>';
const STORED: StoredRubric = {
  rubric: {
    name: 'tone',
    version: '1',
    question: `Was it polite? ${HOSTILE}`,
    scale: [
      { category: 'rude', means: 'It was not.' },
      { category: 'kind', means: 'It was.' },
    ],
    passes: ['kind'],
    shows: ['conversation'],
  },
  digest: 'd1',
  calibration: { labels: 10, kappa: 0.4, at: 'lower' },
};

const seriesOf = (id: string, over: Partial<JudgeSeries> = {}): JudgeSeries => ({
  ...{ id: id.padEnd(16, '0'), rubric: 'tone', version: '1', digest: 'd1', route: 'small', prompt: '1' },
  judge: { api: 'openai', url: 'http://127.0.0.1:1/v1', model: 'tiny', seed: null, parameters: {} },
  ...over,
});

/** Trials of two cases in turn, of which the first half passes; more of one agent than of the other. */
const trials = Array.from({ length: 8 }, (_, at) =>
  reportTrial(trial({ case: at % 2 === 0 ? 'refund' : 'greet', agent: at < 6 ? 'careful' : 'hasty', repetition: at + 1, pass: at < 4 ? 'pass' : 'fail' })),
);
const facts: readonly TrialFacts[] = trials.map((one) => factsOf(one));

const judgement = (at: number, category: string | null): Judgement => ({
  series: 's',
  trial: facts[at]?.trial ?? '',
  attempt: 1,
  category,
  reason: category && `Because. ${HOSTILE}`,
  problem: category === null ? { code: 'bad_reply', message: HOSTILE } : null,
  shortened: false,
  usage: { input: 100, output: 10, cached: null, reasoning: null },
  price: { amount: 0.01, currency: 'USD' },
  ...{ reported: null, latencyMs: 1, tries: 1, at: '2026-03-02T09:30:00.000Z' },
});

/** As many labels as given, of which all agree with the judge. */
const agreed = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    const category = at % 2 === 0 ? 'kind' : 'rude';
    return { trial: `other-${at}`, attempt: 1, judge: category, rater: 'ana', person: category };
  });

function judgedBy(
  id: string,
  categories: readonly (string | null)[],
  { labels = 40, over = {} }: { readonly labels?: number; readonly over?: Partial<JudgeSeries> } = {},
): JudgedSeries {
  return { series: seriesOf(id, over), rubric: STORED, judgements: categories.map((category, at) => judgement(at, category)), rated: agreed(labels) };
}

const ALL = ['kind', 'kind', 'kind', 'rude', 'kind', 'kind', 'kind', 'rude'];

function gateOf(text: string, ...judged: readonly JudgedSeries[]) {
  const { gate, gates } = judgeGates(facts, { gates: [text], today: '2026-12-01T00:00:00Z', judges: judgeFigures(facts, judged) });
  return { gate, results: gates.map(({ result }) => result), reason: gates[0]?.reason ?? '', figures: gates.map(({ figure }) => figure) };
}

describe('a gate on a judge', () => {
  test('compares the share of passing categories of each agent, with its interval', () => {
    const judged = judgedBy('aaaa', ALL);
    expect(gateOf('judge[tone]>=0.8', judged)).toMatchObject({ gate: 'not_met', results: ['met', 'not_met'], figures: [5 / 6, 0.5] });
    expect(gateOf('judge[tone]>=50%', judged)).toMatchObject({ gate: 'met', reason: expect.stringContaining('tone 1 by small (aaaa0000)') });
    expect(gateOf('lower(judge[tone])>=0.5', judged).results).toEqual(['not_met', 'not_met']);
    expect(gateOf('judge[tone,critical]>=0.5', judged).reason).toBe('nothing was scored');
  });

  test('is red for an uncalibrated judge, and says what to do', () => {
    for (const [labels, why] of [
      [0, 'people labelled 0 of the 10 trials that are needed'],
      [9, 'people labelled 9 of the 10 trials that are needed'],
    ] as const)
      expect(gateOf('judge[tone]>=0', judgedBy('aaaa', ALL, { labels }))).toEqual({
        gate: 'not_met',
        results: ['not_judged', 'not_judged'],
        figures: [null, null],
        reason: `the judge tone 1 by small (aaaa0000) is uncalibrated: ${why}; an uncalibrated judge decides nothing: have people label trials that it has judged, or take the gate out`,
      });
  });

  test('never mixes series: one has to be named, by its version or its id', () => {
    const two = [judgedBy('aaaa', ALL), judgedBy('bbbb', ALL.toReversed(), { over: { version: '2', route: 'large' } })];
    expect(gateOf('judge[tone]>=0', ...two)).toMatchObject({
      gate: 'not_met',
      results: ['not_judged', 'not_judged'],
      reason: 'judgements of several series would be mixed: tone 1 by small (aaaa0000), tone 2 by large (bbbb0000); name one, as in judge[tone@aaaa0000]',
    });
    expect(gateOf('judge[tone@aaaa0000]>=0.5', ...two).gate).toBe('met');
    // Of two agents each with a judge of its own, neither is held against the other's.
    const apart = [judgedBy('aaaa', ALL.slice(0, 6)), { ...judgedBy('bbbb', []), judgements: [judgement(6, 'kind'), judgement(7, 'kind')] }];
    expect(gateOf('judge[tone]>=0', ...apart).results).toEqual(['not_judged', 'not_judged']);
    expect(gateOf('judge[tone@aaaa]>=0', ...apart)).toMatchObject({ gate: 'not_met', results: ['met', 'not_judged'] });
    expect(gateOf('judge[tone@2]>=0.5', ...two)).toMatchObject({ gate: 'met', reason: expect.stringContaining('tone 2 by large') });
    expect(gateOf('judge[tone@3]>=0.5', ...two).reason).toBe(
      'the rubric "tone" has no version or series "3" here; there are: tone 1 by small (aaaa0000), tone 2 by large (bbbb0000)',
    );
  });

  test('counts what has no category against itself', () => {
    const some = judgedBy('aaaa', ['kind', 'kind', 'kind', null, 'kind']);
    expect(gateOf('judge[tone]>=0.6', some)).toMatchObject({ results: ['met', 'not_judged'], figures: [4 / 6, null] });
    expect(gateOf('judge[tone]>=0.7', some).reason).toContain(
      '2 trials without a result count against it (`trialbed judge BATCH --rubric tone` goes on with those that are not judged)',
    );
  });

  test('names what to do where nobody judged', () => {
    expect(gateOf('judge[tone]>=0.8').reason).toContain('`trialbed judge BATCH --rubric tone` does');
    expect(gateOf('judge[tome]>=0.8', judgedBy('aaaa', ALL)).reason).toContain('nobody has judged these trials by the rubric "tome" (did you mean "tone"?)');
  });

  test.each([
    ['judge>=0.8', 'column 6: expected the name of a rubric in brackets, as in judge[tone]'],
    ['judge[]>=0.8', 'column 7: expected the name of a rubric, as in judge[tone]'],
    ['judge[tone@]>=0.8', 'column 7: expected a rubric, or a rubric and its version or series'],
    ['judge[tone]>=8', 'a share is at most 1'],
    ['share(judge[tone])>=0.8', 'there is no share of "judge"'],
    ['judge^3[tone]>=0.8', 'expected the name of a rubric in brackets'],
    ['jugde[tone]>=0.8', '(did you mean "judge"?)'],
  ])('that cannot be read says where: %s', (text, message) => {
    expect(() => parseGate(text)).toThrow(message);
  });
});

describe('what reports say of judges', () => {
  const data = reportData(trials, { judges: judgeFigures(facts, [judgedBy('aaaa', [...ALL.slice(0, 6), null], { labels: 3 }), judgedBy('bbbb', ALL)]) });

  test('stands by series and agent', () => {
    expect(data.judges[0]?.agents).toMatchObject([
      {
        agent: 'careful',
        scored: 6,
        categories: [
          { category: 'rude', trials: 1 },
          { category: 'kind', trials: 5 },
        ],
        failed: 0,
        unjudged: 0,
        passes: { count: 5, of: 6 },
      },
      { agent: 'hasty', scored: 2, failed: 1, unjudged: 1, passes: { count: 0, of: 0 } },
    ]);
    expect(data.judges[0]).toMatchObject({ problems: { bad_reply: 1 }, cost: { USD: 0.07 }, standing: { calibrated: false, labels: 3 } });
  });

  test('is in Markdown, with "uncalibrated" where it is', () => {
    const text = reportMarkdown(data);
    expect(text).toContain('## Judges');
    expect(text).toContain('uncalibrated: people labelled 3 of the 10 trials that are needed');
    expect(text).toMatch(/tone 1 by small \(bbbb0000\)[\s\S]*\ncalibrated: kappa 1\.00/);
    expect(text).toContain('An uncalibrated judge decides nothing');
    expect(text).not.toContain(HOSTILE);
    expect(reportMarkdown(reportData(trials))).not.toContain('Judges');
  });

  test('is in the page', () => {
    const page = reportHtml(data);
    expect(page).toContain('<h2 id="judges-title"');
    expect(page.match(/class="badge wait">uncalibrated/g)).toHaveLength(1);
    expect(page).toContain('the judge’s words'.replace('’', '&#39;'));
    expect(page).toContain('Because.');
    expect(page).not.toContain(HOSTILE);
    expect(reportHtml(reportData(trials))).not.toContain('uncalibrated');
  });

  test('is in JSON and CSV, a column for each series', () => {
    expect(JSON.parse(reportJson(data)).judges[1]).toMatchObject({ series: { id: 'bbbb000000000000' }, judgements: { length: 8 } });
    const [head = '', ...rows] = reportCsv(data).split('\r\n');
    expect(head.split(',').slice(-2)).toEqual(['judge tone 1 by small (aaaa0000)', 'judge tone 1 by small (bbbb0000)']);
    expect(rows.slice(0, 8).map((row) => row.split(',').slice(-2).join())).toEqual([
      'kind,kind',
      'kind,kind',
      'kind,kind',
      'rude,rude',
      'kind,kind',
      'kind,kind',
      'error: bad_reply,kind',
      ',rude',
    ]);
  });
});
