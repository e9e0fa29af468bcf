import type { JsonObject } from '../domain/json.ts';
import type { Message } from '../domain/record.ts';

/** A message between user and agents as an agent reads it. */
export function heardMessage({ turn, from, text, data, operation, actor }: Message): JsonObject {
  return { turn, from, text, ...(actor !== undefined && { member: actor }), ...(data && { data }), ...(operation !== undefined && { operation }) };
}
