import type { Json } from '../domain/json.ts';
import { isList, isObject } from '../domain/text/bounded.ts';

/** Null says nothing of a type, and whole numbers are numbers: which of them an example shows depends on its data. */
export type ShapeType = 'boolean' | 'number' | 'text' | 'list' | 'object';

/** What values look like, learned from examples. */
export interface Shape {
  /** Those that were seen, in order of their names. Empty: only null was. */
  readonly types: readonly ShapeType[];
  readonly nullable: boolean;
  /** Of objects. */
  readonly keys: { readonly [key: string]: KeyShape };
  /** Of lists, all items together; null: no item was seen. */
  readonly items: Shape | null;
  /** The words that a field holds, where the examples say that it holds few: in order. Null: it holds any text. */
  readonly words: readonly string[] | null;
  /** The different words that were seen, at most so many as a field of few may hold, and one more. */
  readonly seenWords: readonly string[];
}

export interface KeyShape {
  readonly shape: Shape;
  /** Some examples had it, and others had not. */
  readonly optional: boolean;
}

/** So many examples make a field that repeats itself one of few words. */
const ENOUGH = 5;
const MOST_WORDS = 20;
const WORD = /^[\p{L}][\p{L}\p{N}_.-]{0,39}$/u;
const MAX_DEPTH = 64;

/** The shape of examples of one thing. */
export function shapeOf(examples: readonly Json[], depth = 0): Shape {
  const types = [...new Set(examples.flatMap((example) => typeOf(example) ?? []))].sort();
  const objects = examples.filter(isObject);
  const items = examples.filter(isList).flat();
  const texts = examples.filter((example): example is string => typeof example === 'string');
  const names = depth >= MAX_DEPTH ? [] : [...new Set(objects.flatMap((object) => Object.keys(object)))].sort();
  return {
    types,
    nullable: examples.includes(null),
    keys: Object.fromEntries(
      names.map((name) => {
        const having = objects.filter((object) => Object.hasOwn(object, name));
        const shape = shapeOf(
          having.map((object) => object[name] ?? null),
          depth + 1,
        );
        return [name, { shape, optional: having.length < objects.length }];
      }),
    ),
    items: items.length === 0 || depth >= MAX_DEPTH ? null : shapeOf(items, depth + 1),
    words: wordsOf(texts),
    seenWords: [...new Set(texts)].sort().slice(0, MOST_WORDS + 1),
  };
}

/** A shape as people read it: `{id: number, status: open | solved, note?: text or null}`. */
export function shapeText(shape: Shape): string {
  const parts = shape.types.map((type) => {
    if (type === 'text' && shape.words) return shape.words.join(' | ');
    if (type === 'list') return shape.items === null ? 'list' : `list of ${shapeText(shape.items)}`;
    if (type !== 'object') return type;
    return `{${Object.entries(shape.keys)
      .map(([key, { shape: inner, optional }]) => `${key}${optional ? '?' : ''}: ${shapeText(inner)}`)
      .join(', ')}}`;
  });
  return [...parts, ...(shape.nullable ? ['null'] : [])].join(' or ') || 'nothing';
}

function typeOf(value: Json): ShapeType | null {
  if (value === null) return null;
  if (isList(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'object') return 'object';
  return typeof value === 'boolean' ? 'boolean' : 'number';
}

/** A field that takes few values repeats them; one with names or numbers does not. */
function wordsOf(texts: readonly string[]): readonly string[] | null {
  const words = [...new Set(texts)].sort();
  const few = texts.length >= ENOUGH && words.length <= MOST_WORDS && words.length * 2 <= texts.length;
  return few && words.every((word) => WORD.test(word)) ? words : null;
}
