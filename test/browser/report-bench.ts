import { comparisonSentences } from '../../src/report/comparison/comparison-markdown.ts';
import { seriesOf } from '../../src/report/figures/series.ts';
import type { SeriesBatch } from '../../src/store/series.ts';
import { FAILURE_CATEGORIES } from '../../src/domain/failure-category.ts';
import type { TrialFacts } from '../../src/domain/trial-facts.ts';
import type { StoredVerdict } from '../../src/store/store.ts';
import type { ReportData } from '../../src/report/data.ts';
import { comparisonOf } from '../unit/comparison-support.ts';
import { failingVerdict } from '../unit/trial-view-support.ts';
import { facts, reportData, reportTrial, trial } from '../unit/report-support.ts';

/** Tags, the end of a script, a direction override, commands to a terminal, line ends of JavaScript, and a word that no line holds. */
export const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>" onload="x \u202egnp.exe\u001b[2J\u0007\u2028 <!-- ]]> ${'x'.repeat(300)}`;

/** A report of so many trials: two agents, cases, schedules, repetitions, and every kind of result. Where `text` is given it stands wherever somebody else writes. */
export function manyTrials(count: number, text?: string): ReportData {
  const all = Array.from({ length: count }, (_, at) => factsAt(at, text));
  const failed = all.filter(({ pass }) => pass === 'fail').slice(0, 12);
  const told = failed.map((one) =>
    reportTrial(trial({ trial: one.trial, case: one.case, agent: one.agent, schedule: one.schedule, repetition: one.repetition, pass: 'fail', why: one.why }), {
      title: text ?? 'Refund within policy',
      verdict: verdictOf(one, text),
      problem: text === undefined ? null : { code: 'told', message: text },
    }),
  );
  const passed = all.filter(({ pass }) => pass === 'pass').length;
  const data = reportData(told, { facts: all });
  return {
    ...data,
    summary: { ...data.summary, suite: text ?? 'support-desk', trials: count, passed, failed: count - passed, undetermined: 0 },
    opening: text === undefined ? data.opening : [text, ...data.opening],
    ...(text !== undefined && {
      comparisons: [{ agent: text, against: text, lines: [text], comparison: comparisonOf(text) }],
      series: seriesOf(Array.from({ length: 6 }, (_, at) => night(at, text))),
      isolation: { ...data.isolation, strayEffects: 2, strayTrials: 1, example: text },
    }),
    quarantined: [{ case: text ?? 'case-1', reason: text ?? 'flaky mail', owner: text ?? 'mara', until: '2026-01-31', over: true, trials: 4, passed: 2 }],
    schedules: [
      {
        schedule: text ?? 'mail-reply-lost',
        title: text ?? 'Reply lost',
        trials: 3,
        rules: [{ rule: text ?? 'reply of send_mail lost', fired: 0, inTrials: 0 }],
      },
    ],
    proofs: {
      shows: [...data.proofs.shows, ...(text === undefined ? [] : [text])],
      contracts: [text ?? 'On 2026-01-02 the replies of 3 tools were held against what cassettes have of them: nothing differed.'],
      doesNotShow: [...data.proofs.doesNotShow, ...(text === undefined ? [] : [text])],
      services: [
        { name: text ?? 'inbox', kind: 'fixture', contract: text ?? 'SMTP of RFC 5321', checkedAt: null, cannotShow: [text ?? 'delivery to a real provider'] },
      ],
    },
    coverage: [
      {
        case: text ?? 'case-1',
        title: text ?? 'Refund',
        caseHash: 'c'.repeat(64),
        checked: [{ what: text ?? 'table refunds', parts: [text ?? 'amount'] }],
        allowed: [],
        unobservable: [text ?? 'other systems'],
        closed: [text ?? 'orders'],
      },
    ],
  };
}

/** The same with what is there to compare with, and with thirty nights. */
export function besideAnother(count: number): ReportData {
  const data = manyTrials(count);
  const comparison = comparisonOf('lost-replies');
  const lines = comparisonSentences(comparison);
  return {
    ...data,
    opening: [...lines, ...data.opening],
    comparisons: [{ agent: 'careful', against: 'one:hasty', lines, comparison }],
    series: seriesOf(Array.from({ length: 30 }, (_, at) => night(at))),
  };
}

/** A nightly batch, in which agent or environment is another one now and then. */
function night(at: number, text = 'careful'): SeriesBatch {
  const task = (name: string, passed: number) => ({
    agent: text,
    agentVersion: `1.${Math.floor(at / 3)} ${text === 'careful' ? '' : text}`.trim(),
    agentHash: 'a'.repeat(64),
    case: name,
    caseHash: 'c'.repeat(64),
    schedule: 'none',
    scheduleHash: null,
    trials: 5,
    scored: 5,
    passed,
    harmful: at % 2,
  });
  return {
    batch: `night-${at}`,
    createdAt: new Date(Date.UTC(2026, 0, 1 + at, 2)).toISOString(),
    environment: { version: '1.0.0', generation: (at < 8 ? 'g' : 'h').repeat(64) },
    graders: ['7'],
    tasks: [task('refund', at % 6), task('cancel', 5)],
  };
}

function factsAt(at: number, text: string | undefined): TrialFacts {
  const agent = at % 2 === 0 ? 'hasty' : 'careful';
  const spread = (at * 7919) % 1000;
  const fails = spread < (agent === 'hasty' ? 420 : 160);
  const category = FAILURE_CATEGORIES[at % FAILURE_CATEGORIES.length] ?? 'uncategorised';
  const id = `b1-${String(at + 1).padStart(5, '0')}`;
  const schedule = ['none', 'mail-reply-lost', 'db-commit-lost', 'rate-limited'][Math.floor(at / 2) % 4] ?? 'none';
  const named = (name: string): string => (text === undefined ? name : `${name} ${text}`);
  const one = reportTrial(
    trial({
      trial: named(id),
      case: named(`case-${Math.floor(at / 8) % 50}`),
      agent: named(agent),
      schedule: named(schedule),
      repetition: 1 + Math.floor(at / 400),
      pass: fails ? 'fail' : 'pass',
    }),
  );
  return facts(one, {
    ordinal: at + 1,
    category: fails ? category : null,
    forbidden: fails && at % 3 === 0 ? 1 : 0,
    why: fails ? (text ?? `refunds.amount of order ${5000 + (at % 40)} is 250.00, expected 25.00`) : null,
    findings: fails
      ? [
          {
            view: 'effects',
            code: 'duplicate_effect',
            judgement: 'fail',
            rule: named('closed world'),
            message: text ?? 'a second mail to the customer',
            operations: ['op-4'],
          },
        ]
      : [],
    calls: 4 + (spread % 9),
    tokens: { input: 900 + spread * 3, output: 120 + spread },
    money: { USD: 0.002 + spread / 100_000 },
    times: { wallMs: 2_500 + spread * 6, agentMs: 800 + spread * 4, toolMs: 300 + spread, waitMs: 900 + (spread % 70) },
    tags: at % 5 === 0 ? ['refund', 'mail'] : ['refund'],
    severity: at % 9 === 0 ? 'critical' : 'medium',
  });
}

function verdictOf({ trial: id, attempts }: TrialFacts, text: string | undefined): StoredVerdict {
  const verdict = failingVerdict();
  const findings = verdict.outcome.findings.map((finding) =>
    text === undefined ? finding : { ...finding, rule: text, message: text, expected: text, found: { [text]: text } },
  );
  return { ...verdict, outcome: { ...verdict.outcome, findings }, trial: id, attempt: attempts, gradedAt: '2026-03-02T09:31:00.000Z', current: true };
}
