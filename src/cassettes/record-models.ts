import type { Cassette, CassetteModels, Interaction, ModelEntry } from '../domain/cassette.ts';
import type { ChatMessage } from '../domain/chat.ts';
import type { Effect } from '../domain/effect.ts';
import type { Json } from '../domain/json.ts';
import type { ModelCall, ModelRoute } from '../domain/model.ts';
import { isObject } from '../domain/text/bounded.ts';
import type { ToolSchema } from '../environments/world.ts';
import type { ConversationEntry } from '../store/conversation.ts';
import { modelKey } from './model-key.ts';

/** What a trial's agent and its model said to each other. */
export interface ModelsToRecord {
  readonly route: ModelRoute;
  readonly prompt: string;
  /** As they were offered. */
  readonly tools: readonly ToolSchema[];
  /** Of the agent, in order. */
  readonly conversation: readonly ConversationEntry[];
  readonly calls: readonly ModelCall[];
}

/** Of a message so much is kept in a record; what is longer is cut there, and is not known. */
const KEPT_TEXT = 100_000;

/** What of a conversation is redacted together with the calls of tools. Null: not all of it was kept. */
export function conversationOf({ conversation }: ModelsToRecord): readonly ChatMessage[] | null {
  const messages: ChatMessage[] = [];
  for (const [index, { seq, role, body }] of conversation.entries()) {
    const message = messageOf(role, body as Json);
    if (seq !== index + 1 || message === null || (message.text ?? '').length > KEPT_TEXT) return null;
    messages.push(message);
  }
  return messages;
}

function messageOf(role: ChatMessage['role'], body: Json): ChatMessage | null {
  if (!isObject(body) || body['omitted'] === true) return null;
  const text = typeof body['text'] === 'string' ? body['text'] : null;
  if (role === 'assistant') {
    const { calls = [] } = body as { readonly calls?: readonly { readonly id: string; readonly tool: string; readonly args: string }[] };
    return { role, text, calls };
  }
  if (text === null) return null;
  return role === 'tool' ? { role, call: String(body['call'] ?? ''), text } : { role, text };
}

/** Where an interaction stands among the operations of its trial, from 1. */
export type OrdinalOf = (place: number) => number;

/** Replies with the keys by which they are found. `conversation` and the cassette's parts are redacted. */
export function recordedModels(
  { route, tools, conversation: entries, calls }: ModelsToRecord,
  conversation: readonly ChatMessage[],
  cassette: Pick<Cassette, 'interactions' | 'others' | 'recorded'>,
  under: { readonly scope: string; readonly ordinalOf: OrdinalOf },
): CassetteModels {
  const replies: ModelEntry[] = [];
  let inputs: CassetteModels['inputs'] = {};
  let operations = 0;
  for (const [index, message] of conversation.entries()) {
    if (message.role !== 'assistant') continue;
    const call = calls.find(({ id, end }) => id === entries[index]?.call && end === 'replied');
    if (call) {
      const effects = effectsUpTo(cassette, operations, under.ordinalOf);
      const { generation, start } = cassette.recorded;
      const found = modelKey({ route, messages: conversation.slice(0, index), tools, scope: under.scope, generation, start, effects });
      inputs = { ...inputs, ...found.inputs };
      replies.push({ key: found.key, at: index + 1, reported: call.reported, usage: call.usage });
    }
    operations += message.calls.length;
  }
  return { conversation, replies, inputs };
}

/** What the world had been changed by when so many operations had been made, as a replay has it. */
function effectsUpTo({ interactions, others }: Pick<Cassette, 'interactions' | 'others'>, operations: number, ordinalOf: OrdinalOf): readonly Effect[] {
  return [...others, ...interactions.filter((_one: Interaction, place) => ordinalOf(place) <= operations).flatMap(({ effects }) => effects)];
}
