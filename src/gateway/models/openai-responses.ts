import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelUsage } from '../../domain/model.ts';
import { countIn, listIn, objectIn, textIn } from './values.ts';
import type { StreamReader, WireFormat, WireMessage, WireReply } from './wire.ts';

/** OpenAI's responses. What the provider keeps by itself (`previous_response_id`) is not seen here. */
export const openAiResponses: WireFormat = {
  api: 'openai',
  path: '/v1/responses',
  upstream: '/responses',
  headers: ['openai-beta'],
  content: ['input', 'instructions', 'tools', 'model', 'stream', 'stream_options'],

  request: (body, { model, parameters }) => ({ ...parameters, ...body, model }),

  messages({ instructions, input }) {
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listIn(input);
    return [...(typeof instructions === 'string' ? [{ role: 'system' as const, body: instructions }] : []), ...items.map(messageOf)];
  },

  reply: replyOf,

  stream: () => new ResponseStream(),
};

/** Its last event holds the whole response. */
class ResponseStream implements StreamReader {
  whole = false;
  private last: Json = null;

  event(data: Json): 'pass' {
    const { type, response } = objectIn(data);
    if (type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed') {
      this.whole = true;
      this.last = response ?? null;
    }
    return 'pass';
  }

  reply(): WireReply {
    return replyOf(this.last);
  }
}

function messageOf(item: Json): WireMessage {
  const { type, role } = objectIn(item);
  if (type === 'function_call_output') return { role: 'tool', body: item };
  if (role === 'user' || role === undefined) return { role: type === undefined || type === 'message' ? 'user' : 'assistant', body: item };
  return { role: role === 'assistant' ? 'assistant' : 'system', body: item };
}

function replyOf(body: Json): WireReply {
  const { output, model, usage } = objectIn(body);
  return { usage: usageOf(objectIn(usage)), reported: textIn(model), message: output ?? null };
}

function usageOf(usage: JsonObject): ModelUsage | null {
  const input = countIn(usage['input_tokens']);
  const output = countIn(usage['output_tokens']);
  if (input === null || output === null) return null;
  return {
    input,
    output,
    cached: countIn(objectIn(usage['input_tokens_details'])['cached_tokens']),
    reasoning: countIn(objectIn(usage['output_tokens_details'])['reasoning_tokens']),
  };
}
