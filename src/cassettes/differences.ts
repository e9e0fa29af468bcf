import type { Json } from '../domain/json.ts';
import { isList, isObject, quote } from '../domain/text/bounded.ts';

/** One place in which two values differ. */
export interface Difference {
  /** Such as `lines[0].sku`; empty: the whole. */
  readonly path: string;
  /** Undefined: it is not there. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

const MAX_DEPTH = 64;

/** Where two values differ, in order of keys; at most `max` places. */
export function differences(before: Json | undefined, after: Json | undefined, max = 1_000): readonly Difference[] {
  const found: Difference[] = [];
  compare(before, after, '', 0);
  return found;

  function compare(a: Json | undefined, b: Json | undefined, path: string, depth: number): void {
    if (found.length >= max || a === b) return;
    if (depth < MAX_DEPTH && a !== undefined && b !== undefined) {
      if (isList(a) && isList(b)) {
        for (let index = 0; index < Math.max(a.length, b.length); index++) compare(a[index], b[index], `${path}[${index}]`, depth + 1);
        return;
      }
      if (isObject(a) && isObject(b)) {
        for (const key of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort())
          compare(own(a, key), own(b, key), path === '' ? key : `${path}.${key}`, depth + 1);
        return;
      }
    }
    found.push({ path, before: a, after: b });
  }
}

/** As one line: `status: "open" -> "closed"`. Bounded. */
export function differenceText({ path, before, after }: Difference): string {
  return `${path === '' ? 'the whole' : path}: ${shown(before)} -> ${shown(after)}`;
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'not there' : quote(value);
}

function own(object: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
