import type { Json, JsonObject } from '../domain/json.ts';
import { isList, printable } from '../domain/text/bounded.ts';

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

/** Shapes that only secrets have. Each is bounded where it could otherwise begin anew at every sign: what they read may be megabytes of an agent's choice. */
const PATTERNS: readonly (readonly [name: string, shape: RegExp])[] = [
  ['private key', /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g],
  ['api key', /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g],
  ['api key', /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/g],
  ['api key', /\bAIza[A-Za-z0-9_-]{30,}/g],
  ['access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['token', /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g],
  ['token', /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]*/g],
];

/** After a word that says what follows. The word stays. */
const LABELLED = /\b(bearer\s+|(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|password|passwd)["']?\s*[:=]\s*["']?)([^\s"',;}{]{6,})/gi;
const IN_URL = /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]{0,200}:)([^\s@/]{1,500})(@)/gi;
const ADDRESS = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}(@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,10})/g;
/** Keys of an object whose values are secrets, whatever they look like. */
const SECRET_KEY = /^(?:api[_-]?key|access[_-]?token|auth[_-]?token|authorization|client[_-]?secret|password|passwd|secret)$/i;

/** A text without secrets, addresses by policy, bounded. */
export function redactText(text: string, redaction: Redaction): string {
  // What is cut off anyway is not looked at; the rest of a secret at the edge is.
  let clean = replaceSecrets(text.slice(0, redaction.maxText + EDGE), redaction.secrets);
  for (const [name, shape] of PATTERNS) clean = clean.replace(shape, `[redacted: ${name}]`);
  clean = clean.replace(LABELLED, '$1[redacted]').replace(IN_URL, '$1[redacted]$3');
  if (redaction.addresses === 'mask') clean = clean.replace(ADDRESS, '[redacted]$1');
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
