import type { ChatMessage } from '../../domain/chat.ts';
import type { JsonObject } from '../../domain/json.ts';
import { type AddressPolicy, redactText } from '../../models/redact.ts';
import type { ConversationEntry, LiveEntry } from '../../store/conversation.ts';

/** Longest text of a message that is kept, in UTF-16 units. */
const MAX_TEXT = 100_000;
/** Calls of one message that are kept. */
const MAX_CALLS = 200;

/** What a record of a conversation must not hold. */
export interface Keeper {
  readonly secrets: { readonly [name: string]: string };
  readonly addresses: AddressPolicy;
}

/** A message with what is kept of it: secrets by name and by pattern are taken out, addresses by policy, and each text is bounded. */
export function kept(keeper: Keeper, place: Omit<ConversationEntry, 'role' | 'body'>, message: ChatMessage): LiveEntry {
  return { ...place, role: message.role, body: bodyOf(keeper, message), exact: message };
}

/** What is kept of a message. */
export function bodyOf(keeper: Keeper, message: ChatMessage): JsonObject {
  const clean = (text: string) => redactText(text, { ...keeper, maxText: MAX_TEXT });
  switch (message.role) {
    case 'assistant':
      return {
        text: message.text === null ? null : clean(message.text),
        ...(message.calls.length > 0 && {
          calls: message.calls.slice(0, MAX_CALLS).map(({ id, tool, args }) => ({ id: clean(id), tool: clean(tool), args: clean(args) })),
        }),
      };
    case 'tool':
      return { call: clean(message.call), text: clean(message.text) };
    default:
      return { text: clean(message.text) };
  }
}
