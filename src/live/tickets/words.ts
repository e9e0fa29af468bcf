/** What the contract and Request Tracker call the same thing. Each value of the contract has one of its own, so that reading gives back what was written. */

const STATUSES: readonly (readonly [string, string])[] = [
  ['open', 'open'],
  ['pending', 'stalled'],
  ['solved', 'resolved'],
  // The default lifecycle has no further end than these two.
  ['closed', 'rejected'],
];
const PRIORITIES: readonly (readonly [string, number])[] = [
  ['low', 0],
  ['normal', 50],
  ['high', 75],
  ['urgent', 100],
];

/** Null: it has no such status. */
export function statusThere(status: string): string | null {
  return STATUSES.find(([here]) => here === status)?.[1] ?? null;
}

/** `new` is open. One that the contract does not have is given as it is called there. */
export function statusHere(status: string): string {
  return status === 'new' ? 'open' : (STATUSES.find(([, there]) => there === status)?.[0] ?? status);
}

export function priorityThere(priority: string): number | null {
  return PRIORITIES.find(([here]) => here === priority)?.[1] ?? null;
}

/** The highest that it reaches. */
export function priorityHere(priority: number): string {
  return PRIORITIES.findLast(([, there]) => priority >= there)?.[0] ?? 'low';
}

/** A text as it is compared and shown: Request Tracker ends some with a line break of its own. */
export function contentOf(text: string): string {
  return text.replaceAll('\r\n', '\n').trimEnd();
}

/** Numbers of what agents make there: beyond those of the start, which keep their own. */
const OFFSET = 1_000_000;

export function numberHere(id: number): number {
  return id + OFFSET;
}

/** Null: no number of what was made there. */
export function numberThere(number: number): number | null {
  return number > OFFSET ? number - OFFSET : null;
}
