import { z } from 'zod';
import type { ChatMessage } from '../domain/chat.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ModelUsage } from '../domain/model.ts';
import type { ModelFormat } from './format.ts';

/** OpenAI's chat completions, and whatever speaks their format. */
export const openAi: ModelFormat = {
  path: '/chat/completions',

  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),

  body: ({ model, parameters, seed }, { messages, tools }) => ({
    ...parameters,
    model,
    messages: messages.map(toMessage),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({ type: 'function', function: { name, description, parameters: inputSchema } })),
    }),
    ...(seed !== null && { seed }),
  }),

  read(raw) {
    const { choices, model, usage } = reply.parse(raw);
    const [{ message, finish_reason: finish }] = choices as [(typeof choices)[number]];
    return {
      text: message.content ?? message.refusal ?? null,
      calls: (message.tool_calls ?? []).map((call, index) => ({
        id: call.id ?? `call_${index + 1}`,
        tool: call.function.name,
        args: typeof call.function.arguments === 'string' ? call.function.arguments : JSON.stringify(call.function.arguments ?? {}),
      })),
      finish: finish ?? null,
      reported: model ?? null,
      usage: usageOf(usage),
    };
  },
};

function toMessage(message: ChatMessage): JsonObject {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content: message.text,
        ...(message.calls.length > 0 && {
          tool_calls: message.calls.map(({ id, tool, args }) => ({ id, type: 'function', function: { name: tool, arguments: args } })),
        }),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.call, content: message.text };
    default:
      return { role: message.role, content: message.text };
  }
}

const tokens = z.int().min(0);

const usageShape = z.looseObject({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: z.looseObject({ cached_tokens: tokens.nullish() }).nullish(),
  completion_tokens_details: z.looseObject({ reasoning_tokens: tokens.nullish() }).nullish(),
});

const reply = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        message: z.looseObject({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z
            .array(z.looseObject({ id: z.string().min(1).nullish().catch(null), function: z.looseObject({ name: z.string(), arguments: z.unknown() }) }))
            .nullish(),
        }),
        finish_reason: z.string().nullish().catch(null),
      }),
    )
    .min(1),
  model: z.string().nullish().catch(null),
  // What is counted in another way is not measured, and no reason to lose a reply.
  usage: usageShape.nullish().catch(null),
});

function usageOf(usage: z.infer<typeof usageShape> | null | undefined): ModelUsage | null {
  if (!usage) return null;
  return {
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? null,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? null,
  };
}
