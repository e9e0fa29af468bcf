import { createHash } from 'node:crypto';
import type { LiveRequest } from '../live-service.ts';

export type ChangedField = 'Subject' | 'Status' | 'Priority' | 'Assignee';

/** A request with an effect, as it is noted before it is sent. */
export type Sent =
  | { readonly kind: 'create'; readonly content: string }
  | { readonly kind: 'comment'; readonly ticket: number; readonly public: boolean; readonly content: string }
  | { readonly kind: 'change'; readonly ticket: number; readonly fields: { readonly [field in ChangedField]?: string } };

/** What the server's record shows that the world's account has done. */
export type Done =
  | { readonly transaction: number; readonly kind: 'create'; readonly ticket: number; readonly content: string }
  | { readonly transaction: number; readonly kind: 'comment'; readonly ticket: number; readonly public: boolean; readonly content: string }
  | { readonly transaction: number; readonly kind: 'change'; readonly ticket: number; readonly field: ChangedField; readonly content: string };

/** A value as it is noted: enough to know it again within one space, and not to read it. */
export function contentDigest(space: string, parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([space, ...parts]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Which operation did what. The server knows no operations; but nobody else has the account, and what was sent was noted, so each thing done belongs to a request that asked
 * for exactly this: the one that was told its number, else one that was answered, else one that was not, each in order of sending, and a refused one last.
 *
 * `open`: operations whose requests had no answer and asked for the same, where less was done than they asked for: which of them it was cannot be known.
 */
export function attribute(
  done: readonly Done[],
  requests: readonly LiveRequest[],
): { readonly operations: ReadonlyMap<number, string>; readonly open: ReadonlySet<string> } {
  const operations = new Map<number, string>();
  const parts = requests.flatMap((request) => partsOf(request));
  const taken = new Set<Part>();
  for (const one of done) {
    const fitting = parts.filter((part) => !taken.has(part) && fits(part, one)).toSorted((a, b) => rank(a, one) - rank(b, one) || a.number - b.number);
    const [part] = fitting;
    if (!part) continue;
    taken.add(part);
    operations.set(one.transaction, part.operation);
  }
  const unanswered = Map.groupBy(
    parts.filter(({ answered }) => answered === null),
    ({ key }) => key,
  );
  const open = [...unanswered.values()].flatMap((same) => {
    const acted = same.filter((part) => taken.has(part)).length;
    const names = new Set(same.map(({ operation }) => operation));
    return names.size > 1 && acted > 0 && acted < same.length ? [...names] : [];
  });
  return { operations, open: new Set(open) };
}

/** One thing that a request asks for. */
interface Part {
  readonly number: number;
  readonly operation: string;
  readonly answered: LiveRequest['answered'];
  readonly key: string;
}

function partsOf({ number, operation, sent: noted, answered }: LiveRequest): readonly Part[] {
  const sent = noted as unknown as Sent;
  const keys =
    sent.kind === 'change'
      ? Object.entries(sent.fields).map(([field, content]) => keyOf({ kind: 'change', ticket: sent.ticket, field, content }))
      : [keyOf(sent)];
  return keys.map((key) => ({ number, operation, answered, key }));
}

function keyOf(thing: {
  readonly kind: string;
  readonly ticket?: number;
  readonly public?: boolean;
  readonly field?: string;
  readonly content?: string;
}): string {
  return [thing.kind, thing.kind === 'create' ? '' : thing.ticket, thing.public ?? '', thing.field ?? '', thing.content].join(' ');
}

function fits({ key }: Part, done: Done): boolean {
  return key === keyOf(done);
}

function rank({ answered }: Part, done: Done): number {
  if (answered === null) return 2;
  if ('refused' in answered) return 3;
  const named = done.kind === 'create' && 'ticket' in answered;
  // It was told the number of another one.
  if (named && answered['ticket'] !== done.ticket) return 4;
  return named ? 0 : 1;
}
