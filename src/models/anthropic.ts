import { z } from 'zod';
import type { ChatMessage } from '../domain/chat.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ModelFormat } from './format.ts';

/** The format wants a limit. */
const DEFAULT_MAX_TOKENS = 4096;

/** Anthropic's messages. A seed is no part of this format. */
export const anthropic: ModelFormat = {
  path: '/v1/messages',

  headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key !== null && { 'x-api-key': key }) }),

  body({ model, parameters }, { messages, tools }) {
    const system = messages.flatMap((message) => (message.role === 'system' ? [message.text] : [])).join('\n\n');
    return {
      max_tokens: DEFAULT_MAX_TOKENS,
      ...parameters,
      model,
      ...(system !== '' && { system }),
      messages: alternating(messages),
      ...(tools.length > 0 && { tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })) }),
    };
  },

  read(raw) {
    const { content, model, stop_reason: finish, usage } = reply.parse(raw);
    const texts = content.flatMap((block) => (block.type === 'text' && typeof block.text === 'string' ? [block.text] : []));
    return {
      text: texts.length === 0 ? null : texts.join(''),
      calls: content.flatMap((block, index) =>
        block.type === 'tool_use' ? [{ id: block.id ?? `call_${index + 1}`, tool: block.name ?? '', args: JSON.stringify(block.input ?? {}) }] : [],
      ),
      finish: finish ?? null,
      reported: model ?? null,
      usage: usage
        ? {
            // Cached tokens are not among those of the input here.
            input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
            output: usage.output_tokens,
            cached: usage.cache_read_input_tokens ?? null,
            reasoning: null,
          }
        : null,
    };
  },
};

/** User and assistant take turns, and tools answer as the user. */
function alternating(messages: readonly ChatMessage[]): JsonObject[] {
  const turns: { role: 'user' | 'assistant'; content: Json[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocksOf(message));
    else turns.push({ role, content: blocksOf(message) });
  }
  return turns.map(({ role, content }) => ({ role, content }));
}

function blocksOf(message: ChatMessage): Json[] {
  if (message.role === 'tool') return [{ type: 'tool_result', tool_use_id: message.call, content: message.text }];
  const text: Json[] = message.text === null || message.text === '' ? [] : [{ type: 'text', text: message.text }];
  if (message.role !== 'assistant') return text;
  return [...text, ...message.calls.map(({ id, tool, args }): Json => ({ type: 'tool_use', id, name: tool, input: objectOf(args) }))];
}

/** Arguments that are no object cannot be sent back in this format as they were. */
function objectOf(args: string): JsonObject {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

const tokens = z.int().min(0);

const reply = z.looseObject({
  content: z.array(
    z.looseObject({
      type: z.string(),
      text: z.string().optional(),
      id: z.string().optional(),
      name: z.string().optional(),
      input: z.unknown().optional(),
    }),
  ),
  model: z.string().nullish().catch(null),
  stop_reason: z.string().nullish().catch(null),
  // What is counted in another way is not measured, and no reason to lose a reply.
  usage: z
    .looseObject({
      input_tokens: tokens,
      output_tokens: tokens,
      cache_read_input_tokens: tokens.nullish(),
      cache_creation_input_tokens: tokens.nullish(),
    })
    .nullish()
    .catch(null),
});
