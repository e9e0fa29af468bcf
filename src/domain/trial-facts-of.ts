import type { Case } from './case.ts';
import { type CaseLabels, labelsOf } from './case-labels.ts';
import { categoryOf } from './failure-category.ts';
import { isObject, printable } from './text/bounded.ts';
import {
  type FactDiagnostics,
  type FactFinding,
  FORBIDDEN_CODES,
  MAX_FINDING_OPERATIONS,
  MAX_FINDINGS,
  type TrialFacts,
  type TrialTimes,
} from './trial-facts.ts';
import type { TrialSummary } from './trial.ts';
import type { Finding, Verdict } from './verdict.ts';

/** A trial as the store has it. */
export interface StoredTrial {
  readonly id: string;
  readonly batch: string;
  readonly ordinal: number;
  readonly case_id: string;
  readonly case_hash: string;
  readonly agent_name: string;
  readonly agent_hash: string;
  readonly schedule: string;
  readonly schedule_hash: string | null;
  readonly repetition: number;
  readonly attempt: number;
  readonly generation: string;
  /** Null: its case is not in the store. */
  readonly kase: Case | null;
  /** As its batch was made with; null or absent: as the case says. */
  readonly labels?: CaseLabels | null;
  /** Null: the attempt that counts has not ended. */
  readonly summary: TrialSummary | null;
  /** The current one; null: nothing was graded. */
  readonly verdict: Verdict | null;
  readonly tokens: TrialFacts['tokens'];
  readonly money: TrialFacts['money'];
}

/** What is kept of a trial for reports. A pure function. */
export function factsOf(row: StoredTrial): TrialFacts {
  const { kase, summary, verdict } = row;
  const findings = verdict === null ? [] : notPassed(verdict);
  const unknowns = (verdict?.recovery ?? []).filter(({ known, learned }) => known === 'undetermined' || !learned).length;
  return {
    trial: row.id,
    batch: row.batch,
    ordinal: row.ordinal,
    case: row.case_id,
    ...(kase && { title: kase.title }),
    caseHash: row.case_hash,
    schedule: row.schedule,
    scheduleHash: row.schedule_hash,
    repetition: row.repetition,
    agent: row.agent_name,
    agentHash: row.agent_hash,
    generation: row.generation,
    attempts: row.attempt,
    ending: summary?.ending ?? null,
    pass: summary?.pass ?? null,
    outcome: summary?.outcome ?? null,
    constraints: summary?.constraints ?? null,
    effects: summary?.effects ?? null,
    why: summary?.why ?? null,
    findings: findings.slice(0, MAX_FINDINGS).map(({ view, finding }) => factFinding(view, finding)),
    forbidden: findings.filter(({ finding }) => finding.judgement === 'fail' && isForbidden(finding.code)).length,
    category:
      summary === null
        ? null
        : categoryOf({
            ending: summary.ending,
            pass: summary.pass,
            findings: findings.map(({ finding }) => finding),
            strayMail: findings.some(({ finding }) => finding.judgement === 'fail' && saysRecipients(finding)),
            unknowns,
            invalidCalls: (verdict?.diagnostics.invalidArguments ?? 0) + (verdict?.diagnostics.unknownTools ?? 0),
            deniedCalls: verdict?.diagnostics.deniedCalls ?? 0,
          }),
    unknowns,
    calls: summary?.calls ?? 0,
    tokens: row.tokens,
    money: row.money,
    times: summary === null ? null : timesOf(summary),
    ...(summary?.faults && { faults: summary.faults }),
    ...(row.labels ?? labelsOf(kase ?? { tags: [] })),
    disturbed: summary?.disturbed ?? false,
    snapshot: summary?.snapshot ?? null,
    graded: verdict === null ? null : { grader: verdict.graderVersion, caseHash: verdict.caseHash },
    diagnostics: verdict === null ? null : diagnosticsOf(verdict),
  };
}

const VIEWS = ['outcome', 'constraints', 'effects'] as const;

/** Failures first, in the order of the views. */
function notPassed(verdict: Verdict): readonly { readonly view: FactFinding['view']; readonly finding: Finding }[] {
  const all = VIEWS.flatMap((view) => verdict[view].findings.map((finding) => ({ view, finding })));
  const of = (judgement: Finding['judgement']) => all.filter(({ finding }) => finding.judgement === judgement);
  return [...of('fail'), ...of('undetermined')];
}

/** A message is a sentence; what is longer is evidence, which `trialbed show` has. */
const MESSAGE_CHARACTERS = 400;

function factFinding(view: FactFinding['view'], { code, judgement, rule, message, operations }: Finding): FactFinding {
  return {
    view,
    code: printable(code, 80),
    judgement,
    rule: printable(rule, 200),
    message: printable(message, MESSAGE_CHARACTERS),
    ...(operations && operations.length > 0 && { operations: operations.slice(0, MAX_FINDING_OPERATIONS) }),
  };
}

function isForbidden(code: string): boolean {
  return FORBIDDEN_CODES.some((one) => one === code);
}

/** The nearest mail to one that is missing went to other people. */
function saysRecipients({ code, expected }: Finding): boolean {
  return (code === 'missing_effect' || code === 'wrong_value') && expected !== undefined && isObject(expected) && Object.hasOwn(expected, 'recipients');
}

/** What is neither the agent's nor a tool's is ours. Calls at once overlap, so the rest is never less than nothing. */
function timesOf({ durationMs, times, models }: TrialSummary): TrialTimes {
  const agentMs = times?.agentMs ?? models?.agent?.latencyMs ?? null;
  const toolMs = times?.toolMs ?? null;
  const waitMs = agentMs === null || toolMs === null ? null : Math.max(0, durationMs - agentMs - toolMs);
  return { wallMs: durationMs, agentMs, toolMs, waitMs };
}

function diagnosticsOf({ diagnostics }: Verdict): FactDiagnostics {
  const { callsByTool: _tools, callsByActor: _actors, handOversByActor: _givers, disturbed: _disturbed, calls: _calls, ...counts } = diagnostics;
  return counts;
}
