import type { MailEffect } from '../effect.ts';
import type { Json } from '../json.ts';
import type { TrialRecord } from '../record.ts';
import { evidence, printable, quote } from '../text/bounded.ts';
import { acceptedRecipients } from './match.ts';
import { changedColumns, columnOf, type NetEffect } from './net.ts';
import { addressesText } from './words.ts';

/** Who did it, for the end of a sentence: ` by issue_refund (operation op-3)`. */
export function byWhom(operations: readonly string[], record: TrialRecord): string {
  if (operations.length === 0) return ' without an operation';
  const named = operations.slice(0, 5).map((id) => {
    const tool = record.operations.find((operation) => operation.id === id)?.tool;
    return tool === undefined ? `operation ${printable(id)}` : `${printable(tool)} (operation ${printable(id)})`;
  });
  return ` by ${named.join(', ')}${operations.length > 5 ? ` and ${operations.length - 5} more` : ''}`;
}

/** Which columns an update changed: what a reader of a row asks first. */
export function changesText(effect: NetEffect, record: TrialRecord): string {
  if (effect.kind !== 'row' || effect.before === null || effect.after === null) return '';
  const { table, before, after } = effect;
  const changed = changedColumns(table, before, after, record.tables);
  const told = changed
    .slice(0, MAX_COLUMNS)
    .map((column) => `${printable(column)} from ${quote(columnOf(before, column) ?? null)} to ${quote(columnOf(after, column) ?? null)}`);
  return ` changing ${told.join(', ')}${changed.length > MAX_COLUMNS ? ` and ${changed.length - MAX_COLUMNS} columns more` : ''}`;
}

const MAX_COLUMNS = 6;

/** An effect as evidence: the whole row before and after, or the mail. */
export function effectEvidence(effect: NetEffect): Json {
  if (effect.kind === 'row') {
    return { table: printable(effect.table), change: effect.change, key: evidence(effect.key), before: evidence(effect.before), after: evidence(effect.after) };
  }
  return {
    mail: acceptedRecipients(effect).map((address) => printable(address)),
    from: printable(effect.from),
    subject: printable(effect.subject),
    body: printable(effect.text),
    message_id: evidence(effect.messageId),
  };
}

/** A mail among others of its kind. */
export function mailName(mail: MailEffect): string {
  return `mail ${printable(mail.messageId ?? `number ${mail.seq}`)} to ${addressesText(acceptedRecipients(mail))}`;
}

/** Half a sentence as the beginning of one. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
