import { describe, expect, test } from 'vitest';
import { timelineLines } from '../../src/cli/trial-timeline.ts';
import { summaryLines } from '../../src/cli/summary-lines.ts';
import { trialLine } from '../../src/cli/trial-line.ts';
import type { Fault, FaultSchedule, InjectedFault } from '../../src/domain/fault.ts';
import type { RecordedFaults } from '../../src/domain/record.ts';
import { DEFAULT_RUNTIME, type ProductionRuntime } from '../../src/domain/runtime.ts';
import { collectReport } from '../../src/report/collect.ts';
import { scheduleReports } from '../../src/report/fault-counts.ts';
import { ruleText, runtimeTexts } from '../../src/report/fault-words.ts';
import { reportMarkdown } from '../../src/report/report-markdown.ts';
import { facts, reportData, reportTrial, trial } from './report-support.ts';
import { operation, trialView } from './trial-view-support.ts';

const RUNTIME: ProductionRuntime = {
  timeoutSeconds: 90,
  retries: { on: ['unavailable'], attempts: 2, backoffSeconds: 1, honoursRetryAfter: true },
  words: { unknown: 'Gateway timeout.' },
  lookup: 'get_operation',
  wait: null,
};

const LOST: FaultSchedule = {
  name: 'lost-reply',
  title: 'The reply of <a refund> is lost',
  cases: ['*'],
  rules: [
    { on: { tool: 'issue_refund' }, calls: [1], fault: { kind: 'timeout_after_commit', afterMs: 300 } },
    {
      on: { tool: 'get_order' },
      calls: { from: 2 },
      where: { id: 7 },
      probability: 0.3,
      fault: { kind: 'rate_limited', retryAfterSeconds: 2, retryAfterAs: 'seconds' },
    },
  ],
};

const LOST_DOCUMENT = { hash: 'f'.repeat(64), schedule: LOST };

function injected(over: Partial<InjectedFault> = {}): InjectedFault {
  return {
    rule: 0,
    kind: 'timeout_after_commit',
    on: 'issue_refund',
    position: 1,
    operation: 'op-1',
    detail: 'issue_refund was carried out, and its reply never came',
    at: '2026-03-02T08:30:01Z',
    ...over,
  };
}

function recorded(...faults: readonly InjectedFault[]): RecordedFaults {
  return { schedule: 'lost-reply', rules: LOST.rules.map(({ probability: _, ...rule }, index) => ({ ...rule, index })), injected: faults, runtime: RUNTIME };
}

test('a rule is told in words, whatever its kind', () => {
  const of = (fault: Fault) => ruleText({ on: { tool: 't' }, fault }).replace('every call of t: ', '');
  const changes = [{ update: 'prices', where: { id: 1 }, set: { amount: 5 } }];
  expect(ruleText(LOST.rules[0] ?? { on: 'start', fault: { kind: 'smtp_data' } })).toBe('call 1 of issue_refund: the call has its effect, and then times out');
  expect(ruleText(LOST.rules[1] ?? { on: 'start', fault: { kind: 'smtp_data' } })).toBe(
    'every call from number 2 of get_order where {"id":7}, each with probability 0.3: rate limited with no effect, for 2 s',
  );
  expect(ruleText({ on: { service: 'inbox' }, calls: { from: 2, to: 4 }, fault: { kind: 'smtp_data' } })).toBe(
    'requests 2 to 4 of the service inbox: the mail connection ends in the middle of the message',
  );
  expect(ruleText({ on: 'start', fault: { kind: 'conflicting_records', changes } })).toBe(
    'before the agent begins: records are made to disagree: somebody else updates prices where {"id":1} to {"amount":5}',
  );
  const kinds: readonly [Fault, RegExp][] = [
    [{ kind: 'rate_limited', retryAfterSeconds: 7200, retryAfterAs: 'http_date', attempts: 1 }, /for 2 h \(told as a date\), for one try/],
    [{ kind: 'unavailable', committed: true, retryAfterSeconds: 0.3 }, /carried out, and answered as unavailable, retry after 0.3 s/],
    [{ kind: 'timeout_before_commit', afterMs: 300 }, /request is lost.*no effect/],
    [{ kind: 'slow', bySeconds: 90 }, /1.5 min later/],
    [{ kind: 'stale_read', asOf: 'start', reads: 2, forSeconds: 60 }, /as of the start of the trial, 2 reads long, for 1 min/],
    [{ kind: 'concurrent_change', when: 'after', changes }, /somebody else updates prices .* just after it/],
    [{ kind: 'duplicate_delivery', copies: 1 }, /arrives 2 times/],
    [{ kind: 'permission_revoked' }, /revoked/],
    [
      { kind: 'schema_changed', rename: { a: 'b' }, remove: ['c'], renameResult: { d: 'e' } },
      /argument a is now b, argument c is gone, d of the result is now e/,
    ],
    [{ kind: 'malformed_reply' }, /cannot be read/],
    [{ kind: 'payload_too_large', limitBytes: 10 }, /10 bytes/],
    [{ kind: 'smtp_connect', code: 421 }, /421/],
    [{ kind: 'smtp_recipient', code: 550 }, /every recipient is answered with 550/],
    [{ kind: 'smtp_final_dot', stored: true }, /kept, and the reply is lost/],
  ];
  for (const [fault, words] of kinds) expect(of(fault)).toMatch(words);
});

