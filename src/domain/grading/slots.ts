import type { Count, EffectPattern, Outcome } from '../case.ts';
import type { Effect, MailEffect, RowEffect } from '../effect.ts';
import type { JsonObject } from '../json.ts';
import { printable, quote } from '../text/bounded.ts';
import { canonicalText } from '../text/canonical.ts';
import { mailbox } from '../text/mailbox.ts';
import type { Room } from './assign.ts';
import { columnText } from './equal.ts';
import { acceptedRecipients, isMailPattern, type Mismatch, mismatches, sameKind } from './match.ts';
import { addressesText, columnsText, partText } from './words.ts';
import { changedColumns, columnOf, factsOf, type NetEffect, scaleOf, textOf, type Tables } from './net.ts';

/** A rule of the case that effects can fill, with room for so many of them. */
export interface Slot extends Room {
  /** Path in the case, for example `expect.outcomes[0].effects[1]`. */
  readonly rule: string;
  /** What fills it, as half a sentence: `an insert into refunds with order_id 1007`. */
  readonly title: string;
  readonly fits: (effect: NetEffect) => boolean;
  /** As {@link mismatches}. */
  readonly mismatches: (effect: NetEffect) => Mismatch[] | null;
}

/**
 * Slots of an accepted end state: what must be there. For `same_as: reference` each effect of the reference, as often as it has it.
 * Null when the reference's effects are not in the record.
 */
export function slotsOfOutcome(outcome: Outcome, rule: string, referenceEffects: readonly NetEffect[] | null, tables: Tables): Slot[] | null {
  if (!('same_as' in outcome)) {
    return outcome.effects.map((pattern, at) => ({ ...patternSlot(pattern, `${rule}.effects[${at}]`, tables), ...roomOf(pattern.count, 1) }));
  }
  return referenceEffects === null ? null : referenceSlots(referenceEffects, `${rule}.same_as`, tables);
}

/** Slots of effects that may happen and need not: each at most once unless its `count` says more. */
export function slotsOfAllowed(allowed: readonly EffectPattern[], tables: Tables): Slot[] {
  return allowed.map((pattern, at) => ({ ...patternSlot(pattern, `expect.allowed[${at}]`, tables), min: 0, max: roomOf(pattern.count, 1).max }));
}

/** How many effects a pattern takes: a number means exactly so many; an open end of a range is 0, or no limit. */
export function roomOf(count: Count | undefined, standard: number): Room {
  if (count === undefined) return { min: standard, max: standard };
  if (typeof count === 'number') return { min: count, max: count };
  return { min: count.min ?? 0, max: count.max ?? Number.POSITIVE_INFINITY };
}

/** A pattern as half a sentence. */
export function describePattern(pattern: EffectPattern): string {
  if (isMailPattern(pattern)) {
    const from = pattern.from === undefined ? '' : ` from ${printable(pattern.from)}`;
    const asked = [
      ...(pattern.subject === undefined ? [] : [partText('subject', pattern.subject)]),
      ...(pattern.body === undefined ? [] : [partText('body', pattern.body)]),
    ];
    return `a mail${from} to ${addressesText(pattern.mail)}${asked.length === 0 ? '' : ` with ${asked.join(', ')}`}`;
  }
  const where = columnsText(pattern.where ?? {});
  const before = columnsText(pattern.before ?? {});
  return `${changeWords(pattern.change)} ${printable(pattern.row)}${where === '' ? '' : ` with ${where}`}${before === '' ? '' : ` that had ${before}`}`;
}

/** An effect as half a sentence: which row or mail. */
export function describeEffect(effect: Effect): string {
  if (effect.kind === 'row') return `${changeWords(effect.change)} ${printable(effect.table)} (${keyText(effect.key)})`;
  return `a mail to ${addressesText(acceptedRecipients(effect))} with subject ${quote(effect.subject)}`;
}

/** A row's key as people write it: `id 3`. */
export function keyText(key: JsonObject): string {
  return (
    Object.entries(key)
      .map(([column, value]) => `${printable(column)} ${quote(value)}`)
      .join(', ') || 'no key'
  );
}

function changeWords(change: RowEffect['change']): string {
  return { insert: 'an insert into', update: 'an update of', delete: 'a delete from' }[change];
}

