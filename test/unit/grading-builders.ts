import type { Case, Expectations } from '../../src/domain/case.ts';
import type { MailEffect, RowChange, RowEffect } from '../../src/domain/effect.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { TrialRecord } from '../../src/domain/record.ts';

const AT = '2026-03-02T09:30:00+01:00';

/** A case with these expectations and nothing else of interest. */
export function caseWith(expect: Partial<Expectations>, more: Partial<Case> = {}): Case {
  return {
    id: 'case',
    title: 'A case',
    kind: 'test',
    tags: [],
    turns: ['Please help.'],
    clock: AT,
    timezone: 'Europe/Berlin',
    state: [],
    expectsNothing: false,
    mutants: [],
    permission: { user: 'mara', role: 'agent', tools: [], attributes: {} },
    budget: { calls: 30, wallMs: 60_000, turns: 1 },
    reference: { steps: [], answer: '' },
    expect: { outcomes: [{ name: 'unchanged', effects: [] }], allowed: [], forbidden: [], constraints: [], claims: [], repeatedWrites: 'forbid', ...expect },
    ...more,
  };
}

/** A completed trial's record; effects get their order from their place unless they name one. */
export function recordOf(more: Partial<TrialRecord> & { readonly answer?: string } = {}): TrialRecord {
  const { answer, ...rest } = more;
  const said = answer === undefined ? [] : [{ turn: 1, from: 'agent' as const, text: answer }];
  return {
    ending: 'completed',
    operations: [],
    effects: [],
    lateAttempts: [],
    tables: {},
    referenceEffects: null,
    problem: null,
    messages: [{ turn: 1, from: 'user', text: 'Please help.' }, ...said],
    ...rest,
  };
}

let nextSeq = 1;

export function row(table: string, change: RowChange, before: JsonObject | null, after: JsonObject | null, more: Partial<RowEffect> = {}): RowEffect {
  const image = after ?? before ?? {};
  return { kind: 'row', seq: nextSeq++, table, change, key: { id: image['id'] ?? null }, before, after, operation: null, at: AT, ...more };
}

export const inserted = (table: string, after: JsonObject, more: Partial<RowEffect> = {}): RowEffect => row(table, 'insert', null, after, more);
export const updated = (table: string, before: JsonObject, after: JsonObject, more: Partial<RowEffect> = {}): RowEffect =>
  row(table, 'update', before, after, more);
export const deleted = (table: string, before: JsonObject, more: Partial<RowEffect> = {}): RowEffect => row(table, 'delete', before, null, more);

export function mail(to: readonly string[], more: Partial<MailEffect> = {}): MailEffect {
  return {
    kind: 'mail',
    seq: nextSeq++,
    accepted: true,
    from: 'desk@shop.test',
    recipients: to.map((address) => ({ address, code: 250 })),
    subject: 'Hello',
    text: 'Hello.',
    headers: {},
    messageId: `<${nextSeq}@shop.test>`,
    attachments: [],
    violations: [],
    operation: null,
    at: AT,
    ...more,
  };
}

export function call(seq: number, tool: string, args: Operation['args'], more: Partial<Operation> = {}): Operation {
  return {
    id: `op-${seq}`,
    seq,
    tool,
    effect: 'write',
    args,
    idempotencyKey: null,
    position: 1,
    told: 'committed',
    known: 'committed',
    result: {},
    problem: null,
    durationMs: 5,
    at: AT,
    disturbed: false,
    ...more,
  };
}
