import type { Json } from '../json.ts';
import { dateTimeOf, isPlainDate } from '../text/instant.ts';
import { mailboxesIn } from '../text/mailbox.ts';

/** What a value is, as far as its form and its name tell. */
export type ValueKind = 'recipient' | 'amount' | 'date' | 'id';

/** The kind of an argument's value; null for text, flags and anything whose name and form tell nothing. For `${order.total}` the last name of the path counts too. */
export function kindOf(name: string, value: Json): ValueKind | null {
  if (typeof value === 'number') return ID_NAME.test(name) ? 'id' : 'amount';
  if (typeof value !== 'string') return null;
  const reference = /^\$\{([^}]+)\}$/u.exec(value.trim());
  if (reference !== null) return kindOfName(name) ?? kindOfName((reference[1] ?? '').split('.').at(-1) ?? '');
  if (isAddress(value)) return 'recipient';
  if (isPlainDate(value) || dateTimeOf(value) !== null) return 'date';
  if (ID_NAME.test(name) && value.trim() !== '' && value.length <= 64) return 'id';
  return /^-?\d+(?:\.\d+)?$/u.test(value) ? 'amount' : null;
}

/** Another value of the same kind: the amount one higher, the date a day later, the id's last digit changed, another local part. A reference becomes a literal. */
export function alteredValue(kind: ValueKind, value: Json): Json {
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return value;
  if (/^\$\{/u.test(value.trim())) return { recipient: 'someone.else@example.org', amount: 0.01, date: '2031-07-19', id: 999_983 }[kind];
  if (kind === 'recipient') return alteredAddress(value);
  if (kind === 'date') return alteredDate(value);
  return kind === 'amount' ? alteredNumber(value) : alteredText(value);
}

/** An id with its last digit changed, or its last letter where it has none. */
export function alteredText(id: string): string {
  const at = id.search(/\d(?=\D*$)/u);
  if (at >= 0) return `${id.slice(0, at)}${(Number(id[at]) + 1) % 10}${id.slice(at + 1)}`;
  return id.endsWith('x') ? `${id}y` : `${id}x`;
}

/** A numeric text one higher, with as many decimal places. */
export function alteredNumber(text: string): string {
  return (Number(text) + 1).toFixed(Math.min(20, text.split('.')[1]?.length ?? 0));
}

/** Another mailbox of the same domain. */
export function alteredAddress(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at).lastIndexOf('<') + 1;
  return `${address.slice(0, local)}other.${address.slice(local)}`;
}

/** The day after, in the form that the date had; any time of day stays. */
export function alteredDate(text: string): string {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + 1);
  return `${day.toISOString().slice(0, 10)}${text.slice(10)}`;
}

const ID_NAME = /(?:^|_|-)(?:ids?|keys?|number|no|nr|code|ref|reference|sku|uuid)$|(?:Id|Ids|Key|Number|Code|Ref)$/u;

function kindOfName(name: string): ValueKind | null {
  if (ID_NAME.test(name)) return 'id';
  if (/amount|price|total|sum|cost|fee|value|balance|quantity|qty|paid|refund/iu.test(name)) return 'amount';
  if (/e-?mail|recipient|^to$|^cc$|^bcc$|address|assignee/iu.test(name)) return 'recipient';
  return /date|_at$|^at$|day|due|until|deadline|when|time/iu.test(name) ? 'date' : null;
}

function isAddress(value: string): boolean {
  const trimmed = value.trim();
  const inner = /<([^<>]+)>$/u.exec(trimmed)?.[1] ?? trimmed;
  return mailboxesIn(inner)[0] === inner;
}
