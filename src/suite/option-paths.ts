import { resolve } from 'node:path';
import type { Json, JsonObject } from '../domain/json.ts';

/** Options of an environment with every text that is `.` or `..`, or starts with `./` or `../`, as an absolute path from `folder`: a pack does not know where its suite lies. */
export function withPathsFrom(folder: string, options: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, resolved(folder, value)]));
}

function resolved(folder: string, value: Json): Json {
  if (typeof value === 'string') return /^\.\.?(\/|$)/.test(value) ? resolve(folder, value) : value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => resolved(folder, item));
  return value !== null && typeof value === 'object' ? withPathsFrom(folder, value as JsonObject) : value;
}
