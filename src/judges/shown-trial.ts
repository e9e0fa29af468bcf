import type { Effect, MailEffect, RowEffect } from '../domain/effect.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Message, TrialRecord } from '../domain/record.ts';
import type { ShownPart } from '../domain/rubric.ts';
import { isList } from '../domain/text/bounded.ts';

/** What raters see of a trial: the parts that the rubric names, and nothing of the case's expectations or the verdict. */
export interface ShownTrial {
  readonly parts: { readonly [part in ShownPart]?: Json };
  /** It is not all: texts or lists were too long. */
  readonly shortened: boolean;
}

/** All parts together, in UTF-16 units of JSON. */
const MAX_SHOWN = 200_000;
/** Longest text and list, and the next tighter ones where all of it together is too long. */
const LEVELS = [
  { text: 20_000, items: 400 },
  { text: 4_000, items: 200 },
  { text: 800, items: 80 },
  { text: 200, items: 24 },
] as const;
const MAX_DEPTH = 12;

/** Shows of a record what a rubric asks for, bounded: from the middle of what is too long something is left out, and that is said in its place. */
export function shownTrial(record: Pick<TrialRecord, 'messages' | 'operations' | 'effects'>, shows: readonly ShownPart[]): ShownTrial {
  const whole = Object.fromEntries(shows.map((part) => [part, PARTS[part](record)]));
  for (const level of LEVELS) {
    const shortener = new Shortener(level);
    const parts = shortener.value(whole, 0);
    if (JSON.stringify(parts).length <= MAX_SHOWN) return { parts: parts as ShownTrial['parts'], shortened: shortener.shortened };
  }
  // Rows with very many columns: better the first of everything than nothing.
  const shortener = new Shortener({ text: 100, items: 6 });
  return { parts: shortener.value(whole, 0) as ShownTrial['parts'], shortened: true };
}

type Parts = Pick<TrialRecord, 'messages' | 'operations' | 'effects'>;

const PARTS: { readonly [part in ShownPart]: (record: Parts) => Json } = {
  conversation: ({ messages }) => messages.map(said),
  answer: ({ messages }) => {
    const last = messages.findLast(({ from, operation }) => from === 'agent' && operation === undefined);
    return last ? { text: last.text, ...(last.data && { data: last.data }) } : null;
  },
  operations: ({ operations }) =>
    operations.map(({ seq, tool, actor, args, told, result, problem }) => ({
      seq,
      tool,
      ...(actor !== undefined && { member: actor }),
      arguments: args,
      told,
      ...(result !== null && { result }),
      ...(problem && { problem: { code: problem.code, message: problem.message } }),
    })),
  effects: ({ effects }) =>
    effects.filter(isRow).map(({ table, change, key, before, after, byFault }) => ({ table, change, key, before, after, by: doer(byFault) })),
  mail: ({ effects }) =>
    effects.filter(isMail).map(({ from, recipients, subject, text, accepted, byFault }) => ({
      from,
      to: recipients.map(({ address }) => address),
      subject,
      text,
      accepted,
      by: doer(byFault),
    })),
};

function said({ turn, from, text, data, actor }: Message): JsonObject {
  return { turn, from, ...(actor !== undefined && { member: actor }), text, ...(data && { data }) };
}

function doer(byFault: number | undefined): string {
  return byFault === undefined ? 'the agent' : 'somebody else';
}

function isRow(effect: Effect): effect is RowEffect {
  return effect.kind === 'row';
}

function isMail(effect: Effect): effect is MailEffect {
  return effect.kind === 'mail';
}

class Shortener {
  shortened = false;
  readonly #limits: { readonly text: number; readonly items: number };

  constructor(limits: { readonly text: number; readonly items: number }) {
    this.#limits = limits;
  }

  value(value: Json, depth: number): Json {
    if (typeof value === 'string') return this.#text(value);
    if (value === null || typeof value !== 'object') return value;
    if (depth >= MAX_DEPTH) {
      this.shortened = true;
      return '[left out: too deep]';
    }
    if (isList(value)) return this.#list(value).map((item) => this.value(item, depth + 1));
    const entries = Object.entries(value as JsonObject);
    const kept = entries.slice(0, this.#limits.items);
    if (kept.length < entries.length) this.shortened = true;
    return Object.fromEntries(kept.map(([key, member]) => [this.#text(key), this.value(member, depth + 1)]));
  }

  #text(text: string): string {
    const half = Math.floor(this.#limits.text / 2);
    const clean = text.toWellFormed().replaceAll('\u0000', '\uFFFD');
    if (clean.length <= this.#limits.text) return clean;
    this.shortened = true;
    return `${clean.slice(0, half)} [left out: ${clean.length - 2 * half} characters] ${clean.slice(-half)}`.toWellFormed();
  }

  #list(items: readonly Json[]): readonly Json[] {
    const { items: most } = this.#limits;
    if (items.length <= most) return items;
    this.shortened = true;
    const half = Math.floor(most / 2);
    return [...items.slice(0, half), `[left out: ${items.length - 2 * half} entries]`, ...items.slice(-half)];
  }
}
