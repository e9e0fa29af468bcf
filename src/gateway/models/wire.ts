import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelRoute, ModelUsage } from '../../domain/model.ts';

/** Why the gateway itself refuses a call of a model. */
export type Refusal = 'unauthorized' | 'invalid' | 'not_found' | 'too_large' | 'budget' | 'unreachable' | 'timeout' | 'setup' | 'harness';

/** One message of a conversation as it is kept. */
export interface WireMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly body: Json;
}

/** What is known of a reply once it is whole. */
export interface WireReply {
  readonly usage: ModelUsage | null;
  readonly reported: string | null;
  /** Null: it was none that could be read. */
  readonly message: Json;
}

/** Puts a streamed reply together from its events. */
export interface StreamReader {
  /** What comes is to be passed on unless this says `drop`: the agent did not ask for it, and may not expect it. */
  event(data: Json): 'pass' | 'drop';
  /** Whether the last event of a whole stream has come. */
  readonly whole: boolean;
  reply(): WireReply;
}

/** One kind of request that providers take, as the gateway passes it through. */
export interface WireFormat {
  readonly api: ModelRoute['api'];
  /** Below the gateway's base URL for this provider. */
  readonly path: string;
  /** Below the route's URL. */
  readonly upstream: string;
  /** Headers of the agent that go on to the provider. */
  readonly headers: readonly string[];
  /** The request as it is sent: of the route's model, with the route's parameters where the agent gives none. */
  request(body: JsonObject, route: ModelRoute): JsonObject;
  /** All messages of a request, in order. */
  messages(body: JsonObject): readonly WireMessage[];
  /** Keys of a request that hold messages; the others are its parameters. */
  readonly content: readonly string[];
  reply(body: Json): WireReply;
  /** `asked`: the agent's own request. */
  stream(asked: JsonObject): StreamReader;
}

/** A refusal in a provider's own form. */
function refusalBody(api: ModelRoute['api'], refusal: Refusal, message: string): { readonly status: number; readonly body: JsonObject } {
  const [status, openai, anthropic] = FORMS[refusal];
  const body =
    api === 'openai'
      ? { error: { message, type: openai, param: null, code: refusal === 'budget' ? 'insufficient_quota' : refusal } }
      : { type: 'error', error: { type: anthropic, message } };
  return { status, body };
}

/** A refusal of the gateway, told in the provider's form; its libraries do not send again what cannot succeed. */
export function refusalResponse(api: ModelRoute['api'], refusal: Refusal, message: string): Response {
  const { status, body } = refusalBody(api, refusal, message);
  return Response.json(body, { status, headers: { 'x-should-retry': 'false' } });
}

const FORMS: { readonly [refusal in Refusal]: readonly [status: number, openai: string, anthropic: string] } = {
  unauthorized: [401, 'invalid_request_error', 'authentication_error'],
  invalid: [400, 'invalid_request_error', 'invalid_request_error'],
  not_found: [404, 'invalid_request_error', 'not_found_error'],
  too_large: [413, 'invalid_request_error', 'request_too_large'],
  // What providers answer when an account is empty.
  budget: [429, 'insufficient_quota', 'billing_error'],
  unreachable: [502, 'server_error', 'api_error'],
  timeout: [504, 'server_error', 'timeout_error'],
  setup: [502, 'server_error', 'api_error'],
  harness: [500, 'server_error', 'api_error'],
};
