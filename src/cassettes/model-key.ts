import type { CassetteModels, ModelKey } from '../domain/cassette.ts';
import type { ChatMessage } from '../domain/chat.ts';
import type { Effect } from '../domain/effect.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ModelRoute } from '../domain/model.ts';
import { isList } from '../domain/text/bounded.ts';
import type { ToolSchema } from '../environments/world.ts';
import { contentHash } from '../suite/identity.ts';
import { withSecretsByKind } from './redactor.ts';

const LENGTH = 16;

/** Everything that a reply of a model may depend on. */
export interface ModelInput {
  readonly route: ModelRoute;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolSchema[];
  /** Digest of the permission scope. */
  readonly scope: string;
  /** Of the environment. */
  readonly generation: string;
  /** Hash of what the case begins with. */
  readonly start: string;
  /** What was changed since, in order. */
  readonly effects: readonly Effect[];
}

/** The digests by which a reply is found, and what those of route, parameters and tools stand for. */
export function modelKey({ route, messages, tools, scope, generation, start, effects }: ModelInput): {
  readonly key: ModelKey;
  readonly inputs: CassetteModels['inputs'];
} {
  const { api, url, model, seed, parameters } = route;
  const way: Json = { api, url, model, seed };
  const offered: Json = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const said = messages.map(comparableMessage);
  const key: ModelKey = {
    route: digestOf(way),
    parameters: digestOf(parameters),
    history: digestOf(said.filter((_one, index) => messages[index]?.role !== 'tool')),
    context: digestOf(said.filter((_one, index) => messages[index]?.role === 'tool')),
    tools: digestOf(offered),
    scope,
    generation,
    world: digestOf({ start, effects: effects.map(changed) }),
  };
  return { key, inputs: { [key.route]: way, [key.parameters]: parameters, [key.tools]: offered } };
}

/** A message as it is compared: what is JSON in it by value, and secrets, which are not in a recording, as nothing but that. */
export function comparableMessage(message: ChatMessage): Json {
  switch (message.role) {
    case 'tool':
      return comparable({ role: message.role, call: message.call, text: parsedText(message.text) });
    case 'assistant':
      return comparable({ role: message.role, text: message.text, calls: message.calls.map(({ id, tool, args }) => ({ id, tool, args: parsedText(args) })) });
    default:
      return comparable({ role: message.role, text: message.text });
  }
}

function comparable(value: JsonObject): Json {
  return withoutKinds(withSecretsByKind(value));
}

/** Records of conversations name what they hide otherwise than cassettes do. */
function withoutKinds(value: Json): Json {
  if (typeof value === 'string')
    return value.replace(
      /\[redacted(?:: [^\]\n]{1,100})?\]|\[(?:api-key|token|secret|private-key|encoded|card-number|account-number|[a-z-]*(?:key|token))\]/g,
      '[secret]',
    );
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(withoutKinds);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutKinds(item)]));
}

function parsedText(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** What was changed; when and by which call is no part of it. */
function changed(effect: Effect): Json {
  const { seq: _seq, operation: _operation, replayed: _replayed, ...what } = effect;
  return JSON.parse(JSON.stringify(what)) as Json;
}

function digestOf(value: Json): string {
  return contentHash(value).slice(0, LENGTH);
}
