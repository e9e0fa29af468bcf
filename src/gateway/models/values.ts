import type { Json, JsonObject } from '../../domain/json.ts';
import { isList, isObject } from '../../domain/text/bounded.ts';

/** Parts of JSON that somebody else wrote: of another type they count as absent. */

export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function listIn(value: Json | undefined): readonly Json[] {
  return value !== undefined && isList(value) ? value : [];
}

export function textIn(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** A number of tokens. */
export function countIn(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
