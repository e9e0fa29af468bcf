import { z } from 'zod';
import type { Rubric } from '../domain/rubric.ts';
import { printable } from '../domain/text/bounded.ts';

/** What a judge's reply says; or why it says nothing that counts. */
export type JudgeSaid =
  | { readonly category: string; readonly reason: string; readonly problem: null }
  | { readonly category: null; readonly reason: null; readonly problem: { readonly code: 'bad_reply'; readonly message: string } };

/** Longest reason that is kept, in UTF-16 units. */
const MAX_REASON = 4_000;
const QUOTED = 300;

const replySchema = z.strictObject({ category: z.string(), reason: z.string() });

/**
 * Reads a judge's reply: one JSON object with `category` and `reason` and nothing else, alone or in one fenced block. A category that is nearly one, or one that is named in a sentence, is none:
 * whoever guesses what a judge meant is the judge.
 */
export function readReply(text: string | null, { scale }: Pick<Rubric, 'scale'>): JudgeSaid {
  const said = (text ?? '').trim();
  if (said === '') return bad('it said nothing', '');
  let value: unknown;
  try {
    value = JSON.parse(/^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(said)?.[1] ?? said);
  } catch {
    return bad('it is not one JSON object', said);
  }
  const parsed = replySchema.safeParse(value);
  if (!parsed.success) return bad('it is no object of "category" and "reason", both texts, alone', said);
  const { category, reason } = parsed.data;
  if (!scale.some((one) => one.category === category))
    return bad(`"${printable(category, 80)}" is none of ${scale.map((one) => one.category).join(', ')}`, said);
  return { category, reason: printable(reason.trim(), MAX_REASON), problem: null };
}

function bad(why: string, said: string): JudgeSaid {
  const quoted = said === '' ? '' : `; it replied: ${printable(said, QUOTED)}`;
  return { category: null, reason: null, problem: { code: 'bad_reply', message: `the reply of the judge does not count: ${why}${quoted}` } };
}
