import type { Json } from '../json.ts';

/**
 * One text for equal values: keys sorted by code unit, numbers by value, text in Unicode NFC. For comparing, not for storing.
 * Works without recursion, so that no depth of nesting can exhaust the stack.
 */
export function canonicalText(value: Json): string {
  const out: string[] = [];
  const todo: (Json | { readonly raw: string })[] = [value];
  const raws = new WeakSet<object>();
  const raw = (text: string): { readonly raw: string } => {
    const item = { raw: text };
    raws.add(item);
    return item;
  };
  while (todo.length > 0) {
    const item = todo.pop() as Json | { readonly raw: string };
    if (item === null || typeof item !== 'object') {
      out.push(leafText(item));
    } else if (raws.has(item)) {
      out.push((item as { readonly raw: string }).raw);
    } else if (Array.isArray(item)) {
      const list = item as readonly Json[];
      todo.push(raw(']'));
      for (let i = list.length - 1; i >= 0; i--) todo.push(raw(','), list[i] ?? null);
      out.push('[');
    } else {
      const object = item as { readonly [key: string]: Json };
      const keys = Object.keys(object).sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
      todo.push(raw('}'));
      for (const key of keys) todo.push(raw(','), object[key] ?? null, raw(`${JSON.stringify(key.normalize('NFC'))}:`));
      out.push('{');
    }
  }
  return out.join('');
}

function leafText(value: null | boolean | number | string): string {
  return JSON.stringify(typeof value === 'string' ? value.normalize('NFC') : Object.is(value, -0) ? 0 : value);
}
