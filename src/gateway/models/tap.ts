import { createParser } from 'eventsource-parser';
import type { Json } from '../../domain/json.ts';
import type { StreamReader, WireFormat, WireReply } from './wire.ts';

/** What is read of a reply for the record; a longer one is passed on and not measured. */
const MAX_READ_BYTES = 8 * 1024 * 1024;
/** Of one event, where events have to be looked at before they are passed on. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;
const DONE = '[DONE]';

/** Listens to a reply while it passes: what comes out is what the agent is sent, chunk by chunk. */
export interface Tap {
  chunk(bytes: Buffer): Buffer;
  /** All of it was heard, before its connection has ended. A document has no such sign. */
  readonly whole: boolean;
  /** What the reply was; null: it was not whole, or none that can be read. */
  end(): { readonly reply: WireReply; readonly whole: boolean };
}

const NOTHING: WireReply = { usage: null, reported: null, message: null };

/** Of a reply that is one JSON document. */
export function documentTap(format: WireFormat): Tap {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    whole: false,
    chunk(part) {
      bytes += part.length;
      if (bytes <= MAX_READ_BYTES) chunks.push(part);
      return part;
    },
    end() {
      const body = bytes > MAX_READ_BYTES ? undefined : parsed(Buffer.concat(chunks).toString('utf8'));
      return body === undefined ? { reply: NOTHING, whole: bytes > MAX_READ_BYTES } : { reply: format.reply(body), whole: true };
    },
  };
}

/** Of a stream of events. Bytes pass as they are, unless the reader may have something left out: then event by event. */
export function streamTap(reader: StreamReader, { drops }: { readonly drops: boolean }): Tap {
  const decoder = new TextDecoder();
  let out = '';
  let deaf = false;
  let read = 0;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent({ data, event, id }) {
      const value = data === DONE ? DONE : parsed(data);
      if (value !== undefined && reader.event(value) === 'drop') return;
      if (!drops) return;
      if (event !== undefined) out += `event: ${event}\n`;
      if (id !== undefined) out += `id: ${id}\n`;
      out += `${data
        .split('\n')
        .map((line) => `data: ${line}`)
        .join('\n')}\n\n`;
    },
    onComment(comment) {
      if (drops) out += `: ${comment}\n\n`;
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') deaf = true;
    },
  });
  return {
    get whole() {
      return !deaf && reader.whole;
    },
    chunk(part) {
      read += part.length;
      if (!drops && read > MAX_READ_BYTES) deaf = true;
      if (deaf) {
        if (drops) throw new RangeError(`an event of more than ${MAX_EVENT_CHARACTERS} characters`);
        return part;
      }
      parser.feed(decoder.decode(part, { stream: true }));
      if (!drops) return part;
      const passed = Buffer.from(out);
      out = '';
      return passed;
    },
    end: () => ({ reply: deaf ? NOTHING : reader.reply(), whole: deaf || reader.whole }),
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
