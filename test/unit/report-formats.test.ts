import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { reportCsv } from '../../src/report/csv.ts';
import { reportJson } from '../../src/report/json.ts';
import { reportJunit } from '../../src/report/junit.ts';
import { reportMarkdown } from '../../src/report/report-markdown.ts';
import { facts, reportData, reportTrial, trial } from './report-support.ts';

const SCHEMA = await readFile(new URL('../fixtures/junit/junit-10.xsd', import.meta.url), 'utf8');

/** Breaks out of XML, Markdown, a cell, a terminal and a line, and is a formula. */
const HOSTILE = '=HYPERLINK("http://x")|<script>alert(1)</script>]]>\n# head @team \u001b[31m\u202e\u0000\ud800\uffff &amp; `x` ;"';

const every = [
  facts(reportTrial(trial())),
  facts(reportTrial(trial({ trial: 'b1-2', pass: 'fail', why: HOSTILE, schedule: 'lost' })), {
    category: 'forbidden_effect',
    findings: [{ view: 'effects', code: 'forbidden_effect', judgement: 'fail', rule: HOSTILE, message: HOSTILE }],
    forbidden: 1,
  }),
  facts(reportTrial(trial({ trial: 'b1-3', pass: 'undetermined', agent: 'other' }))),
  facts(reportTrial(trial({ trial: 'b1-4', pass: null, ending: 'infra_error', why: 'world gone' }))),
  facts(reportTrial(trial({ trial: 'b1-5', pass: null, ending: 'cancelled' }))),
  facts(reportTrial(trial({ trial: 'b1-6', pass: null })), { ending: null, times: null }),
  facts(reportTrial(trial({ trial: 'b1-7', pass: 'fail', case: 'held' })), { quarantine: { reason: HOSTILE, owner: 'ann', until: '2026-03-02' } }),
  facts(reportTrial(trial({ trial: 'b1-8', case: 'late' })), { quarantine: { reason: 'flaky', owner: 'ann', until: '2026-03-01' } }),
  facts(reportTrial(trial({ trial: 'b1-9', pass: 'fail', case: 'late', repetition: 2 })), {
    quarantine: { reason: 'flaky', owner: 'ann', until: '2026-03-01' },
  }),
];

/** Every text of a record that somebody else may have written. */
const hostile = facts(
  reportTrial(trial({ trial: HOSTILE, case: HOSTILE, agent: HOSTILE, schedule: HOSTILE, pass: 'fail', why: HOSTILE }), { title: HOSTILE }),
  {
    tags: [HOSTILE],
    money: { USD: 0.25 },
    findings: [{ view: 'effects', code: HOSTILE, judgement: 'fail', rule: HOSTILE, message: HOSTILE }],
    graded: { grader: HOSTILE, caseHash: HOSTILE },
  },
);

const data = reportData([], { facts: [...every, hostile] });

