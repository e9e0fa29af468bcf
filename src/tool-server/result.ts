import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Json } from '../domain/json.ts';
import { isObject } from '../domain/text/bounded.ts';

/** What a server's answer says. */
export interface ServerAnswer {
  readonly value: Json;
  /** It answered with an error. `code`: of its structured content, where there is one. */
  readonly failure: { readonly code: string | null; readonly message: string } | null;
}

/**
 * The result of a call as an agent is told it: its structured content; else a single text, as JSON where it is an object or a list; else its content as it is.
 */
export function resultIn({ content = [], structuredContent, isError }: CallToolResult): ServerAnswer {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const value = (structuredContent ?? (texts.length === 1 && content.length === 1 ? parsed(texts[0] ?? '') : content)) as Json;
  if (!isError) return { value, failure: null };
  const { code, message } = isObject(value) ? value : {};
  const said = typeof message === 'string' ? message : texts.join('\n');
  return { value, failure: { code: typeof code === 'string' ? code : null, message: said || 'The tool failed and said nothing of it.' } };
}

function parsed(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
