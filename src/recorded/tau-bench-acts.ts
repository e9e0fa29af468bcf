import { isObject, printable } from '../domain/text/bounded.ts';
import type { Json } from '../domain/json.ts';
import type { RecordedCall } from './run.ts';
import { toolName } from './tau-bench.ts';

/**
 * What a message does of an agent that writes its calls as text (strategies `act` and `react` of the original): the JSON behind its last `Action:`, or of all of
 * it. Where no JSON stands there, the agent says that text to the user; JSON of another form than `{"name": ..., "arguments": {...}}` is a call that is refused.
 */
export function actIn(message: string): { readonly call: RecordedCall } | { readonly said: string } {
  const text = (message.split('Action:').at(-1) ?? '').trim();
  const act = parsed(text);
  if (act === undefined) return { said: text };
  const source = printable(text);
  if (isCall(act)) return { call: { source, tool: toolName(act.name), args: act.arguments, unreadable: null } };
  return { call: { source, tool: 'unreadable', args: source, unreadable: 'it has no name or no arguments' } };
}

/** Whether such an agent may have written it: a call stands behind its last `Action:`. */
export function holdsAct(message: string): boolean {
  return message.includes('Action:') && isCall(parsed((message.split('Action:').at(-1) ?? '').trim()));
}

function isCall(act: Json | undefined): act is { readonly name: string; readonly arguments: { readonly [name: string]: Json } } {
  return isObject(act) && typeof act['name'] === 'string' && isObject(act['arguments']);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