describe('junit.xml', () => {
  test("is accepted by the schema of Jenkins' xUnit plugin, hostile text in every field", async () => {
    const suite = { ...data.summary, suite: HOSTILE };
    const xml = reportJunit({ ...data, summary: suite, batch: { ...data.batch, id: HOSTILE, seed: HOSTILE } });
    const result = await validateXML({ xml: [{ fileName: 'junit.xml', contents: xml }], schema: [SCHEMA] });
    expect(result.errors).toEqual([]);
    expect(xml).not.toContain('<script>');
    const broken = await validateXML({ xml: [{ fileName: 'junit.xml', contents: xml.replace('<testcase ', '<testcas ') }], schema: [SCHEMA] });
    expect(broken.valid).toBe(false);
  });

  test('a trial that failed or is undetermined is a failure, one without a result an error, what is open, cancelled or in quarantine is skipped', () => {
    const xml = reportJunit({ ...data, facts: every });
    expect(xml).toContain('<testsuite name="reference" tests="8" failures="3" errors="1" skipped="3"');
    expect(xml).toContain('<testsuite name="other" tests="1" failures="1" errors="0" skipped="0"');
    expect(xml).toContain('<failure type="forbidden_effect"');
    expect(xml).toContain('<failure type="undetermined"');
    expect(xml).toContain('<error type="infra_error" message="world gone">');
    expect(xml).toContain('<skipped type="quarantined" message="in quarantine until 2026-03-02');
    // Where a quarantine is over no gate is met, whether the case passes or not.
    expect(xml).toMatch(
      /<testcase name="late #1"[^>]*>\s*<failure type="quarantine_over" message="it passed, and its quarantine is over since 2026-03-01 \(ann: flaky\)/,
    );
    expect(xml).toMatch(/<testcase name="late #2"[^>]*>\s*<failure type="(?!quarantine)/);
  });
});

describe('trials.csv', () => {
  const rows = parse(reportCsv(data), { columns: true }) as readonly { readonly [column: string]: string }[];

  test('has a row for each trial, in which no cell is a formula and nothing is hidden', () => {
    expect(rows).toHaveLength(every.length + 1);
    for (const cell of rows.flatMap((row) => Object.values(row))) {
      expect(cell).not.toMatch(/^[\s]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/u);
      expect(cell).not.toMatch(/[\p{Cc}\p{Cs}\u202e]/u);
    }
    expect(rows.at(-1)).toMatchObject({ case: expect.stringMatching(/^'=HYPERLINK/), money: '0.25 USD' });
  });

  test('what was not measured is empty, and never 0', () => {
    expect(rows[0]).toMatchObject({ wall_ms: '1200', agent_ms: '', input_tokens: '', money: '', standing: 'pass' });
    expect(rows[5]).toMatchObject({ standing: 'open', wall_ms: '', ending: '' });
  });
});

test('report.json holds everything as it is, a line for each trial', () => {
  const text = reportJson(data);
  const parsed = JSON.parse(text) as { readonly facts: readonly unknown[] };
  expect(parsed).toEqual({ type: 'report', version: 2, ...JSON.parse(JSON.stringify(data)) });
  expect(text.split('\n').filter((line) => line.startsWith('    {"trial":'))).toHaveLength(every.length + 1);
  expect(JSON.parse(reportJson(reportData([])))).toMatchObject({ facts: [] });
});

test('report.md: hostile text in every field is no markup, and the text stays within the size of a comment', () => {
  const long = 'x'.repeat(5_000);
  const many = Array.from({ length: 1_000 }, (_, at) => ({
    ...hostile,
    trial: `b1-${at}`,
    case: `${long}${at}`,
    agent: `${HOSTILE}${at % 40}`,
    schedule: `s${at % 60}`,
  }));
  const text = reportMarkdown(
    reportData([], {
      facts: many,
      batch: { ...data.batch, sources: Object.fromEntries(many.slice(0, 5).map(({ agent }) => [agent, { commit: 'f'.repeat(40), dirty: true }])) },
    }),
  );
  expect(text.length).toBeLessThan(65_536);
  const outsideCode = text.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
  expect(outsideCode.length).toBeLessThan(text.length);
  expect(/<script|^# head|\u001b|\u202e|@team/m.exec(outsideCode)).toBeNull();
  expect(text).toContain('## What this fixture proves, and what it does not');
  expect(text).toContain('Left out for length:');
});

test('report.md: a section that is too long costs no short one', () => {
  const [first] = every;
  const many = Array.from({ length: 900 }, (_, at) => ({ ...(first ?? hostile), trial: `b1-${at}`, case: `case-${at}-${'x'.repeat(600)}` }));
  const text = reportMarkdown(reportData([], { facts: many }));
  const left = /^Left out for length: (.*?)\. The whole/m.exec(text)?.[1];
  expect(left).toBe('Cases and agents');
  expect(text).toContain('## Cost and time');
  expect(text.length).toBeLessThanOrEqual(60_000);
});
