import type { Case } from '../../domain/case.ts';
import type { FaultSchedule } from '../../domain/fault.ts';
import type { ModelCall } from '../../domain/model.ts';
import type { Message, TrialRecord } from '../../domain/record.ts';
import type { ConversationEntry } from '../../store/conversation.ts';
import type { AttemptRow, LateRequest, StoredVerdict, TrialRow } from '../../store/store.ts';
import { ruleText } from '../fault-words.ts';
import { ticketsOf, type TicketTables } from '../tickets.ts';
import { findingsOf, focusOf } from './evidence.ts';
import { linksOf } from './links.ts';
import { rowsOf } from './rows.ts';
import { stepsOf } from './steps.ts';
import type { Trace, TraceHead, TraceSchedule, TraceStep, TraceTicket } from './trace.ts';

/** One attempt of a trial as it is stored: what `show` tells, of this attempt. */
export interface TraceSource {
  readonly trial: TrialRow;
  /** Which one it is of; 0: none has begun. */
  readonly attempt: number;
  readonly origin?: { readonly trial: string; readonly attempt: number; readonly calls: number };
  readonly kase: Case;
  readonly schedule: FaultSchedule | null;
  readonly attempts: readonly AttemptRow[];
  readonly record: TrialRecord | null;
  readonly messages: readonly Message[];
  readonly modelCalls: readonly ModelCall[];
  readonly conversation: readonly ConversationEntry[];
  /** Of all attempts. */
  readonly verdicts: readonly StoredVerdict[];
  readonly lateRequests: readonly LateRequest[];
  /** Tables of the ticket service; null: it has none, or its environment is not here. */
  readonly ticketTables: TicketTables | null;
}

/** An attempt, step by step, from its record alone: no world is needed. Pure. */
export function traceOf(source: TraceSource): Trace {
  const { record, messages, conversation, lateRequests, modelCalls, ticketTables } = source;
  const head = headOf(source);
  const bare = stepsOf({ record, messages, entries: conversation, lateRequests, recalled: head.origin?.calls ?? 0, ended: head.ending !== null });
  const findings = findingsOf(head.verdict, bare);
  const links = linksOf(bare, head.verdict?.recovery ?? [], record?.faults?.rules ?? []);
  const steps = bare.map((step) => ({
    ...step,
    findings: findings.flatMap((finding, at) => (finding.judgement !== 'pass' && finding.steps.includes(step.n) ? [at] : [])),
    links: links.get(step.n) ?? [],
  }));
  const rows = rowsOf(steps.flatMap(({ n, changes }) => changes.map((change) => ({ step: n, change }))));
  const numbers = new Map(steps.flatMap(({ operation, n }) => (operation === null ? [] : [[operation.id, n] as const])));
  return {
    type: 'trace',
    version: 1,
    head,
    steps,
    findings,
    recovery: (head.verdict?.recovery ?? []).map((note) => ({ ...note, step: numbers.get(note.operation) ?? null })),
    rows,
    tickets: ticketTables === null ? null : tracedTickets(record, rows, ticketTables),
    conversation: steps.flatMap(({ n, messages: said }) => said.map((message) => ({ step: n, message }))),
    models: { calls: modelCalls, entries: conversation },
    focus: focusOf(findings, steps),
    missing: missingIn(source, steps),
  };
}

function headOf({ trial, attempt, origin, kase, schedule, attempts, record, verdicts }: TraceSource): TraceHead {
  const row = attempts.find((one) => one.attempt === attempt);
  const counts = attempt === trial.attempt;
  const graded = verdicts.filter((one) => one.attempt === attempt);
  return {
    trial: trial.id,
    batch: trial.batch,
    case: trial.caseId,
    title: kase.title,
    agent: trial.agentName,
    agentHash: trial.agentHash,
    repetition: trial.repetition,
    attempt,
    counts,
    attempts,
    ending: row?.ending ?? record?.ending ?? (counts ? (trial.summary?.ending ?? null) : null),
    problem: row?.problem ?? record?.problem ?? null,
    verdict: graded.find(({ current }) => current) ?? newestOf(graded),
    why: counts ? (trial.summary?.why ?? null) : null,
    summary: counts ? trial.summary : null,
    user: { name: kase.permission.user, role: kase.permission.role },
    clock: { at: kase.clock, timezone: kase.timezone },
    schedule: schedule === null ? null : scheduleOf(schedule, record),
    origin: counts ? (origin ?? null) : null,
    ownAccess: record?.ownAccess ?? null,
    beyondBudget: record?.beyondBudget ?? 0,
  };
}

function newestOf(verdicts: readonly StoredVerdict[]): StoredVerdict | null {
  return [...verdicts].sort((a, b) => (a.gradedAt < b.gradedAt ? 1 : -1))[0] ?? null;
}

function scheduleOf({ name, title, rules }: FaultSchedule, record: TrialRecord | null): TraceSchedule {
  const injected = record?.faults?.injected;
  const fired = (rule: number) => (injected === undefined ? null : injected.filter((fault) => fault.rule === rule).length);
  return { name, title, rules: rules.map((rule, at) => ({ text: ruleText(rule), fired: fired(at) })) };
}

/** The tickets by their rows, so that they too can be shown as they were after any step. */
function tracedTickets(record: TrialRecord | null, rows: Trace['rows'], tables: TicketTables): TraceTicket[] {
  const places = (table: string, wanted: (row: Trace['rows'][number]) => boolean) =>
    rows.flatMap((row, at) => (row.table === table && wanted(row) ? [at] : []));
  return ticketsOf({ effects: record?.effects ?? [] }, tables).map(({ key, comments }) => {
    const seen = new Set(comments.map((comment) => JSON.stringify(comment.key)));
    const own = places(tables.tickets, (row) => String(row.key['id'] ?? Object.values(row.key).join(',')) === key);
    return { key, row: own[0] ?? null, comments: places(tables.comments, (row) => seen.has(JSON.stringify(row.key))) };
  });
}

function missingIn({ record, attempt, messages, kase, verdicts, trial }: TraceSource, steps: readonly TraceStep[]): string[] {
  const told: (string | false)[] = [
    attempt === 0 && 'No attempt of this trial has begun.',
    record === null && attempt > 0 && 'Nothing was recorded of this attempt: which tools were called, and what changed, is not known.',
    attempt > 0 && attempt === trial.attempt && trial.phase !== 'done' && `The trial has not ended: it is in phase ${trial.phase}.`,
    record?.removed?.includes('conversation') === true && 'The conversation was removed since, by its age.',
    record?.removed?.includes('subject') === true && 'What was of one person was removed since, on their wish.',
    record?.replayed !== undefined &&
      'The trial was played on a cassette: rows and mails are those of the recorded calls that answered it, and were not observed in it.',
    record?.ownAccess !== undefined &&
      `The agent had clients of its own (${record.ownAccess.services.join(', ')}): what it did by them is in no list of calls. Its effects stand between the calls, as of nobody's call.`,
    steps.some(({ kind, placed }) => kind === 'said' && !placed) &&
      'The record does not say between which calls the messages in the middle of the conversation were said: they stand behind the calls.',
    steps.some(({ kind, placed }) => kind !== 'said' && !placed) && 'Of changes that nobody’s call made, the place among calls that only read is not recorded.',
    messages.length === 0 && kase.turns.length > 0 && record?.removed === undefined && attempt > 0 && 'No message was recorded.',
    verdicts.some((one) => one.attempt === attempt && one.current && one.caseHash !== trial.caseHash) &&
      'The verdict is by a case that was edited since the trial ran.',
  ];
  return told.filter((line) => line !== false);
}
