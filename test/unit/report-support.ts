import { factsOf } from '../../src/domain/trial-facts-of.ts';
import type { TrialFacts } from '../../src/domain/trial-facts.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Judgement } from '../../src/domain/verdict.ts';
import { composeReport } from '../../src/report/compose.ts';
import type { ReportData, ReportTrial } from '../../src/report/data.ts';
import type { BatchDocuments } from '../../src/store/store.ts';

/** A trial's line as a finished batch has it. */
export function trial(over: Partial<TrialSummary> = {}): TrialSummary {
  const pass: Judgement | null = over.pass === undefined ? 'pass' : over.pass;
  return {
    type: 'trial',
    trial: `b1-${over.case ?? 'refund'}-${over.agent ?? 'reference'}-${over.repetition ?? 1}`,
    batch: 'b1',
    case: 'refund',
    schedule: 'none',
    agent: 'reference',
    repetition: 1,
    attempt: 1,
    ending: 'completed',
    outcome: pass,
    constraints: pass,
    effects: pass,
    why: null,
    calls: 3,
    durationMs: 1200,
    disturbed: false,
    snapshot: null,
    ...over,
    pass,
  };
}

/** A report's trial around a summary. */
export function reportTrial(summary: TrialSummary, over: Partial<ReportTrial> = {}): ReportTrial {
  return {
    summary,
    title: 'Refund within policy',
    row: {
      id: summary.trial,
      caseId: summary.case,
      caseHash: 'c'.repeat(64),
      agentName: summary.agent,
      agentHash: 'a'.repeat(64),
      schedule: summary.schedule,
      scheduleHash: summary.schedule === 'none' ? null : 'f'.repeat(64),
      repetition: summary.repetition,
      batch: summary.batch,
      phase: 'done',
      attempt: summary.attempt,
      summary,
    },
    verdict: null,
    problem: null,
    details: [],
    ownAccess: [],
    attempts: [],
    ...over,
  };
}

/** What a report reads of a trial, around its summary. */
export function facts({ summary, row, title, verdict }: ReportTrial, over: Partial<TrialFacts> = {}): TrialFacts {
  return {
    ...factsOf({
      id: summary.trial,
      batch: summary.batch,
      ordinal: 1,
      case_id: summary.case,
      case_hash: row.caseHash,
      agent_name: summary.agent,
      agent_hash: row.agentHash,
      schedule: summary.schedule,
      schedule_hash: row.scheduleHash,
      repetition: summary.repetition,
      attempt: summary.attempt,
      generation: 'g'.repeat(64),
      kase: null,
      summary,
      verdict,
      tokens: null,
      money: null,
    }),
    title,
    ...over,
  };
}

/** A report's data around its trials, with the counts that belong to them. */
export function reportData(trials: readonly ReportTrial[], over: Partial<ReportData> & { readonly documents?: Partial<BatchDocuments> } = {}): ReportData {
  const count = (state: (t: TrialSummary) => boolean): number => trials.filter((t) => state(t.summary)).length;
  const scored = (t: TrialSummary): boolean => t.ending !== 'infra_error' && t.ending !== 'cancelled';
  const { documents, ...rest } = over;
  const composed = composeReport({
    batch: {
      id: 'b1',
      suite: 'support-desk',
      suiteFile: '/suites/support-desk/suite.yaml',
      manifestHash: 'm'.repeat(64),
      state: 'finished',
      hold: null,
      maxCost: null,
      environment: { name: 'support-desk', version: '1.0.0', file: '/packs/support-desk/pack.ts', options: {}, generation: 'g'.repeat(64) },
      seed: 's1',
      options: { isolation: 'schema', keep: 'failed', concurrency: 8, retries: 2 },
      sources: { suite: { commit: 'f'.repeat(40), dirty: true } },
      trials: trials.length,
      done: trials.length,
      createdAt: '2026-03-02T09:30:00.000Z',
      finishedAt: '2026-03-02T09:31:00.000Z',
      ...rest.batch,
    },
    summary: {
      type: 'summary',
      batch: 'b1',
      suite: 'support-desk',
      trials: trials.length,
      passed: count((t) => scored(t) && t.pass === 'pass'),
      failed: count((t) => scored(t) && t.pass === 'fail'),
      undetermined: count((t) => scored(t) && t.pass === 'undetermined'),
      infraErrors: count((t) => t.ending === 'infra_error'),
      cancelled: count((t) => t.ending === 'cancelled'),
      gate: 'not_met',
      seconds: 60,
      worlds: { made: 4, released: 4, swept: 0, leaked: 0 },
    },
    facts: rest.facts ?? trials.map((one) => facts(one)),
    documents: { cases: [], agents: [], schedules: [], ...documents },
    trials,
    approvals: [],
    calls: new Map(),
    tables: null,
    runtime: null,
    today: '2026-03-02T10:00:00.000Z',
  });
  return { ...composed, ...rest };
}
