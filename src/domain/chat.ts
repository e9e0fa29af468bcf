import type { JsonObject } from './json.ts';

/** One message of a model's conversation, in no provider's format. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string | null; readonly calls: readonly ChatCall[] }
  | { readonly role: 'tool'; readonly call: string; readonly text: string };

/** A tool call as the model wrote it. */
export interface ChatCall {
  /** The model's own id of it. */
  readonly id: string;
  readonly tool: string;
  /** JSON, as the model wrote it: it may be none. */
  readonly args: string;
}

/** A tool as it is offered. */
export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: JsonObject;
}
