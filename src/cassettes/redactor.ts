import type { Json, JsonObject } from '../domain/json.ts';
import { isList, isObject } from '../domain/text/bounded.ts';
import { LABELLED_SECRET, MAIL_ADDRESS, SECRET_IN_URL, SECRET_SHAPES } from '../domain/text/secret-shapes.ts';
import { decodedRuns, parsedJson } from './encodings.ts';
import { isCardNumber, isIban } from './numbers.ts';

/** What a suite says is not to be kept, beside what is known by its shape. */
export interface RedactionRules {
  /** Values of fields of these names, `*` for any signs, are hidden wherever they occur. */
  readonly fields: readonly { readonly field: RegExp; readonly as: string }[];
  readonly patterns: readonly { readonly pattern: RegExp; readonly as: string }[];
}

export const NO_RULES: RedactionRules = { fields: [], patterns: [] };

export interface RedactorOptions {
  readonly rules?: RedactionRules;
  /** Text that lies beside the recording in clear, such as the case's: addresses and what the rules name are no secret where they occur in it. Default: none. */
  readonly known?: string;
  /** Hide only what must never be written: keys, tokens, passwords, numbers of cards and accounts. Default false. */
  readonly secretsOnly?: boolean;
}

const MAX_DEPTH = 64;
/** Encodings within encodings that are looked into. */
const MAX_LAYERS = 3;
const MIN_SECRET = 6;
const MIN_NAME = 3;
const PLACEHOLDER = /^\[[a-z][a-z-]*-\d+\]$/;
/** Kinds whose values are looked for as they are, also within words. */
const SECRET_KINDS = new Set(['secret', 'encoded', 'card-number', 'account-number', ...SECRET_SHAPES.map(([name]) => kindOf(name))]);
const SECRET_FIELD =
  /^(?:x[_-])?(?:api[_-]?key|(?:access|auth|refresh|id|session|bearer|secret)?[_-]?token|(?:proxy[_-])?authorization|(?:client|webhook|signing)?[_-]?secret|password|passwd|passphrase|private[_-]?key|access[_-]?key|(?:set[_-])?cookie)$/i;
const BASIC = /\b(basic\s+)([A-Za-z0-9+/_-]{6,}={0,2})/gi;
const CARD = /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.]*\d)/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b/g;
/** Domains that are nobody's (RFC 2606). */
const NOBODYS = /@(?:[a-z0-9-]+\.)*(?:example\.(?:com|net|org)|(?:[a-z0-9-]+\.)?(?:example|test|invalid|localhost))$/i;

/**
 * Replaces what must not be written by placeholders, the same value by the same one: `[token-1]`, `[name-2]`, `address-3@redacted.invalid`. Numbers are given in the order in which
 * values are first met. What has been met once is replaced wherever it occurs, so show it everything (`collect`) before the first replacement counts.
 */
export class Redactor {
  private readonly rules: RedactionRules;
  private readonly known: string;
  private readonly secretsOnly: boolean;
  private readonly placeholders = new Map<string, { readonly kind: string; readonly placeholder: string }>();
  private readonly numbers = new Map<string, number>();

  constructor({ rules = NO_RULES, known = '', secretsOnly = false }: RedactorOptions = {}) {
    this.rules = rules;
    this.known = known.toLowerCase();
    this.secretsOnly = secretsOnly;
  }

  /** How many values of each kind are hidden. */
  get counts(): { readonly [kind: string]: number } {
    return Object.fromEntries(this.numbers);
  }

  /** Meets all values. */
  collect(value: Json): void {
    this.json(value);
  }

  json(value: Json, depth = 0): Json {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return isCardNumber(String(value)) ? this.hide('card-number', String(value)) : value;
    if (value === null || typeof value !== 'object') return value;
    if (depth >= MAX_DEPTH) return '…';
    if (isList(value)) return value.map((item) => this.json(item, depth + 1));
    return Object.fromEntries(Object.entries(named(value)).map(([key, item]) => [this.text(key), this.field(nameOf(value, key), item, depth)]));
  }

