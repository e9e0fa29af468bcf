import { z } from 'zod';
import type { RecordedCall } from './run.ts';
import { chatCall } from './tau-bench.ts';

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

/** What an agent did in an episode, up to its end. */
export interface Episode {
  /** In the order made. */
  readonly calls: readonly RecordedCall[];
  /** Messages to the user. */
  readonly said: readonly string[];
  /** The user ended it, or the agent handed over to a human. What stands behind is no part of it. */
  readonly ended: boolean;
}

/**
 * Takes a chat apart. An agent says to the user what it writes in a message without calls, and the content of a call of `respond`; the user does not see what it
 * writes beside other calls.
 */
export function episodeOf(messages: readonly ChatMessage[]): Episode {
  const calls: RecordedCall[] = [];
  const said: string[] = [];
  for (const message of messages) {
    if (isStop(message)) return { calls, said, ended: true };
    if (message.role !== 'assistant') continue;
    const made = callsOf(message);
    if (made.length === 0) said.push(textOf(message));
    for (const { name, arguments: args } of made) {
      const one = chatCall(name, args);
      const answer = name === 'respond' ? answerOf(one) : null;
      if (answer !== null) said.push(answer);
      else calls.push(one);
      if (name === HAND_OVER && one.unreadable === null) return { calls, said, ended: true };
    }
  }
  return { calls, said, ended: false };
}

/** The simulated user ends the episode. */
export function isStop(message: ChatMessage): boolean {
  return message.role === 'user' && textOf(message).includes('###STOP###');
}

const HAND_OVER = 'transfer_to_human_agents';

function callsOf(message: ChatMessage): readonly z.output<typeof call>[] {
  const calls = (message.tool_calls ?? []).map((one) => one.function);
  return calls.length > 0 || !message.function_call ? calls : [message.function_call];
}

/** What a call of `respond` says; null where it says nothing that is a text. */
function answerOf({ args }: RecordedCall): string | null {
  if (typeof args !== 'object' || args === null || !('content' in args)) return null;
  return typeof args.content === 'string' ? args.content : null;
}

function textOf({ content: text }: ChatMessage): string {
  return typeof text === 'string' ? text : (text ?? []).map((part) => part.text ?? '').join('\n');
}
