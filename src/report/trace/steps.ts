import type { Effect, MailEffect, RowEffect } from '../../domain/effect.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Message, TrialRecord } from '../../domain/record.ts';
import type { ConversationEntry } from '../../store/conversation.ts';
import type { LateRequest } from '../../store/store.ts';
import { isOwn, type Outsider, outsidersOf } from './placing.ts';
import { callsBeforeUser, saidBefore } from './said-before.ts';
import type { TraceStep } from './trace.ts';

/** What steps are made of. */
export interface StepParts {
  /** Null: nothing was recorded. */
  readonly record: TrialRecord | null;
  readonly messages: readonly Message[];
  readonly entries: readonly ConversationEntry[];
  readonly lateRequests: readonly LateRequest[];
  /** Calls that were answered from another attempt's record. */
  readonly recalled: number;
  /** The attempt has ended. */
  readonly ended: boolean;
}

/** Everything that happened, in order. Findings and links come later: they need the numbers. */
export function stepsOf(parts: StepParts): TraceStep[] {
  const { record, messages, lateRequests, ended } = parts;
  const operations = [...(record?.operations ?? [])].sort((a, b) => a.seq - b.seq);
  const { first, during, after } = partsOf(messages, operations);
  const outsiders = record === null ? [] : outsidersOf(record, operations);
  const beside = (at: number) => outsiders.filter(({ before }) => before === at).map(outsideStep);
  const called = callSteps(parts, operations, during);
  const placed = placesOf(after, callsBeforeUser(parts.entries, operations), operations.length);
  const saidAt = (at: number) => placed.filter(({ before }) => before === at).map(({ message, sure }) => saidStep(message, sure));
  const late = record?.lateAttempts ?? [];
  const steps: Draft[] = [
    ...first.map((message) => saidStep(message, true)),
    ...operations.flatMap((_, at) => [...beside(at), ...saidAt(at), ...(called[at] ? [called[at]] : [])]),
    ...beside(operations.length),
    ...saidAt(operations.length),
    ...(ended ? [{ ...EMPTY, kind: 'end' as const }] : []),
    ...(late.length + lateRequests.length > 0 ? [{ ...EMPTY, kind: 'late' as const, at: late[0]?.at ?? null, late, lateRequests }] : []),
    ...(ended ? [{ ...EMPTY, kind: 'verdict' as const }] : []),
  ];
  return withClock(steps);
}

type Draft = Omit<TraceStep, 'n' | 'clockMovedMs'>;

const EMPTY: Omit<Draft, 'kind'> = {
  at: null,
  operation: null,
  recalled: false,
  handOver: null,
  messages: [],
  changes: [],
  mails: [],
  faults: [],
  by: null,
  placed: true,
  late: [],
  lateRequests: [],
  findings: [],
  links: [],
  entry: null,
};

function callSteps({ record, entries, recalled }: StepParts, operations: readonly Operation[], during: ReadonlyMap<string, readonly Message[]>): Draft[] {
  const effects = new Map<string, Effect[]>();
  const known = new Set(operations.map(({ id }) => id));
  for (const effect of record?.effects ?? []) {
    if (effect.operation === null || !isOwn(effect, known)) continue;
    const own = effects.get(effect.operation) ?? [];
    effects.set(effect.operation, own);
    own.push(effect);
  }
  const said = saidBefore(entries, operations);
  return operations.map((operation) => {
    const own = effects.get(operation.id) ?? [];
    return {
      ...EMPTY,
      kind: 'operation',
      at: operation.at === '' ? null : operation.at,
      operation,
      recalled: operation.seq <= recalled,
      handOver: record?.handOvers?.find((one) => one.operation === operation.id) ?? null,
      messages: during.get(operation.id) ?? [],
      changes: rowsIn(own),
      mails: mailsIn(own),
      faults: (record?.faults?.injected ?? []).filter((fault) => fault.operation === operation.id),
      entry: said.get(operation.id) ?? null,
    };
  });
}

function outsideStep({ by, fault, effects, placed }: Outsider): Draft {
  const at = effects[0]?.at ?? fault?.at ?? null;
  const kind = effects.length > 0 ? 'outside' : 'fault';
  return { ...EMPTY, kind, at: at === '' ? null : at, changes: rowsIn(effects), mails: mailsIn(effects), faults: fault === null ? [] : [fault], by, placed };
}

function saidStep(message: Message, placed: boolean): Draft {
  return { ...EMPTY, kind: 'said', messages: [message], placed };
}

/** What was said before the first call, with a call (a question and its answer), and after that. */
function partsOf(messages: readonly Message[], operations: readonly Operation[]) {
  const known = new Set(operations.map(({ id }) => id));
  const during = new Map<string, Message[]>();
  const free: Message[] = [];
  for (const message of messages) {
    const { operation } = message;
    if (operation === undefined || !known.has(operation)) free.push(message);
    else during.set(operation, [...(during.get(operation) ?? []), message]);
  }
  // The agent begins with the first message; nothing is said before it.
  const opening = free[0]?.from === 'user' ? 1 : 0;
  return { first: free.slice(0, opening), during, after: free.slice(opening) };
}

/**
 * Before which call each of these messages was said: the user's where it is known how many calls there had been, the agent's before the user's next one. Where nobody recorded it
 * they stand behind the calls; the agent's last message is there anyway.
 */
function placesOf(
  messages: readonly Message[],
  counts: readonly number[],
  calls: number,
): { readonly message: Message; readonly before: number; readonly sure: boolean }[] {
  let user = 0;
  return messages.map((message, at) => {
    const next = message.from === 'user' ? user++ : user;
    const last = message.from === 'agent' && at === messages.length - 1;
    const before = messages.slice(at).some(({ from }) => from === 'user') ? counts[next] : last ? calls : undefined;
    return { message, before: before ?? calls, sure: before !== undefined };
  });
}

/** The world's clock stands still until something moves it: a wait, a slow reply, a time-out. */
function withClock(drafts: readonly Draft[]): TraceStep[] {
  let before: number | null = null;
  return drafts.map((draft, index) => {
    const now = draft.at === null ? Number.NaN : Date.parse(draft.at);
    const clockMovedMs = before === null || Number.isNaN(now) ? 0 : Math.max(0, now - before);
    if (!Number.isNaN(now)) before = Math.max(now, before ?? now);
    return { ...draft, n: index + 1, clockMovedMs };
  });
}

function rowsIn(effects: readonly Effect[]): RowEffect[] {
  return effects.filter((effect) => effect.kind === 'row');
}

function mailsIn(effects: readonly Effect[]): MailEffect[] {
  return effects.filter((effect) => effect.kind === 'mail');
}
