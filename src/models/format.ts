import type { ChatCall, ChatMessage, ChatTool } from '../domain/chat.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ModelRoute, ModelUsage } from '../domain/model.ts';

export interface ModelRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
}

/** What a model replied. */
export interface ModelReply {
  readonly text: string | null;
  readonly calls: readonly ChatCall[];
  /** Why it stopped, in the provider's word. */
  readonly finish: string | null;
  /** Version that the provider reported. */
  readonly reported: string | null;
  /** Null: not reported. */
  readonly usage: ModelUsage | null;
}

/** A provider's format of requests and replies. */
export interface ModelFormat {
  /** Below the route's URL. */
  readonly path: string;
  headers(key: string | null): { readonly [name: string]: string };
  body(route: Pick<ModelRoute, 'model' | 'parameters' | 'seed'>, request: ModelRequest): JsonObject;
  /** @throws {z.ZodError} for what is no reply of this format. */
  read(raw: unknown): ModelReply;
}
