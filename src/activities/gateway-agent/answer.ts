import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { printable } from '../../domain/text/bounded.ts';

/** Longest answer; in bytes as it comes. */
export const MAX_ANSWER_BYTES = 1_000_000;

export interface Answer {
  readonly text: string;
  readonly data: JsonObject | null;
  /** It ends the conversation: the user is not asked to go on. */
  readonly end: boolean;
}

/** What an agent of output `json` gives. */
const givenAnswer = z.strictObject({ text: z.string(), data: z.record(z.string(), z.json()).nullable().default(null), end: z.boolean().default(false) });

/** The answer that an agent gave as bytes; a text where it is none. Line feeds at the end are no part of a text. */
export function answerOf(output: Buffer, form: 'text' | 'json'): Answer | string {
  const given = output.toString('utf8');
  if (form === 'text') return { text: printable(given.replace(/[\r\n]+$/, ''), MAX_ANSWER_BYTES), data: null, end: false };
  try {
    const parsed = givenAnswer.safeParse(JSON.parse(given));
    if (parsed.success) return parsed.data as Answer;
    const [issue] = parsed.error.issues;
    return `The agent gave no answer of the form {"text", "data", "end"}: ${issue?.path.map(String).join('.') || 'it'}: ${issue?.message ?? 'unknown'}`;
  } catch {
    return 'The agent gave no JSON that can be read, which its output is declared to be.';
  }
}
