import type { Case, Outcome } from '../case.ts';
import type { MailEffect } from '../effect.ts';
import type { Json } from '../json.ts';
import type { Operation } from '../operation.ts';
import type { TrialRecord } from '../record.ts';
import { evidence, printable } from '../text/bounded.ts';
import { canonicalText } from '../text/canonical.ts';
import type { Finding } from '../verdict.ts';
import { assign } from './assign.ts';
import { columnMismatches, type Mismatch, mismatches } from './match.ts';
import { type NetChanges, type NetEffect, netChanges, netEffects, type RevertedRow } from './net.ts';
import { byWhom, changesText, effectEvidence, mailName, sentence } from './tell-effect.ts';
import { columnsText } from './words.ts';
import { describeEffect, describePattern, keyText, type Slot, slotsOfAllowed, slotsOfOutcome } from './slots.ts';

/** How the world compares with one accepted end state. */
export interface WorldJudgement {
  readonly outcome: Outcome;
  /** What is missing or wrong in the end state, the structured answer included. */
  readonly missing: readonly Finding[];
  /** What is there and must not be. */
  readonly extra: readonly Finding[];
}

/** The accepted end state with the fewest differences; of several, one that is for the schedule, then the first. A case without one expects that nothing changes. */
export function judgeWorld(kase: Case, record: TrialRecord, changes: NetChanges): WorldJudgement {
  const outcomes: readonly Outcome[] = kase.expect.outcomes.length > 0 ? kase.expect.outcomes : [{ name: 'unchanged', effects: [] }];
  const schedule = record.faults?.schedule ?? 'none';
  const named = outcomes.map((outcome, at) => ({ outcome, rule: `expect.outcomes[${at}]` }));
  const accepted = [...named.filter(({ outcome }) => outcome.under?.includes(schedule)), ...named.filter(({ outcome }) => outcome.under === undefined)];
  const compared = accepted.map(({ outcome, rule }) => compare(outcome, rule, kase, record, changes));
  return compared.reduce((best, next) => (next.differences < best.differences ? next : best)).judge();
}

/** Operations that may have changed something and of which nobody knows whether they did. */
export function undeterminedOperations(record: TrialRecord): Operation[] {
  return record.operations.filter(
    (op) => op.known === 'undetermined' && op.effect !== 'read' && !['rejected', 'denied', 'awaiting_approval'].includes(op.told),
  );
}

/** More findings of one kind than a person reads are summed up in one. */
const MAX_FINDINGS = 50;
const MAX_NAMED = 20;
const MAX_COMPARED = 300;

/** A comparison that is counted for every accepted end state, and put into words for the one that is taken. */
interface Comparison {
  readonly differences: number;
  readonly judge: () => WorldJudgement;
}

function compare(outcome: Outcome, rule: string, kase: Case, record: TrialRecord, changes: NetChanges): Comparison {
  const { tables } = record;
  const reference = 'same_as' in outcome && record.referenceEffects !== null ? netEffects(record.referenceEffects, tables) : null;
  const expected = slotsOfOutcome(outcome, rule, reference, tables);
  if (expected === null) {
    const message = 'The end state of the reference solution is not in the record, so this outcome cannot be compared.';
    return { differences: 1, judge: () => ({ outcome, missing: [{ code: 'no_reference', judgement: 'undetermined', rule, message }], extra: [] }) };
  }
  const slots = [...expected, ...slotsOfAllowed(kase.expect.allowed, tables)];
  const { effects } = changes;
  const slotOf = assign(effects.length, slots, (effect, slot) => fitsAt(slots[slot], effects[effect]));
  const held = new Map<number, number>();
  for (const slot of slotOf) if (slot !== null) held.set(slot, (held.get(slot) ?? 0) + 1);
  const left = effects.filter((_, at) => slotOf[at] === null);
  const short = expected.flatMap((slot, at) => ((held.get(at) ?? 0) < slot.min ? [{ slot, held: held.get(at) ?? 0 }] : []));
  const asReference = 'same_as' in outcome && record.referenceEffects !== null ? netChanges(record.referenceEffects, tables).reverted.map(rowOf) : [];
  const reverted = revertedFindings(
    changes.reverted.filter((row) => !asReference.includes(rowOf(row))),
    kase,
    record,
  );
  const answer = answerFindings(outcome, rule, record);
  return {
    differences: short.length + left.length + reverted.length + answer.length,
    judge: () => ({
      outcome,
      missing: [
        ...summedUp(short, (one) => missingFinding(one.slot, one.held, left, changes, record), 'missing_effect', 'expected effects are missing'),
        ...answer,
      ],
      extra: [...extraFindings(left, slots, kase, record, effects), ...reverted.slice(0, MAX_FINDINGS)],
    }),
  };
}