test('production is told in words', () => {
  expect(runtimeTexts(RUNTIME)).toEqual([
    'a call times out after 1.5 min',
    'the production client tries up to 2 times more on unavailable, after as long as Retry-After says, else after 1 s',
    'an operation can be looked up with get_operation',
    'there is no tool for waiting',
    'unknown in the words of production',
  ]);
  expect(runtimeTexts(DEFAULT_RUNTIME)).toContain('the production client makes no tries of its own');
});

describe('a report', () => {
  const trials = [
    trial({ case: 'a' }),
    trial({ trial: 'b1-2', case: 'a', schedule: 'lost-reply', pass: 'fail', faults: { injected: 2, unfired: 1, fired: [2, 0] } }),
    trial({ trial: 'b1-3', case: 'b', schedule: 'lost-reply', faults: { injected: 0, unfired: 2, fired: [0, 0] } }),
  ];

  test('counts how often each rule fired, and says which never did', () => {
    const lost = { schedule: 'lost-reply' } as const;
    const of = [
      trial(),
      trial({ ...lost, faults: { injected: 2, unfired: 1, fired: [2, 0] } }),
      trial({ ...lost, faults: { injected: 0, unfired: 2, fired: [] } }),
      trial(lost),
    ];
    const [report] = scheduleReports(
      of.map((one) => facts(reportTrial(one))),
      [LOST_DOCUMENT],
    );
    expect(report).toMatchObject({
      schedule: 'lost-reply',
      trials: 2,
      rules: [
        { fired: 2, inTrials: 1 },
        { fired: 0, inTrials: 0 },
      ],
    });
  });

  test('has a section for fault schedules, in which nothing of a suite is markup', () => {
    const data = reportData(
      trials.map((t) => reportTrial(t)),
      {
        schedules: scheduleReports(
          [facts(reportTrial(trial({ schedule: 'lost-reply', faults: { injected: 1, unfired: 1, fired: [1, 0] } })))],
          [LOST_DOCUMENT],
        ),
        runtime: RUNTIME,
      },
    );
    const schedules = [
      { schedule: 'none', trials: 1, passed: 1, failed: 0, injected: 0, neverFired: false },
      { schedule: 'lost-reply', trials: 2, passed: 1, failed: 1, injected: 2, neverFired: false },
      { schedule: 'idle', trials: 2, passed: 2, failed: 0, injected: 0, neverFired: true },
    ];
    const text = reportMarkdown({ ...data, summary: { ...data.summary, schedules } });
    const section = text.slice(text.indexOf('## Fault schedules'), text.indexOf('## Failures'));
    expect(section).toContain('| `lost-reply` | 2 | 1 | 1 | 2 |');
    expect(section).toContain('**Never fired in any trial, so nothing was tested:** `idle`');
    expect(section).toContain('### `lost-reply`: The reply of &lt;a refund&gt; is lost');
    expect(section).toContain('and then times out (fired once, in 1 of 1 trial)');
    expect(section).toContain('(**never fired: tested nothing**)');
    expect(section).toContain('Production, as the agents met it: a call times out after 1.5 min;');
    expect(text).toContain('| case | faults | reference |');
    expect(text).toContain('- fault schedules: `none`, `lost-reply ffffffffffff`');
    expect(reportMarkdown(reportData([reportTrial(trial())]))).not.toContain('Fault schedules');
  });

  test('is collected with the schedules and the production of its trials', async () => {
    const data = reportData(trials.map((t) => reportTrial(t)));
    const collected = await collectReport(
      {
        documents: async () => ({ cases: [], agents: [], schedules: [LOST_DOCUMENT], approvals: [] }),
        show: async (id) => {
          const found = data.trials.find((t) => t.summary.trial === id);
          if (!found) throw new Error(id);
          const none = found.summary.schedule === 'none';
          const record = { problem: null, operations: [], tables: {}, ...(none ? {} : { faults: recorded(injected()) }) };
          return { trial: found.row, kase: { title: id }, attempts: [], record, verdicts: [] };
        },
      },
      data,
    );
    expect(collected.runtime).toEqual(RUNTIME);
    expect(collected.schedules).toMatchObject([{ schedule: 'lost-reply', trials: 2, rules: [{ fired: 2 }, { fired: 0 }] }]);
  });
});