function patternSlot(pattern: EffectPattern, rule: string, tables: Tables): Omit<Slot, keyof Room> {
  const differences = (effect: NetEffect): Mismatch[] | null => mismatches(pattern, effect, { tables });
  return {
    rule,
    title: describePattern(pattern),
    fits: (effect) => sameKind(pattern, effect) && differences(effect)?.length === 0,
    mismatches: differences,
  };
}

function referenceSlots(reference: readonly NetEffect[], rule: string, tables: Tables): Slot[] {
  const groups = new Map<string, NetEffect[]>();
  const names = new WeakMap<NetEffect, string>();
  const nameOf = (effect: NetEffect): string => {
    const known = names.get(effect) ?? signature(effect, tables);
    names.set(effect, known);
    return known;
  };
  for (const effect of reference) {
    const group = groups.get(nameOf(effect));
    if (group === undefined) groups.set(nameOf(effect), [effect]);
    else group.push(effect);
  }
  return [...groups].flatMap(([name, effects]) => {
    const [first] = effects;
    if (first === undefined) return [];
    return {
      rule,
      title: `${describeEffect(first)}, as the reference leaves it`,
      min: effects.length,
      max: effects.length,
      fits: (effect: NetEffect) => nameOf(effect) === name,
      mismatches: (effect: NetEffect) => referenceMismatches(first, effect, tables),
    };
  });
}

/** One text for mails that a comparison of end states calls equal. */
export function mailSignature(mail: MailEffect): string {
  return canonicalText(['mail', recipientsOf(mail), mail.subject, bodyText(mail)]);
}

function signature(effect: NetEffect, tables: Tables): string {
  if (effect.kind === 'mail') return mailSignature(effect);
  return canonicalText(['row', effect.table, effect.change, imageText(effect.table, effect.before, tables), imageText(effect.table, effect.after, tables)]);
}

function imageText(table: string, image: JsonObject | null, tables: Tables): JsonObject | null {
  if (image === null) return null;
  const facts = factsOf(tables, table);
  const counted = Object.entries(image).filter(([column]) => !facts.ignored.includes(column));
  return Object.fromEntries(counted.map(([column, value]) => [column, columnText(value, scaleOf(facts, column), textOf(facts, column))]));
}

function referenceMismatches(expected: NetEffect, found: NetEffect, tables: Tables): Mismatch[] | null {
  if (expected.kind === 'mail' && found.kind === 'mail') return referenceMailMismatches(expected, found);
  if (expected.kind !== 'row' || found.kind !== 'row' || expected.table !== found.table || expected.change !== found.change) return null;
  const differences: Mismatch[] = [];
  for (const side of ['before', 'after'] as const) {
    const wanted = expected[side];
    const image = found[side];
    if (wanted === null || image === null) continue;
    for (const column of changedColumns(expected.table, wanted, image, tables)) {
      const [a, b] = [columnOf(wanted, column) ?? null, columnOf(image, column) ?? null];
      differences.push({
        at: side === 'after' ? column : `before.${column}`,
        expected: a,
        found: b,
        text: `${printable(column)} ${side} the change is ${quote(b)}, expected ${quote(a)}`,
      });
    }
  }
  return differences;
}

function referenceMailMismatches(expected: MailEffect, found: MailEffect): Mismatch[] {
  const parts = [
    ['recipients', recipientsOf(expected), recipientsOf(found)],
    ['subject', expected.subject.normalize('NFC'), found.subject.normalize('NFC')],
    ['body', bodyText(expected), bodyText(found)],
  ] as const;
  return parts.filter(([, a, b]) => canonicalText(a) !== canonicalText(b)).map(([at, a, b]) => ({ at, expected: a, found: b, text: referenceText(at, a, b) }));
}

function referenceText(at: string, expected: string | readonly string[], found: string | readonly string[]): string {
  if (typeof expected === 'string' || typeof found === 'string') return `${at} is ${quote(found)}, expected ${quote(expected)}`;
  return `${at} are ${addressesText(found)}, expected ${addressesText(expected)}`;
}

function recipientsOf(mail: MailEffect): string[] {
  return [...new Set(acceptedRecipients(mail).map(mailbox))].sort();
}

/** A body without the differences that transport makes: line ends and white space at the end. */
function bodyText(mail: MailEffect): string {
  return mail.text.replace(/\r\n?/g, '\n').trimEnd().normalize('NFC');
}
