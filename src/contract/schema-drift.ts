import type { Json, JsonObject } from '../domain/json.ts';
import { isList, isObject } from '../domain/text/bounded.ts';
import type { Drift } from './drift.ts';

const MAX_TEXT = 300;
const MAX_DEPTH = 32;

/** How what a tool takes (JSON Schema) differs from what it took: by required and other parameters, their types and enums. Texts and examples do not count. */
export function schemaDrift(recorded: JsonObject, now: JsonObject, field: string, depth = 0): readonly Drift[] {
  if (depth >= MAX_DEPTH) return [];
  const [before, after] = [typesOf(recorded), typesOf(now)];
  if (before.join() !== after.join()) return [{ field, kind: 'type_changed', recorded: textOf(recorded), now: textOf(now) }];
  return [...enums(recorded, now, field), ...parameters(recorded, now, field, depth), ...items(recorded, now, field, depth)];
}

function parameters(recorded: JsonObject, now: JsonObject, field: string, depth: number): readonly Drift[] {
  const [before, after] = [objectIn(recorded['properties']), objectIn(now['properties'])];
  const [required, requiredNow] = [namesIn(recorded['required']), namesIn(now['required'])];
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  const renamed = new Map<string, string>();
  for (const name of gone) {
    const same = added.filter(
      (other) =>
        ![...renamed.values()].includes(other) && textOf(before[name]) === textOf(after[other]) && required.includes(name) === requiredNow.includes(other),
    );
    if (same.length === 1 && same[0] !== undefined) renamed.set(name, same[0]);
  }
  const at = (name: string) => `${field}.${name}`;
  return [
    ...gone.map((name): Drift => {
      const other = renamed.get(name);
      if (other === undefined) return { field: at(name), kind: 'gone', recorded: textOf(before[name]), now: 'nothing' };
      return { field: at(name), kind: 'renamed', recorded: `${name}: ${textOf(before[name])}`, now: `${other}: ${textOf(after[other])}` };
    }),
    ...added
      .filter((name) => ![...renamed.values()].includes(name))
      .map((name): Drift => ({ field: at(name), kind: requiredNow.includes(name) ? 'now_required' : 'added', recorded: 'nothing', now: textOf(after[name]) })),
    ...Object.keys(before)
      .filter((name) => Object.hasOwn(after, name))
      .flatMap((name): readonly Drift[] => {
        const texts = { recorded: textOf(before[name]), now: textOf(after[name]) };
        const must =
          required.includes(name) === requiredNow.includes(name)
            ? []
            : [{ field: at(name), kind: requiredNow.includes(name) ? 'now_required' : 'now_optional', ...texts } as const];
        return [...must, ...schemaDrift(objectIn(before[name]), objectIn(after[name]), at(name), depth + 1)];
      }),
  ];
}

function items(recorded: JsonObject, now: JsonObject, field: string, depth: number): readonly Drift[] {
  return isObject(recorded['items']) && isObject(now['items']) ? schemaDrift(recorded['items'], now['items'], `${field}[]`, depth + 1) : [];
}

function enums(recorded: JsonObject, now: JsonObject, field: string): readonly Drift[] {
  const [before, after] = [valuesOf(recorded), valuesOf(now)];
  if (before === null || after === null) {
    if (before === after) return [];
    return [{ field, kind: before === null ? 'value_gone' : 'value_added', recorded: before?.join(' | ') ?? 'any', now: after?.join(' | ') ?? 'any' }];
  }
  const texts = { field, recorded: before.join(' | '), now: after.join(' | ') };
  return [
    ...(after.some((value) => !before.includes(value)) ? [{ ...texts, kind: 'value_added' } as const] : []),
    ...(before.some((value) => !after.includes(value)) ? [{ ...texts, kind: 'value_gone' } as const] : []),
  ];
}

function typesOf(schema: JsonObject): readonly string[] {
  const alternatives = [schema['anyOf'], schema['oneOf']].flatMap((list) => (list !== undefined && isList(list) ? list : []));
  const own = schema['type'];
  const names = typeof own === 'string' ? [own] : own !== undefined && isList(own) ? own.map(String) : [];
  return [...new Set([...names, ...alternatives.flatMap((one) => typesOf(objectIn(one)))])].sort();
}

function valuesOf(schema: JsonObject): readonly string[] | null {
  const { enum: values, const: only } = schema;
  if (values !== undefined && isList(values)) return values.map((value) => JSON.stringify(value));
  return only === undefined ? null : [JSON.stringify(only)];
}

/** Type and enum of a parameter, as people read them. */
function textOf(schema: Json | undefined): string {
  const object = objectIn(schema);
  const text = valuesOf(object)?.join(' | ') ?? (typesOf(object).join(' or ') || 'any');
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function namesIn(value: Json | undefined): readonly string[] {
  return value !== undefined && isList(value) ? value.map(String) : [];
}
