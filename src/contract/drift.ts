import { type Shape, shapeText } from './shape.ts';

/** One difference of a contract. */
export interface Drift {
  /** Such as `result.lines[].sku`. */
  readonly field: string;
  readonly kind: 'renamed' | 'gone' | 'added' | 'now_required' | 'now_optional' | 'type_changed' | 'value_added' | 'value_gone';
  /** What it looked like, and looks like now; `nothing` where there is none. */
  readonly recorded: string;
  readonly now: string;
}

const MAX_TEXT = 400;

/**
 * How the shape of a reply differs from the recorded one, in order of the fields; nothing where only values do. A field that is null, and a list without items, say nothing, and
 * neither does a field that not all recorded examples had.
 */
export function shapeDrift(recorded: Shape, now: Shape, field: string): readonly Drift[] {
  if (recorded.types.length === 0 || now.types.length === 0) return [];
  if (now.types.some((type) => !recorded.types.includes(type))) return [drift(field, 'type_changed', recorded, now)];
  return [
    ...words(recorded, now, field),
    ...keys(recorded, now, field),
    ...(recorded.items && now.items ? shapeDrift(recorded.items, now.items, `${field}[]`) : []),
  ];
}

/** As one line, with both shapes: as recorded, and now. */
export function driftText({ field, kind, recorded, now }: Drift): string {
  return `${field} ${KINDS[kind]}: ${recorded}, now ${now}`;
}

/** As one line, with the shapes of two sides of which none is older: here, and there. */
export function sidesText({ field, kind, recorded, now }: Drift): string {
  return `${field} ${KINDS[kind]} there: ${recorded}, there ${now}`;
}

const KINDS: { readonly [kind in Drift['kind']]: string } = {
  renamed: 'has another name',
  gone: 'is gone',
  added: 'is new',
  now_required: 'is required',
  now_optional: 'is not always there',
  type_changed: 'has another type',
  value_added: 'has values that were not there',
  value_gone: 'takes fewer values',
};

function keys(recorded: Shape, now: Shape, field: string): readonly Drift[] {
  const there = (shape: Shape, key: string) => (Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined);
  // A list of objects that is empty now, or was, has shown no key.
  if (!recorded.types.includes('object') || !now.types.includes('object')) return [];
  const gone = Object.entries(recorded.keys).filter(([key, { optional }]) => !optional && !there(now, key));
  const added = Object.keys(now.keys).filter((key) => !there(recorded, key));
  const renamed = new Map<string, string>();
  for (const [key, { shape }] of gone) {
    const same = added.filter((name) => ![...renamed.values()].includes(name) && shapeText(there(now, name)?.shape ?? shape) === shapeText(shape));
    const [only] = same;
    if (only !== undefined && (same.length === 1 || gone.length === 1)) renamed.set(key, closest(key, same) ?? only);
  }
  const at = (key: string) => `${field}.${key}`;
  return [
    ...gone.map(([key, { shape }]): Drift => {
      const name = renamed.get(key);
      return name === undefined
        ? { field: at(key), kind: 'gone', recorded: bounded(shapeText(shape)), now: 'nothing' }
        : {
            field: at(key),
            kind: 'renamed',
            recorded: bounded(`${key}: ${shapeText(shape)}`),
            now: bounded(`${name}: ${shapeText(there(now, name)?.shape ?? shape)}`),
          };
    }),
    ...added
      .filter((key) => ![...renamed.values()].includes(key))
      .map((key): Drift => ({ field: at(key), kind: 'added', recorded: 'nothing', now: bounded(shapeText(there(now, key)?.shape ?? now)) })),
    ...Object.entries(recorded.keys).flatMap(([key, before]): readonly Drift[] => {
      const after = there(now, key);
      if (!after) return [];
      const optional = !before.optional && after.optional ? [drift(at(key), 'now_optional', before.shape, after.shape)] : [];
      return [...optional, ...shapeDrift(before.shape, after.shape, at(key))];
    }),
  ];
}

/** A word that was never seen where the recorded examples held few of them. */
function words(recorded: Shape, now: Shape, field: string): readonly Drift[] {
  if (recorded.words === null) return [];
  const { words: known } = recorded;
  const seen = now.seenWords.filter((word) => !known.includes(word));
  return seen.length === 0 ? [] : [{ field, kind: 'value_added', recorded: bounded(known.join(' | ')), now: bounded([...known, ...seen].join(' | ')) }];
}

/** The name that shares most with another: what it begins or ends with. */
function closest(key: string, names: readonly string[]): string | undefined {
  const shared = (name: string) =>
    [...name].filter((sign, index) => sign === key[index]).length + [...name].reverse().filter((sign, index) => sign === [...key].reverse()[index]).length;
  return names.toSorted((a, b) => shared(b) - shared(a))[0];
}

function drift(field: string, kind: Drift['kind'], recorded: Shape, now: Shape): Drift {
  return { field, kind, recorded: bounded(shapeText(recorded)), now: bounded(shapeText(now)) };
}

function bounded(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
