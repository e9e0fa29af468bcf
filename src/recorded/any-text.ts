import { evidence, printable } from '../domain/text/bounded.ts';
import type { Json } from '../domain/json.ts';

/** A value as a file of JSON has it, in a short text that is safe to print; of any type, size and depth. */
export function anyText(value: unknown): string {
  return printable(JSON.stringify(evidence(value as Json)));
}