  text(text: string, layer = 0): string {
    if (text.length < MIN_NAME) return text;
    const parsed = layer < MAX_LAYERS ? parsedJson(text) : null;
    if (parsed !== null) {
      const before = JSON.stringify(parsed);
      const after = JSON.stringify(this.json(parsed));
      return before === after ? text : after;
    }
    let clean = this.knownValues(text);
    for (const [name, shape] of SECRET_SHAPES) clean = clean.replace(shape, (value) => this.hide(kindOf(name), value));
    clean = clean
      .replace(BASIC, (_all, label: string, value: string) => `${label}${this.hide('secret', value)}`)
      .replace(LABELLED_SECRET, (all, label: string, value: string) => (isPlainWord(label, value) ? all : `${label}${this.hide('secret', value)}`))
      .replace(SECRET_IN_URL, (_all, before: string, value: string, after: string) => `${before}${this.hide('secret', value)}${after}`)
      .replace(CARD, (value) => (isCardNumber(value) ? this.hide('card-number', value) : value))
      .replace(IBAN, (value) => (isIban(value) ? this.hide('account-number', value) : value));
    if (layer < MAX_LAYERS) clean = this.withoutEncoded(clean, layer);
    if (this.secretsOnly) return clean;
    clean = clean.replace(MAIL_ADDRESS, (value) => (NOBODYS.test(value) || this.isKnown(value) ? value : this.hide('address', value.toLowerCase())));
    for (const { pattern, as } of this.rules.patterns)
      clean = clean.replace(pattern, (value) => (value === '' || this.isKnown(value) ? value : this.hide(as, value)));
    return clean;
  }

  /** What a run of signs holds once it is decoded is looked at too; the whole run is hidden for it. */
  private withoutEncoded(text: string, layer: number): string {
    let clean = text;
    for (const { run, decoded } of decodedRuns(text)) {
      if (decoded.some((inner) => this.text(inner, layer + 1) !== inner)) clean = clean.replaceAll(run, () => this.hide('encoded', run));
    }
    return clean;
  }

  private field(name: string, value: Json, depth: number): Json {
    if (SECRET_FIELD.test(name) && (typeof value === 'string' || typeof value === 'number') && String(value).length > 0)
      return this.hide('secret', String(value));
    const rule = this.secretsOnly ? undefined : this.rules.fields.find(({ field }) => field.test(name));
    if (rule && (typeof value === 'string' || typeof value === 'number') && String(value).length > 0 && !this.isKnown(String(value)))
      return this.hide(rule.as, String(value));
    if (rule && Array.isArray(value)) return value.map((item: Json) => this.field(name, item, depth + 1));
    return this.json(value, depth + 1);
  }

  private isKnown(value: string): boolean {
    return this.known.includes(value.toLowerCase());
  }

  private hide(kind: string, value: string): string {
    if (PLACEHOLDER.test(value)) return value;
    const met = this.placeholders.get(value);
    if (met) return met.placeholder;
    const number = (this.numbers.get(kind) ?? 0) + 1;
    this.numbers.set(kind, number);
    const placeholder = kind === 'address' ? `address-${number}@redacted.invalid` : `[${kind}-${number}]`;
    this.placeholders.set(value, { kind, placeholder });
    return placeholder;
  }

  /** The longest first, since one may be a part of another. */
  private knownValues(text: string): string {
    let clean = text;
    for (const [value, { kind, placeholder }] of [...this.placeholders].sort(([a], [b]) => b.length - a.length)) {
      if (!clean.includes(value)) continue;
      // Addresses are found by their shape, whole.
      if (kind === 'address') continue;
      if (SECRET_KINDS.has(kind)) {
        if (value.length >= MIN_SECRET) clean = clean.replaceAll(value, () => placeholder);
      } else if (value.length >= MIN_NAME) clean = clean.replace(asWord(value), () => placeholder);
    }
    return clean;
  }
}

/**
 * A value whose secrets are named by their kind alone: so two can be compared of which one has lost its secrets. Fresh for each value, so that numbers mean nothing.
 */
export function withSecretsByKind(value: Json): Json {
  return withoutNumbers(new Redactor({ secretsOnly: true }).json(value));
}

function withoutNumbers(value: Json): Json {
  if (typeof value === 'string') return value.replace(/\[([a-z][a-z-]*)-\d+\]/g, (all, kind: string) => (SECRET_KINDS.has(kind) ? `[${kind}]` : all));
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(withoutNumbers);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutNumbers(item)]));
}

/** "The bearer signed": a word behind it, and no token. */
function isPlainWord(label: string, value: string): boolean {
  return /^bearer\s/i.test(label) && /^[a-z'-]+[.:!?]*$/i.test(value) && value.length < 20;
}

function kindOf(name: string): string {
  return name.replaceAll(' ', '-');
}

function named(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

/** The name that a value goes by: its key, or of a list of headers and the like, what stands beside it. */
function nameOf(object: Json, key: string): string {
  if (!isObject(object) || key !== 'value') return key;
  const name = object['name'] ?? object['key'] ?? object['header'];
  return typeof name === 'string' ? name : key;
}

function asWord(value: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${value.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'gu');
}
