import type { Json, JsonObject } from '../../src/domain/json.ts';
import { isList, isObject } from '../../src/domain/text/bounded.ts';

/** Longest text that the model writes into one place. */
const MAX_TEXT = 48;

/** A tool as OpenAI's format names it. */
export interface OfferedTool {
  readonly function: { readonly name: string; readonly parameters: object };
}

/** JSON Schema of what the model may reply: one call of one of the tools, or something that it says. */
export function replySchema(tools: readonly OfferedTool[]): JsonObject {
  const calls = tools.map(({ function: { name, parameters } }) => object({ call: { const: name }, args: simple(parameters as JsonObject) }));
  return { oneOf: [...calls, object({ say: { type: 'string', maxLength: 80 } })] };
}

/** What a grammar can follow of a schema. What it cannot, such as a pattern, is left to chance: a call may then be refused. */
function simple(schema: Json | undefined): JsonObject {
  if (!isObject(schema)) return { type: 'string', maxLength: MAX_TEXT };
  if ('const' in schema) return { const: schema['const'] ?? null };
  if (isList(schema['enum'] ?? null)) return { enum: schema['enum'] ?? [] };
  const union = schema['anyOf'] ?? schema['oneOf'];
  if (union !== undefined && isList(union)) return simple(union[0]);
  const type = schema['type'];
  switch (isList(type ?? null) ? (type as readonly Json[])[0] : type) {
    case 'object': {
      const properties = isObject(schema['properties']) ? schema['properties'] : {};
      const required = isList(schema['required'] ?? null) ? (schema['required'] as readonly Json[]) : [];
      return object(Object.fromEntries(Object.entries(properties).flatMap(([name, own]) => (required.includes(name) ? [[name, simple(own)]] : []))));
    }
    case 'array':
      return { type: 'array', items: simple(schema['items']), minItems: 1, maxItems: 2 };
    case 'integer':
    case 'number':
    case 'boolean':
      return { type: type as string };
    default:
      return { type: 'string', maxLength: MAX_TEXT };
  }
}

function object(properties: JsonObject): JsonObject {
  return { type: 'object', properties };
}
