import type { Json, JsonObject } from './json.ts';

/** What stands in place of a text that was removed. */
export const REMOVED = '[removed]';

/** Whether a text names one mail address, letter case aside, and not only a longer one that ends or begins like it. */
export function namesAddress(address: string): (text: string) => boolean {
  const escaped = address.normalize('NFC').replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_.+%-])${escaped}(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])`, 'iu');
  return (text) => pattern.test(text.normalize('NFC'));
}

/** Names of members whose text says what a thing is, and nothing of a person. */
const STRUCTURE = new Set([
  'kind',
  'type',
  'id',
  'seq',
  'tool',
  'operation',
  'state',
  'told',
  'known',
  'at',
  'table',
  'change',
  'code',
  'judgement',
  'rule',
  'role',
  'who',
  'effect',
  'ending',
  'source',
  'graderVersion',
  'caseHash',
  'outcome',
  'pass',
  'reached',
  'agent',
  'schedule',
  'batch',
  'trial',
  'digest',
]);
const SIDES = new Set(['user', 'agent']);

/**
 * A value without what it has of a person: every text that names the address, and every text that stands beside one in the same object (a row's name and telephone number, a mail's
 * subject and body). Numbers, and members that say what a thing is, stay. Null: it had nothing of it.
 */
export function withoutSubject<T extends Json>(value: T, names: (text: string) => boolean): T | null {
  let found = false;
  const scrub = (part: Json): Json => {
    if (typeof part === 'string') return names(part) ? removed() : part;
    if (Array.isArray(part)) return part.map(scrub);
    if (part === null || typeof part !== 'object') return part;
    const entries = Object.entries(part as JsonObject);
    const itself = entries.some(([name, member]) => names(name) || holdsDirectly(member));
    return Object.fromEntries(
      entries.map(([name, member]) => {
        const key = names(name) ? removed() : name;
        if (itself && typeof member === 'string' && !STRUCTURE.has(name) && !SIDES.has(member)) return [key, removed()];
        return [key, scrub(member)];
      }),
    );
  };
  const removed = (): string => {
    found = true;
    return REMOVED;
  };
  const holdsDirectly = (member: Json): boolean =>
    typeof member === 'string' ? names(member) : Array.isArray(member) && member.some((one) => typeof one === 'string' && names(one));
  const result = scrub(value) as T;
  return found ? result : null;
}
