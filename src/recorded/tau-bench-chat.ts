import { z } from 'zod';
import { isObject } from '../domain/text/bounded.ts';
import type { RecordedCall } from './run.ts';
import { chatCall } from './tau-bench.ts';
import { actIn, holdsAct } from './tau-bench-acts.ts';

const call = z.object({ name: z.string(), arguments: z.unknown().optional() });

/** A text, nothing, or a list of parts of which those with a `text` are read. */
const content = z.union([z.string(), z.array(z.object({ text: z.string().optional() }))], 'expected a text, null, or a list of parts').nullish();

/** A message of a chat between an agent (`assistant`), its tools and a user. */
export const chatMessage = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content,
  tool_calls: z.array(z.object({ function: call })).nullish(),
  /** As older agents wrote their one call. */
  function_call: call.nullish(),
});

export type ChatMessage = z.output<typeof chatMessage>;

/** Where an agent writes its calls: in fields of its messages (`tool_calls`, `function_call`), or in their text. */
export type Notation = 'fields' | 'text';

/** What an agent did in an episode, up to its end. */
export interface Episode {
  /** In the order made. */
  readonly calls: readonly RecordedCall[];
  /** Messages to the user. */
  readonly said: readonly string[];
  /** Who ended it: the user, or the agent that handed over to a human. What stands behind is no part of it. Null: it has no end. */
  readonly endedBy: 'user' | 'hand-over' | null;
}

/**
 * Takes a chat apart. An agent says to the user what it writes in a message without calls, and the content of a call of `respond`; the user does not see what it
 * writes beside other calls. Where calls are text, what the next message of the user holds is the result of the call.
 */
export function episodeOf(messages: readonly ChatMessage[], notation: Notation): Episode {
  const calls: RecordedCall[] = [];
  const said: string[] = [];
  let resultIsDue = false;
  for (const message of messages) {
    if (message.role === 'user') {
      if (!resultIsDue && textOf(message).includes('###STOP###')) return { calls, said, endedBy: 'user' };
      resultIsDue = false;
    }
    if (message.role !== 'assistant') continue;
    const acts = notation === 'text' ? [actIn(textOf(message))] : actsOf(message);
    for (const act of acts) {
      const answer = 'said' in act ? act.said : answerOf(act.call);
      if (answer !== null) said.push(answer);
      else if ('call' in act) {
        calls.push(act.call);
        resultIsDue = notation === 'text';
        if (act.call.tool === HAND_OVER && isObject(act.call.args)) return { calls, said, endedBy: 'hand-over' };
      }
    }
  }
  return { calls, said, endedBy: null };
}

/** Whether a message of the agent has calls in its fields. */
export function callsInFields(messages: readonly ChatMessage[]): boolean {
  return messages.some((message) => message.role === 'assistant' && callsOf(message).length > 0);
}

/** Whether a message of the agent has a call in its text, and none has one in its fields. */
export function callsInText(messages: readonly ChatMessage[]): boolean {
  return !callsInFields(messages) && messages.some((message) => message.role === 'assistant' && holdsAct(textOf(message)));
}

const HAND_OVER = 'transfer_to_human_agents';

function actsOf(message: ChatMessage): readonly ({ readonly call: RecordedCall } | { readonly said: string })[] {
  const made = callsOf(message);
  return made.length === 0 ? [{ said: textOf(message) }] : made.map(({ name, arguments: args }) => ({ call: chatCall(name, args) }));
}

function callsOf(message: ChatMessage): readonly z.output<typeof call>[] {
  const calls = (message.tool_calls ?? []).map((one) => one.function);
  return calls.length > 0 || !message.function_call ? calls : [message.function_call];
}

/** What a call of `respond` says; null for other calls, and where it says nothing that is a text. */
function answerOf({ tool, args }: RecordedCall): string | null {
  return tool === 'respond' && isObject(args) && typeof args['content'] === 'string' ? args['content'] : null;
}

function textOf({ content: text }: ChatMessage): string {
  return typeof text === 'string' ? text : (text ?? []).map((part) => part.text ?? '').join('\n');
}