function fitsAt(slot: Slot | undefined, effect: NetEffect | undefined): boolean {
  return slot !== undefined && effect !== undefined && slot.fits(effect);
}

function missingFinding(slot: Slot, held: number, left: readonly NetEffect[], changes: NetChanges, record: TrialRecord): Finding {
  const nearest = nearestOf(slot, left);
  const times = slot.min === 1 && held === 0 ? '' : ` ${slot.min} times, found ${held}`;
  const base = { judgement: 'fail' as const, rule: slot.rule };
  if (nearest === null) {
    const hint = undoneHint(slot, changes.reverted) ?? refusedHint(slot, changes.refused) ?? '';
    return {
      ...base,
      code: 'missing_effect',
      message: `Expected ${slot.title}${times}; nothing ${held === 0 ? '' : 'more '}like it is in the world.${hint}`,
      expected: `${slot.title}${slot.min === 1 ? '' : `, ${slot.min} times`}`,
      found: held === 0 ? 'nothing like it' : `${held} of ${slot.min}`,
    };
  }
  const { effect, differences } = nearest;
  return {
    ...base,
    code: nearest.alike ? 'wrong_value' : 'missing_effect',
    message: `Expected ${slot.title}${times}; the nearest is ${describeEffect(effect)}${byWhom(effect.operations, record)}: ${differences
      .map((d) => d.text)
      .slice(0, 8)
      .join('; ')}.`,
    expected: sideOf(differences, 'expected'),
    found: sideOf(differences, 'found'),
    operations: effect.operations,
  };
}

function nearestOf(
  slot: Slot,
  left: readonly NetEffect[],
): { readonly effect: NetEffect; readonly differences: readonly Mismatch[]; readonly alike: boolean } | null {
  let best: { readonly effect: NetEffect; readonly differences: readonly Mismatch[] } | null = null;
  for (const effect of left.slice(0, MAX_COMPARED)) {
    const differences = slot.mismatches(effect);
    if (differences !== null && (best === null || differences.length < best.differences.length)) best = { effect, differences };
  }
  return best === null ? null : { ...best, alike: best.differences.length <= 2 };
}

function undoneHint(slot: Slot, reverted: readonly RevertedRow[]): string | null {
  const undone = reverted.find((row) => row.changes.some((change) => slot.fits({ ...change, operations: [] })));
  return undone === undefined ? null : ` It was made (${printable(undone.table)}, ${keyText(undone.key)}) and undone again.`;
}

function refusedHint(slot: Slot, refused: readonly MailEffect[]): string | null {
  const attempt = refused.find((mail) => slot.fits({ ...mail, recipients: mail.recipients.map((to) => ({ ...to, code: 250 })), operations: [] }));
  if (attempt === undefined) return null;
  const codes = attempt.recipients.map((to) => `${printable(to.address, 120)}: ${to.code}`).join(', ');
  return ` The inbox refused such a mail (${codes}).`;
}

function extraFindings(left: readonly NetEffect[], slots: readonly Slot[], kase: Case, record: TrialRecord, all: readonly NetEffect[]): Finding[] {
  const forbidden: { readonly effect: NetEffect; readonly at: number }[] = [];
  const beyond = new Map<Slot, number>();
  for (const effect of left) {
    const at = kase.expect.forbidden.findIndex((entry) => mismatches(entry.effect, effect, { tables: record.tables, only: 'explicit' })?.length === 0);
    const slot = at >= 0 ? undefined : slots.find((candidate) => candidate.fits(effect));
    if (slot === undefined) forbidden.push({ effect, at });
    else beyond.set(slot, (beyond.get(slot) ?? 0) + 1);
  }
  const named = summedUp(
    forbidden,
    (one) => forbiddenFinding(one.effect, one.at, slots, kase, record),
    'forbidden_effect',
    'effects are neither expected nor allowed',
  );
  const duplicates = [...beyond].slice(0, MAX_FINDINGS).map(([slot, more]) => duplicateFinding(slot, all.filter(slot.fits), more, record));
  return [...named, ...duplicates];
}