const plain = (_style: string, text: string) => text;

test('a timeline shows each injected fault at its operation, and each rule with how often it fired', () => {
  const view = trialView();
  const faults = recorded(
    injected({ detail: 'lost \u001b[31m' }),
    injected({ rule: 1, kind: 'rate_limited', on: 'service inbox', position: 3, operation: null }),
  );
  if (view.record === null) throw new Error('the view has no record');
  const lines = timelineLines(
    { ...view, trial: { ...view.trial, schedule: 'lost-reply' }, schedule: LOST, record: { ...view.record, operations: [operation()], faults } },
    160,
    plain,
  );
  const text = lines.join('\n');
  expect(text).toContain('faults    lost-reply: The reply of <a refund> is lost');
  expect(text).toContain('1  call 1 of issue_refund: the call has its effect, and then times out (fired once)');
  expect(text).toContain('an operation can be looked up with get_operation');
  const at = lines.findIndex((line) => line.includes('issue_refund {'));
  expect(lines.slice(at).findIndex((line) => line.includes('fault timeout_after_commit (rule 1, issue_refund 1): lost'))).toBeGreaterThan(0);
  expect(text).toMatch(/faults without an operation:\n +fault rate_limited \(rule 2, service inbox 3\)/);
  expect(text).not.toContain('\u001b[31m');
  const idle = timelineLines({ ...view, schedule: LOST, record: { ...view.record, faults: recorded() } }, 200, plain).join('\n');
  expect(idle).toContain('(never fired: tested nothing)');
});

test('a run shows the schedule of a trial, and counts each schedule at its end', () => {
  expect(trialLine(trial({ agent: 'careful', schedule: 'lost-reply' }), 140, plain)).toContain('careful / lost-reply  ');
  expect(trialLine(trial({ agent: 'careful' }), 140, plain)).not.toContain('none');
  const { summary } = reportData([reportTrial(trial())]);
  const schedules = [
    { schedule: 'none', trials: 1, passed: 1, failed: 0, injected: 0, neverFired: false },
    { schedule: 'idle', trials: 2, passed: 2, failed: 0, injected: 0, neverFired: true },
  ];
  const text = summaryLines(
    { ...summary, schedules },
    [],
    { markdown: 'r.md', json: 'r.json' },
    { columns: 120, paint: plain, hint: (command) => command },
  ).join('\n');
  expect(text).toMatch(/idle +2 +2 +0 +0/);
  expect(text).toContain('never fired in any trial, so nothing was tested: idle');
});
