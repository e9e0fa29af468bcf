import type { Candidate } from './candidates.ts';

/** An id in a sentence, at its boundaries. `maybe`: in other case, or as a part of a longer id (`ORD-1007` for `1007`). Another id of the same form is `wrong`. */
export function idsIn(sentence: string, id: string, topic: readonly string[] | undefined): Candidate[] {
  const wanted = id.normalize('NFC').trim();
  if (wanted === '') return [];
  const found: Candidate[] = [];
  for (let at = sentence.toLowerCase().indexOf(wanted.toLowerCase()); at >= 0; at = sentence.toLowerCase().indexOf(wanted.toLowerCase(), at + 1)) {
    const end = at + wanted.length;
    const text = sentence.slice(at, end);
    if (joined(sentence.slice(0, at), sentence.slice(end)) === 'word') continue;
    found.push({ at, end, text, match: text === wanted && joined(sentence.slice(0, at), sentence.slice(end)) === 'free' ? 'right' : 'maybe' });
  }
  for (const token of sentence.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu)) {
    const [text] = token;
    const [at, end] = [token.index, token.index + text.length];
    if (text === wanted || !/\p{N}/u.test(text) || shape(text) !== shape(wanted) || found.some((other) => at < other.end && other.at < end)) continue;
    const named =
      /(?:#|\b(?:id|no\.?|number)\b)\s*[:#]?\s*$/iu.test(sentence.slice(0, at)) ||
      (topic ?? []).some((word) => sentence.slice(0, at).trimEnd().toLowerCase().endsWith(word.toLowerCase()));
    if (/\p{L}/u.test(wanted) || named) found.push({ at, end, text, match: 'wrong' });
  }
  return found;
}

/** How an id touches its neighbours: `word`: letters or digits run on; `part`: a hyphen or the like joins it to more. */
function joined(before: string, after: string): 'free' | 'part' | 'word' {
  if (/[\p{L}\p{N}_]$/u.test(before) || /^[\p{L}\p{N}_]/u.test(after)) return 'word';
  if (/\d[.,]$/u.test(before) || /^[.,]\d/u.test(after)) return 'word';
  return /[\p{L}\p{N}][-/.@]$/u.test(before) || /^[-/@][\p{L}\p{N}]/u.test(after) ? 'part' : 'free';
}

function shape(id: string): string {
  return id.slice(0, 200).replace(/\p{N}/gu, '9').replace(/\p{L}/gu, 'a');
}
