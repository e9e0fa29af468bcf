import type { Json, JsonObject } from '../domain/json.ts';
import { isList } from '../domain/text/bounded.ts';

/** Arguments of a script's step that hold no reference, whatever signs are in them. */
export function plainArguments(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([key, item]) => [key, plainValue(item)]));
}

/** A value of a script that holds no reference. */
export function plainValue(value: Json): Json {
  if (typeof value === 'string') return plainScriptText(value);
  if (value === null || typeof value !== 'object') return value;
  return isList(value) ? value.map(plainValue) : plainArguments(value as JsonObject);
}

/** A text of a script that holds no reference. */
export function plainScriptText(text: string): string {
  return text.replaceAll('${', () => '$${');
}
