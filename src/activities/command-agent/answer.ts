import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { printable } from '../../domain/text/bounded.ts';

/** Longest answer; in bytes as it is printed. */
export const MAX_ANSWER_BYTES = 1_000_000;

export interface Answer {
  readonly text: string;
  readonly data: JsonObject | null;
}

/** What a program of output `json` prints. */
const printedAnswer = z.strictObject({ text: z.string(), data: z.record(z.string(), z.json()).nullable().default(null) });

/** The answer that a program printed; a text where it is none. Line feeds at the end are no part of a text. */
export function answerOf(output: Buffer, form: 'text' | 'json'): Answer | string {
  const printed = output.toString('utf8');
  if (form === 'text') return { text: printable(printed.replace(/[\r\n]+$/, ''), MAX_ANSWER_BYTES), data: null };
  try {
    const parsed = printedAnswer.safeParse(JSON.parse(printed));
    if (parsed.success) return parsed.data as Answer;
    const [issue] = parsed.error.issues;
    return `The agent printed no answer of the form {"text", "data"}: ${issue?.path.map(String).join('.') || 'it'}: ${issue?.message ?? 'unknown'}`;
  } catch {
    return 'The agent printed no JSON that can be read, which its output is declared to be.';
  }
}
