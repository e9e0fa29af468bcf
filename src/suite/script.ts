import type { Json } from '../domain/json.ts';
import type { OperationProblem } from '../domain/operation.ts';

/** How the named steps of a script ended, so far. */
export interface StepResults {
  readonly [name: string]: { readonly operation?: string; readonly state: string; readonly result: Json | null; readonly problem: OperationProblem | null };
}

/** A script refers to something that is not there. The script ends; the world keeps what it did. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
  readonly code = 'script';
  /** The reference as it is written, for example `${order.total}`. */
  readonly reference: string;
  /** Name of the step that it refers to; null where the reference is not well formed. */
  readonly step: string | null;

  constructor(reference: string, step: string | null, problem: string) {
    super(`${reference}: ${problem}`);
    this.reference = reference;
    this.step = step;
  }
}

/**
 * Puts results of earlier steps in the place of references, at any depth of a value:
 * `${name.path.0.x}` reads from the result of step `name`, `${name!state}` its state, `${name!problem}` the code of its problem (null without one),
 * `${name!operation}` the id of its operation.
 * A text that is one reference becomes the value itself, of its own type; within a longer text a value is put in as text. `$${` is a plain `${`.
 * References are data: nothing is evaluated, and only a value's own properties are read.
 *
 * @throws {ScriptError} when a step or a path is not there, or a list or object stands inside a text.
 */
export function resolveArguments(value: Json, results: StepResults): Json {
  if (typeof value === 'string') return resolveText(value, results);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => resolveArguments(item, results));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveArguments(item, results)]));
}

/** Names of the steps that the references in a value read, at any depth. A text that is not well formed names none here. */
export function namesIn(value: unknown): ReadonlySet<string> {
  if (typeof value === 'object' && value !== null) return new Set(Object.values(value).flatMap((item) => [...namesIn(item)]));
  if (typeof value !== 'string' || !value.includes('${')) return new Set();
  try {
    return new Set(parseText(value).flatMap((part) => (typeof part === 'string' ? [] : [part.step])));
  } catch {
    return new Set();
  }
}

/** One reference, as it is written and as it is read. */
export interface Reference {
  readonly text: string;
  readonly step: string;
  readonly from: 'result' | 'state' | 'problem' | 'operation';
  readonly path: readonly string[];
}

/** A text in parts: plain text, and references. @throws {ScriptError} for a reference that is not well formed. */
export function parseText(text: string): readonly (string | Reference)[] {
  const parts: (string | Reference)[] = [];
  let plain = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf('${', at);
    if (start === -1) break;
    if (text[start - 1] === '$' && start - 1 >= at) {
      plain += `${text.slice(at, start - 1)}\${`;
      at = start + 2;
      continue;
    }
    const end = text.indexOf('}', start);
    if (end === -1) throw new ScriptError(text.slice(start, start + 40), null, 'has no closing brace; write $${ where the characters themselves are meant');
    plain += text.slice(at, start);
    if (plain !== '') parts.push(plain);
    plain = '';
    parts.push(parseReference(text.slice(start, end + 1)));
    at = end + 1;
  }
  plain += text.slice(at);
  if (plain !== '' || parts.length === 0) parts.push(plain);
  return parts;
}

function parseReference(text: string): Reference {
  const match = /^\$\{([A-Za-z_][A-Za-z0-9_-]*)(?:!(state|problem|operation)|((?:\.[^.}!\s]+)*))\}$/.exec(text);
  const [, step, special, path] = match ?? [];
  if (step === undefined) {
    throw new ScriptError(
      text,
      null,
      'is no reference; expected ${step.path.to.value}, ${step!state}, ${step!problem} or ${step!operation} ($${ for the characters themselves)',
    );
  }
  return {
    text,
    step,
    from: special === 'state' || special === 'problem' || special === 'operation' ? special : 'result',
    path: path ? path.slice(1).split('.') : [],
  };
}

function resolveText(text: string, results: StepResults): Json {
  if (!text.includes('${')) return text;
  const parts = parseText(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return typeof only === 'string' ? only : readReference(only, results);
  return parts.map((part) => (typeof part === 'string' ? part : asText(part, readReference(part, results)))).join('');
}

function asText(reference: Reference, value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
  throw new ScriptError(reference.text, reference.step, `is ${kind}; only text, numbers and booleans can stand inside a text`);
}

function readReference(reference: Reference, results: StepResults): Json {
  const { step } = reference;
  const end = Object.hasOwn(results, step) ? results[step] : undefined;
  if (end === undefined) throw new ScriptError(reference.text, step, `no earlier step is named "${step}"`);
  if (reference.from === 'state') return end.state;
  if (reference.from === 'operation') return end.operation ?? null;
  if (reference.from === 'problem') return end.problem?.code ?? null;
  if (end.state !== 'committed' && end.result === null) {
    const why = end.problem === null ? '' : ` (${end.problem.code}: ${end.problem.message})`;
    throw new ScriptError(reference.text, step, `step "${step}" has no result, it ended as ${end.state}${why}`);
  }
  let value: Json = end.result;
  let read = step;
  for (const segment of reference.path) {
    const next = propertyOf(value, segment);
    if (next === undefined) throw new ScriptError(reference.text, step, `${read} ${describe(value)}, so there is no "${segment}" in it`);
    value = next;
    read = `${read}.${segment}`;
  }
  return value;
}

function propertyOf(value: Json, segment: string): Json | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return /^(0|[1-9]\d{0,8})$/.test(segment) ? (value as readonly Json[])[Number(segment)] : undefined;
  return Object.hasOwn(value, segment) ? (value as { readonly [key: string]: Json })[segment] : undefined;
}

function describe(value: Json): string {
  if (value === null) return 'is null';
  if (Array.isArray(value)) return `is a list of ${value.length}`;
  if (typeof value !== 'object') return `is ${JSON.stringify(value).slice(0, 60)}`;
  const keys = Object.keys(value);
  return keys.length === 0 ? 'is an empty object' : `has ${keys.slice(0, 12).join(', ')}${keys.length > 12 ? ', ...' : ''}`;
}
