import type { Json } from '../../domain/json.ts';
import { isList, isObject } from '../../domain/text/bounded.ts';

/** Expected or found values for people: the members of an object by name, the items of a list one below the other. Unescaped. */
export function evidenceText(value: Json): string {
  if (typeof value === 'string') return value;
  if (isList(value)) return value.map((item) => membersText(item)).join('\n');
  return membersText(value);
}

function membersText(value: Json): string {
  if (!isObject(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${typeof member === 'string' ? member : JSON.stringify(member)}`)
    .join(', ');
}
