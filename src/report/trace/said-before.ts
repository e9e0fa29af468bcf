import { isList, isObject } from '../../domain/text/bounded.ts';
import type { Operation } from '../../domain/operation.ts';
import type { ConversationEntry } from '../../store/conversation.ts';

/**
 * Which kept message of a model asked for which operation, by the operation's id: its place among the entries. Calls of a message are accepted in its order, so the n-th call
 * that an agent's model asked for is the n-th that the door accepted of it; where the tools' names do not agree all along, nothing is said of that agent.
 */
export function saidBefore(entries: readonly ConversationEntry[], operations: readonly Operation[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const agents = new Set(entries.filter(({ who }) => who === 'agent').map(({ agent }) => agent));
  for (const agent of agents) {
    const asked = entries.flatMap((entry, at) =>
      entry.who === 'agent' && entry.agent === agent && entry.role === 'assistant' ? toolsOf(entry).map((tool) => ({ at, tool })) : [],
    );
    const called = operations.filter(({ actor }) => (actor ?? null) === agent);
    if (asked.length < called.length || called.some(({ tool }, at) => asked[at]?.tool !== tool)) continue;
    for (const [at, { id }] of called.entries()) found.set(id, asked[at]?.at ?? 0);
  }
  return found;
}

/**
 * How many calls there had been when the user's second message came, the third, and so on: of an agent that is one model alone, whose kept messages have them in order. Empty:
 * nobody can tell.
 */
export function callsBeforeUser(entries: readonly ConversationEntry[], operations: readonly Operation[]): readonly number[] {
  const own = entries.filter(({ who }) => who === 'agent');
  if (own.some(({ agent }) => agent !== null) || (operations.length > 0 && saidBefore(own, operations).size === 0)) return [];
  const counts: number[] = [];
  let calls = 0;
  for (const entry of own) {
    if (entry.role === 'user') counts.push(Math.min(calls, operations.length));
    if (entry.role === 'assistant') calls += toolsOf(entry).length;
  }
  return counts.slice(1);
}

function toolsOf({ body }: ConversationEntry): string[] {
  const calls = body['calls'];
  if (calls === undefined || !isList(calls)) return [];
  return calls.flatMap((call) => (isObject(call) && typeof call['tool'] === 'string' ? [call['tool']] : []));
}
