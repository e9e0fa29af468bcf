import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelUsage } from '../../domain/model.ts';
import { countIn, listIn, objectIn, textIn } from './values.ts';
import type { StreamReader, WireFormat, WireMessage, WireReply } from './wire.ts';

/** Anthropic's messages. */
export const anthropicMessages: WireFormat = {
  api: 'anthropic',
  path: '/v1/messages',
  upstream: '/v1/messages',
  headers: ['anthropic-version', 'anthropic-beta'],
  content: ['messages', 'system', 'tools', 'model', 'stream'],

  request: (body, { model, parameters }) => ({ ...parameters, ...body, model }),

  messages({ system, messages }) {
    const said = listIn(messages).map((message): WireMessage => ({ role: roleOf(objectIn(message)), body: message }));
    return system === undefined ? said : [{ role: 'system', body: system }, ...said];
  },

  reply(body) {
    const { model, usage, content } = objectIn(body);
    return { usage: usageOf(objectIn(usage)), reported: textIn(model), message: { role: 'assistant', content: content ?? null } };
  },

  stream: () => new MessageStream(),
};

/** Tools answer as the user. */
function roleOf({ role, content }: JsonObject): WireMessage['role'] {
  if (role === 'assistant') return 'assistant';
  return listIn(content).some((block) => objectIn(block)['type'] === 'tool_result') ? 'tool' : 'user';
}

function usageOf(usage: JsonObject): ModelUsage | null {
  const input = countIn(usage['input_tokens']);
  const output = countIn(usage['output_tokens']);
  if (input === null || output === null) return null;
  const cached = countIn(usage['cache_read_input_tokens']);
  // Cached tokens are not among those of the input here.
  return { input: input + (cached ?? 0) + (countIn(usage['cache_creation_input_tokens']) ?? 0), output, cached, reasoning: null };
}

class MessageStream implements StreamReader {
  whole = false;
  private usage: JsonObject = {};
  private reported: string | null = null;
  private readonly blocks = new Map<number, { block: JsonObject; text: string; json: string }>();

  event(data: Json): 'pass' {
    const event = objectIn(data);
    const index = countIn(event['index']) ?? 0;
    const delta = objectIn(event['delta']);
    const known = this.blocks.get(index);
    switch (event['type']) {
      case 'message_start': {
        const message = objectIn(event['message']);
        this.reported = textIn(message['model']);
        this.usage = objectIn(message['usage']);
        break;
      }
      case 'content_block_start':
        if (index < MAX_BLOCKS) this.blocks.set(index, { block: objectIn(event['content_block']), text: '', json: '' });
        break;
      case 'content_block_delta':
        if (known) {
          known.text += textIn(delta['text']) ?? '';
          known.json += textIn(delta['partial_json']) ?? '';
        }
        break;
      case 'message_delta':
        // What it tells is the sum so far.
        this.usage = { ...this.usage, ...objectIn(event['usage']) };
        break;
      case 'message_stop':
        this.whole = true;
        break;
      default:
    }
    return 'pass';
  }

  reply(): WireReply {
    const content = [...this.blocks.values()].map(({ block, text, json }) => ({ ...block, ...(text !== '' && { text }), ...(json !== '' && { input: json }) }));
    // Before the end only a part of the output is told.
    return { usage: this.whole ? usageOf(this.usage) : null, reported: this.reported, message: { role: 'assistant', content } };
  }
}

const MAX_BLOCKS = 500;
