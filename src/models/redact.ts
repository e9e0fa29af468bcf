import type { Json, JsonObject } from '../domain/json.ts';
import { isList, printable } from '../domain/text/bounded.ts';
import { LABELLED_SECRET, MAIL_ADDRESS, SECRET_IN_URL, SECRET_KEY, SECRET_SHAPES } from '../domain/text/secret-shapes.ts';

/** What happens to mail addresses: they stay, or their mailbox is hidden. */
export type AddressPolicy = 'keep' | 'mask';

export interface Redaction {
  /** Secrets by name; each occurrence of a value is replaced by its name. Values of less than 6 characters would hide ordinary text and are left out. */
  readonly secrets: { readonly [name: string]: string };
  readonly addresses: AddressPolicy;
  /** Longest text, in UTF-16 units. */
  readonly maxText: number;
}

const MIN_SECRET = 6;
const MAX_DEPTH = 32;
const EDGE = 8_000;

/** A text without secrets, addresses by policy, bounded. */
export function redactText(text: string, redaction: Redaction): string {
  // What is cut off anyway is not looked at; the rest of a secret at the edge is.
  let clean = replaceSecrets(text.slice(0, redaction.maxText + EDGE), redaction.secrets);
  for (const [name, shape] of SECRET_SHAPES) clean = clean.replace(shape, `[redacted: ${name}]`);
  clean = clean.replace(LABELLED_SECRET, '$1[redacted]').replace(SECRET_IN_URL, '$1[redacted]$3');
  if (redaction.addresses === 'mask') clean = clean.replace(MAIL_ADDRESS, '[redacted]$1');
  return printable(clean, redaction.maxText);
}

/** A value all of whose texts, keys included, are redacted. */
export function redactJson(value: Json, redaction: Redaction, depth = 0): Json {
  if (typeof value === 'string') return redactText(value, redaction);
  if (value === null || typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) return '…';
  if (isList(value)) return value.map((item) => redactJson(item, redaction, depth + 1));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [
      redactText(key, redaction),
      SECRET_KEY.test(key) && typeof item === 'string' ? '[redacted]' : redactJson(item, redaction, depth + 1),
    ]),
  );
}

/** Replaces values of secrets by their names. */
export function replaceSecrets(text: string, secrets: { readonly [name: string]: string }): string {
  // The longest first, since one may be a part of another.
  const known = Object.entries(secrets)
    .filter(([, value]) => value.length >= MIN_SECRET)
    .sort(([, a], [, b]) => b.length - a.length);
  return known.reduce((clean, [name, value]) => clean.replaceAll(value, `[redacted: ${name}]`), text);
}
