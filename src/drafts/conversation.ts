import type { Json } from '../domain/json.ts';

/** What a tool answered a call, as a trace tells. */
export interface TracedReply {
  readonly result: Json;
  /** Null: nothing says that it failed. */
  readonly problem: { readonly code: string; readonly message: string } | null;
}

/** A call of a tool in a trace. */
export interface TracedCall {
  /** By which its reply is found; empty: the trace gives none. */
  readonly id: string;
  readonly tool: string;
  /** As the model wrote them: a text is JSON, or nothing that can be read. */
  readonly args: Json;
  /** Null: the trace does not tell. */
  readonly reply: TracedReply | null;
}

/** One message between the user and an agent. What the agent is told beforehand (system, developer) is no part of a case. */
export type TracedMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly TracedCall[] };

/** A conversation as a trace has it, in no format of its own. */
export interface TracedConversation {
  /** Name of the case that is drafted of it: letters, digits and `-`. */
  readonly id: string;
  /** Where it stands, such as `support.jsonl, line 3`. */
  readonly of: string;
  /** ISO 8601, when it began; null: the trace does not tell. */
  readonly startedAt: string | null;
  readonly messages: readonly TracedMessage[];
  /** What of it was left out, for people. */
  readonly left: readonly string[];
}

/** Puts replies to the calls that they answer; each is used once. */
export function withReplies(messages: readonly TracedMessage[], replies: ReadonlyMap<string, TracedReply>): readonly TracedMessage[] {
  return messages.map((message) =>
    message.role === 'user' ? message : { ...message, calls: message.calls.map((call) => ({ ...call, reply: call.reply ?? replies.get(call.id) ?? null })) },
  );
}

/** A value that may have been written as JSON within a text: then what that says. */
export function unwrapped(value: Json): Json {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}