function forbiddenFinding(effect: NetEffect, at: number, slots: readonly Slot[], kase: Case, record: TrialRecord): Finding {
  const what = `${sentence(describeEffect(effect))}${changesText(effect, record)}${byWhom(effect.operations, record)}`;
  const base = { code: 'forbidden_effect', judgement: 'fail' as const, found: effectEvidence(effect), operations: effect.operations };
  const named = kase.expect.forbidden[at];
  if (named !== undefined) {
    return {
      ...base,
      rule: `expect.forbidden[${at}]`,
      message: `${what} is forbidden: ${printable(named.name)}.`,
      expected: `not ${describePattern(named.effect)}`,
    };
  }
  let nearest: { readonly slot: Slot; readonly differences: readonly Mismatch[] } | null = null;
  for (const slot of slots.slice(0, MAX_COMPARED)) {
    const differences = slot.mismatches(effect);
    if (differences !== null && (nearest === null || differences.length < nearest.differences.length)) nearest = { slot, differences };
  }
  const hint =
    nearest === null
      ? ''
      : ` The nearest rule is ${nearest.slot.rule}: ${nearest.differences
          .map((d) => d.text)
          .slice(0, 8)
          .join('; ')}.`;
  return { ...base, rule: 'closed world', message: `${what} is neither expected nor allowed.${hint}` };
}

function duplicateFinding(slot: Slot, all: readonly NetEffect[], more: number, record: TrialRecord): Finding {
  const operations = [...new Set(all.flatMap((effect) => effect.operations))];
  const names = all
    .slice(0, MAX_NAMED)
    .map((effect) => `${effect.kind === 'row' ? keyText(effect.key) : mailName(effect)}${byWhom(effect.operations, record)}`);
  const rest = all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : '';
  const times = slot.max === 1 ? 'once' : `${slot.max} times`;
  return {
    code: 'duplicate_effect',
    judgement: 'fail',
    rule: slot.rule,
    message: `${sentence(slot.title)} may happen ${times}; there are ${all.length}, ${more} too many: ${names.join('; ')}${rest}.`,
    expected: slot.max,
    found: all.slice(0, MAX_NAMED).map(effectEvidence),
    operations,
  };
}

function rowOf(row: RevertedRow): string {
  return canonicalText([row.table, row.key]);
}

/** What came back is allowed when every change on the way is. With `same_as: reference`, a row that the reference brings back as well is never in question. */
function revertedFindings(reverted: readonly RevertedRow[], kase: Case, record: TrialRecord): Finding[] {
  return reverted
    .filter(
      (row) => !row.changes.every((change) => kase.expect.allowed.some((pattern) => mismatches(pattern, change, { tables: record.tables })?.length === 0)),
    )
    .map((row) => ({
      code: 'reverted_effect',
      judgement: 'fail',
      rule: 'closed world',
      message: `The row of ${printable(row.table)} (${keyText(row.key)}) was changed and brought back (${row.changes
        .slice(0, 8)
        .map((c) => c.change)
        .join(', ')})${byWhom(row.operations, record)}; no rule allows these changes.`,
      found: row.changes.slice(0, 8).map((change) => ({ change: change.change, before: evidence(change.before), after: evidence(change.after) })),
      operations: row.operations,
    }));
}

function answerFindings(outcome: Outcome, rule: string, record: TrialRecord): Finding[] {
  if ('same_as' in outcome || outcome.answer === undefined) return [];
  const last = record.messages.filter((message) => message.from === 'agent').at(-1);
  const data = last?.data ?? null;
  if (data === null) {
    return [
      {
        code: 'missing_answer',
        judgement: 'fail',
        rule: `${rule}.answer`,
        message: 'The case asks for a structured answer; the last message of the agent holds none.',
        expected: `an answer with ${columnsText(outcome.answer)}`,
        found: last === undefined ? 'no message of the agent' : 'a message without a structured answer',
      },
    ];
  }
  return columnMismatches(outcome.answer, data, () => undefined).map((difference) => ({
    code: 'wrong_answer',
    judgement: 'fail',
    rule: `${rule}.answer.${printable(difference.at)}`,
    message: `In the structured answer ${difference.text}.`,
    expected: evidence(difference.expected),
    found: evidence(difference.found),
  }));
}

function summedUp<T>(items: readonly T[], tell: (item: T) => Finding, code: string, what: string): Finding[] {
  const told = items.slice(0, MAX_FINDINGS).map(tell);
  const more = items.length - told.length;
  return more <= 0 ? told : [...told, { code, judgement: 'fail', rule: 'closed world', message: `${more} more ${what}.`, found: more }];
}

function sideOf(differences: readonly Mismatch[], side: 'expected' | 'found'): Json {
  const values = new Map<string, Json[]>();
  for (const difference of differences) {
    const at = printable(difference.at);
    const value = evidence(difference[side]);
    const known = values.get(at) ?? [];
    // Several parts of one text may be missing, and the text is one.
    if (!known.some((one) => canonicalText(one) === canonicalText(value))) values.set(at, [...known, value]);
  }
  return Object.fromEntries([...values].map(([at, all]): [string, Json] => [at, all.length === 1 ? (all[0] ?? null) : all]));
}
