import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelUsage } from '../../domain/model.ts';
import { countIn, listIn, objectIn, textIn } from './values.ts';
import type { StreamReader, WireFormat, WireMessage, WireReply } from './wire.ts';

/** OpenAI's chat completions. */
export const openAiChat: WireFormat = {
  api: 'openai',
  path: '/v1/chat/completions',
  upstream: '/chat/completions',
  headers: ['openai-beta'],
  content: ['messages', 'tools', 'functions', 'model', 'stream', 'stream_options'],

  request: (body, { model, parameters, seed }) => ({
    ...parameters,
    ...(seed !== null && { seed }),
    ...body,
    model,
    // Without it a streamed reply tells no tokens.
    ...(body['stream'] === true && { stream_options: { ...objectIn(body['stream_options']), include_usage: true } }),
  }),

  messages: (body) => listIn(body['messages']).map((message) => ({ role: roleOf(textIn(objectIn(message)['role'])), body: message })),

  reply(body) {
    const { choices, model, usage } = objectIn(body);
    const first = objectIn(listIn(choices)[0]);
    return { usage: usageOf(usage), reported: textIn(model), message: first['message'] ?? null };
  },

  stream: (asked) => new ChatStream(objectIn(asked['stream_options'])['include_usage'] === true),
};

function roleOf(role: string | null): WireMessage['role'] {
  if (role === 'assistant' || role === 'user') return role;
  return role === 'tool' || role === 'function' ? 'tool' : 'system';
}

function usageOf(value: Json | undefined): ModelUsage | null {
  const usage = objectIn(value);
  const input = countIn(usage['prompt_tokens']);
  const output = countIn(usage['completion_tokens']);
  if (input === null || output === null) return null;
  return {
    input,
    output,
    cached: countIn(objectIn(usage['prompt_tokens_details'])['cached_tokens']),
    reasoning: countIn(objectIn(usage['completion_tokens_details'])['reasoning_tokens']),
  };
}

class ChatStream implements StreamReader {
  whole = false;
  private readonly usageWasAsked: boolean;
  private usage: ModelUsage | null = null;
  private reported: string | null = null;
  private text = '';
  private readonly calls: { id: string | null; name: string; args: string }[] = [];

  constructor(usageWasAsked: boolean) {
    this.usageWasAsked = usageWasAsked;
  }

  event(data: Json): 'pass' | 'drop' {
    if (data === '[DONE]') {
      this.whole = true;
      return 'pass';
    }
    const chunk = objectIn(data);
    this.reported ??= textIn(chunk['model']);
    this.usage = usageOf(chunk['usage']) ?? this.usage;
    const choices = listIn(chunk['choices']);
    const delta = objectIn(objectIn(choices[0])['delta']);
    this.text += textIn(delta['content']) ?? '';
    for (const part of listIn(delta['tool_calls'])) this.add(objectIn(part));
    return !this.usageWasAsked && choices.length === 0 && chunk['usage'] !== undefined ? 'drop' : 'pass';
  }

  reply(): WireReply {
    const calls = this.calls.filter((call) => call !== undefined).map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } }));
    const message: JsonObject = { role: 'assistant', content: this.text === '' ? null : this.text, ...(calls.length > 0 && { tool_calls: calls }) };
    return { usage: this.usage, reported: this.reported, message };
  }

  private add(part: JsonObject): void {
    const at = countIn(part['index']) ?? this.calls.length;
    if (at > MAX_CALLS) return;
    const known = this.calls[at] ?? { id: null, name: '', args: '' };
    const said = objectIn(part['function']);
    known.id ??= textIn(part['id']);
    known.name += textIn(said['name']) ?? '';
    known.args += textIn(said['arguments']) ?? '';
    this.calls[at] = known;
  }
}

/** In one message, as far as they are kept. */
const MAX_CALLS = 500;
