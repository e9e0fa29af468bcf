import { fold, placesOf } from '../text/says.ts';
import { RETOLD } from './cues.ts';
import { plainLines, splitLine } from './sentences.ts';

/** A value in a sentence, compared with the expected one. `maybe`: it may be the expected one, and code cannot tell. */
export interface Candidate {
  readonly at: number;
  readonly end: number;
  readonly text: string;
  readonly match: 'right' | 'wrong' | 'maybe';
}

/** What a message tells about a value. `other`: it tells another one. `absent`: none. */
export interface Telling {
  readonly told: 'right' | 'other' | 'undetermined' | 'absent';
  readonly because: string | null;
}

/**
 * What a message tells about a value. With a topic only sentences that name it count; the right value elsewhere is `undetermined`. A value in a question, in a
 * retold request, behind "about" or "not", or in a choice of several ("20 or 25") is not told.
 */
export function tellingOf(
  text: string,
  topic: readonly string[] | undefined,
  find: (sentence: string) => readonly Candidate[],
  vague: (sentence: string) => boolean,
): Telling {
  let doubt: string | null = null;
  let other: string | null = null;
  for (const sentence of plainLines(text).flatMap(splitLine)) {
    const bounded = sentence.slice(0, MAX_SENTENCE);
    const found = find(bounded);
    const blurred = vague(bounded);
    if (found.length === 0 && !blurred) continue;
    const folded = fold(bounded);
    const topical = topic === undefined || topic.some((word) => placesOf(folded, word).length > 0);
    const plain = found.filter((candidate) => candidate.match === 'right' && isTold(bounded, candidate));
    if (plain.length > 0 && topical) return { told: 'right', because: bounded };
    if (found.some((candidate) => candidate.match !== 'wrong') || (topical && blurred)) doubt ??= bounded;
    else if (found.length > 0 && topical) other ??= bounded;
  }
  if (doubt !== null) return { told: 'undetermined', because: doubt };
  return other === null ? { told: 'absent', because: null } : { told: 'other', because: other };
}

const MAX_SENTENCE = 2_000;

function isTold(sentence: string, candidate: Candidate): boolean {
  if (/\?["')\]]*\s*$/u.test(sentence)) return false;
  const before = fold(sentence.slice(0, candidate.at)).trimEnd();
  const after = fold(sentence.slice(candidate.end));
  if (
    /(?:\b(?:about|around|roughly|approximately|approx\.?|circa|ca\.|up to|at most|at least|nearly|almost|probably|maybe|perhaps|possibly|not|isn't|wasn't|instead of|rather than|or|either|between|less than|more than|over|under)|~|≈|<|>|\?)(?: (?:the|a|an|on|for|by|of))?$/u.test(
      before,
    )
  )
    return false;
  if (/^\s*or (?:\S{1,4} ?)?\d/u.test(after)) return false;
  const retold = RETOLD.exec(before);
  return retold === null || /\b(?:i|i've|we|we've|was|were|has been|have been|is)\b|,/u.test(before.slice(retold.index + retold[0].length));
}
