import type { AssertedState } from '../case.ts';
import { printable } from '../text/bounded.ts';
import { fold, placesOf } from '../text/says.ts';
import {
  AHEAD,
  ANOTHER,
  ATTEMPT,
  COMPLETED,
  CONDITION,
  DENIED_CLAIM,
  FAILED_AFTER,
  GENERAL,
  HARMLESS,
  HEARSAY,
  HEDGE,
  LABEL,
  NEGATION,
  NOT_BUT,
  ON_BEHALF,
  PARTIAL,
  RETOLD,
  SPEAKS_OF_IT,
  SUCCEEDED,
  TAKEN_BACK,
  TAKEN_UP,
  UNDER_WAY,
  UNKNOWN,
} from './cues.ts';
import { type Sentence, sentencesOf } from './sentences.ts';

/** What an answer says about a topic. `undetermined`: it speaks of it in a way that these rules do not decide. `silent`: it does not speak of it. */
export type Reading = AssertedState | 'undetermined' | 'silent';

/** A reading with the sentences that decided it, as they were written: two where they contradict each other, none for `silent`. */
export interface Assertion {
  readonly state: Reading;
  readonly because: readonly string[];
}

/**
 * Reads from an English answer whether it says that something is done, not done, or of unknown outcome. `topic`: words and phrases for the thing, with their
 * inflections (`refund`, `refunded`). An offer, a plan or a condition means `not_done` unless the answer says plainly how it stands. Contradictory sentences, a hedge,
 * a part of several, and hearsay are `undetermined`. The rules lean that way: they decide only what has a form that they know.
 */
export function assertionOf(text: string, topic: readonly string[]): Assertion {
  const words = topic.map((word) => fold(word).trim()).filter((word) => word !== '');
  const signs: Sign[] = [];
  let carried = false;
  for (const sentence of sentencesOf(text)) {
    const found = readSentence(sentence, words, carried);
    signs.push(...found);
    carried =
      found.some((sign) => sign.strength !== 'none') || (carried && found.length === 0 && !/\b(?:order|ticket|mail|parcel|item)\b/u.test(sentence.text));
  }
  return decide(signs);
}

/** `firm`: says how it stands. `soft`: plan, offer, condition. `open`: undecidable on purpose. `weak`: a mention in no known form. `none`: says nothing about it. */
interface Sign {
  readonly strength: 'firm' | 'soft' | 'open' | 'weak' | 'none';
  readonly state: Reading;
  readonly sentence: string;
}

function decide(signs: readonly Sign[]): Assertion {
  const of = (strength: Sign['strength']): Sign[] => signs.filter((sign) => sign.strength === strength);
  const firm = of('firm');
  const [first] = firm;
  const open = of('open')[0];
  if (open !== undefined) return { state: 'undetermined', because: [open.sentence] };
  if (first !== undefined) {
    const other = firm.find((sign) => sign.state !== first.state);
    return other === undefined ? { state: first.state, because: [first.sentence] } : { state: 'undetermined', because: [first.sentence, other.sentence] };
  }
  const [weak] = of('weak');
  if (weak !== undefined) return { state: 'undetermined', because: [weak.sentence] };
  const [soft] = of('soft');
  return soft === undefined ? { state: 'silent', because: [] } : { state: 'not_done', because: [soft.sentence] };
}

function readSentence(sentence: Sentence, topic: readonly string[], carried: boolean): Sign[] {
  const mentioned = topic.some((word) => placesOf(sentence.text, word).length > 0);
  const taken =
    !mentioned &&
    carried &&
    !OF_ITS_OWN.test(sentence.text) &&
    (/^(?:it|its|this|that|the (?:outcome|status|result))\b/u.test(sentence.text) || FAILED_AFTER.test(sentence.text));
  const sign = (strength: Sign['strength'], state: Reading = 'undetermined'): Sign => ({ strength, state, sentence: printable(sentence.raw, 200) });
  if (!mentioned && !taken) return [];
  if (isUnknown(sentence, topic)) return [sign('firm', 'unknown')];
  if (taken) return readPronoun(sentence.text).map((found) => sign(...found));
  if (sentence.question)
    return [/\b(?:shall|should|may|can|could|would|want|like|wish)\b/u.test(sentence.text) ? sign('soft', 'not_done') : sign('none', 'silent')];
  if (DENIED_CLAIM.test(sentence.text) || NOT_BUT.test(sentence.text)) return [sign('open')];
  const conditional = sentence.clauses.some((clause) => CONDITION.test(clause));
  const signs: Sign[] = [];
  let doubtful = false;
  for (const clause of labelled(sentence.clauses)) {
    const plain = HARMLESS.reduce((text, [cue, instead]) => text.replace(cue, instead), clause)
      .replace(/\s+/gu, ' ')
      .trim();
    const where = topicIn(plain, topic);
    if (where !== null) {
      const [strength, state] = readClause(plain, where, { conditional, sentence: sentence.text });
      signs.push(doubtful && state === 'done' && ELIDED.test(plain) ? sign('open') : sign(strength, state));
    } else if (signs.some((earlier) => earlier.state === 'done') && FAILED_AFTER.test(plain)) signs.push(sign('open'));
    doubtful ||= NEGATION.test(plain) || AHEAD.test(plain) || HEDGE.test(plain);
  }
  return signs;
}

/** An "it" that takes up nothing: the sentence says itself what it is about. */
const OF_ITS_OWN =
  /^it (?:is|was|remains)(?: not| still| as yet| yet)* (?:known|clear|certain|sure|unknown|unclear|uncertain|open|possible|unsettled) (?:whether|if|that)\b/u;

/** A clause without a subject of its own: what an earlier one denies or plans may hold for it too. */
const ELIDED = /^(?:and |or |then |also )*(?:been|be|\p{L}+ed|sent|paid|made)\b/u;

type Found = readonly [Sign['strength'], Reading];

/** Where a topic stands in a clause. `past`: as a verb form that tells of something done. */
interface Place {
  readonly before: string;
  readonly word: string;
  readonly after: string;
  readonly past: boolean;
}

function readClause(clause: string, place: Place, context: { readonly conditional: boolean; readonly sentence: string }): Found {
  const { before, after, past } = place;
  if (CONDITION.test(clause))
    return /\b(?:if|unless|provided|assuming|in case|should)\b/u.test(clause) || !past ? ['soft', 'not_done'] : ['weak', 'undetermined'];
  if (/^to (?:\w+ )?$/u.test(before) || GENERAL.test(after.slice(0, 30)) || (!past && GENERAL.test(clause))) return ['none', 'silent'];
  if (RETOLD.test(before)) return ['none', 'silent'];
  if (HEARSAY.test(before)) return ['open', 'undetermined'];
  if (HEDGE.test(clause)) return ['open', 'undetermined'];
  const attempt = ATTEMPT.test(before) || /^\s*attempt/u.test(after);
  if (attempt) return NEGATION.test(context.sentence) ? ['firm', 'not_done'] : ['open', 'undetermined'];
  if (NEGATION.test(clause)) return readNegation(clause, place);
  if (AHEAD.test(before) || (!past && AHEAD.test(after)))
    return /\bmanaged to\b/u.test(before) ? affirmed(clause, place, context.conditional) : ['soft', 'not_done'];
  if (UNDER_WAY.test(clause)) return ['weak', 'undetermined'];
  if (ON_BEHALF.test(before) || TAKEN_BACK.test(`${past ? before.replace(/^.* and /u, '') : before} ${after}`)) return ['open', 'undetermined'];
  return affirmed(clause, place, context.conditional);
}

function readNegation(clause: string, place: Place): Found {
  const count = [...clause.matchAll(new RegExp(NEGATION.source, 'gu'))].filter((found) => !/^(?:nor|yet to|pending)$/u.test(found[0])).length;
  const inFront = NEGATION.test(place.before);
  if (ANOTHER.test(`${place.before.slice(-30)} ${place.after.slice(0, 20)}`)) return ['weak', 'undetermined'];
  if (count > 1 || /\bbut\b/u.test(place.before)) return ['open', 'undetermined'];
  if (inFront) return ['firm', 'not_done'];
  if (/^\s*:?\s*(?:no|none|not|failed|pending|denied|rejected)\b/u.test(place.after)) return ['firm', 'not_done'];
  return place.past || new RegExp(`\\b${COMPLETED}\\b`, 'u').test(place.before) ? ['open', 'undetermined'] : ['firm', 'not_done'];
}

function affirmed(clause: string, place: Place, conditional: boolean): Found {
  const done = place.past ? pastTold(place, conditional) : nounTold(place, conditional);
  if (!done) return ['weak', 'undetermined'];
  const part = PARTIAL.test(clause) || /\b(?:only|just)\b/u.test(place.before.replace(/\bjust\b(?= (?:now|been|\p{L}+ed))/gu, ''));
  return part ? ['open', 'undetermined'] : ['firm', 'done'];
}

/** `I refunded`, `has been refunded`, `is now refunded`; not `are refunded` or `gets refunded`, which may tell a rule. */
function pastTold({ before, after }: Place, conditional: boolean): boolean {
  if (/\b(?:are|be|gets?|getting)(?: \w+ly)? $/u.test(before)) return false;
  if (/\b(?:is)(?: \w+)? $/u.test(before) && conditional) return false;
  return !/^\s*(?:if|when|within|only if)\b/u.test(after);
}

/** A thing that was done to it (`issued a refund`), or that it is said to be (`the refund of 25 EUR was processed`). */
function nounTold({ before, word, after }: Place, conditional: boolean): boolean {
  const acted = new RegExp(
    `\\b(?:${COMPLETED}|managed to(?: \\w+)?|went ahead with|proceeded with)(?: (?!about\\b|regarding\\b|concerning\\b|for\\b|on\\b|of\\b|to\\b|with\\b|from\\b)[^ ]+){0,4} $`,
    'u',
  );
  if (/\b(?:managed to|did)(?: \w+ly)? $/u.test(before)) return true;
  const passive = new RegExp(`\\b(?:is|are|be|being|to be|gets?)(?: \\w+)? ${COMPLETED}`, 'u');
  const compound =
    /^(?:\s+\p{L}+s?\b)/u.test(after) &&
    !/^\s+(?:of|for|to|on|from|in|by|at|with|was|were|has|have|is|and|went|back|order|today|now|just|as|over|worth|under|via|number|no\.?|id|\p{L}*\d\S*)(?![\p{L}-])/u.test(
      after,
    );
  const tail = new RegExp(
    `^(?: (?:of|for|to|on|from|in|over|worth|number|no\\.?|id|order|#?\\S*\\d\\S*)[^,;]{0,80}?)?(?:\\s*:)? (?:(?:was|were|has|have|had|is|been|now|already|successfully|just|also|both|all)\\s+)*(?:${COMPLETED}|${SUCCEEDED})\\b`,
    'u',
  );
  const after2 = after.replace(/^\s*:\s*/u, ' ');
  if (acted.test(before) && !passive.test(before)) return !compound || isMarked(after);
  if (/\b(?:about|regarding|concerning|for|on|of|with|to|from) (?:the |a |an |your |this |that |her |his |their |its |any )?(?:\w+ )?$/u.test(before))
    return false;
  if (/^\s*(?:yes|done|ok|✅|✓|✔)/u.test(after2)) return true;
  if (!tail.test(after2) || passive.test(after2.slice(0, 100).replace(/\b(?:is|being)\b/gu, ''))) return false;
  return !(conditional && /\b(?:is|are)\b/u.test(after2)) && word !== '';
}

/** What follows names the thing more closely: a number or a mark, not another noun. */
function isMarked(after: string): boolean {
  return /^\s+\S*\d/u.test(after);
}

/** A sentence that takes up the one before with a pronoun: it may complete it, or take it back. */
function readPronoun(text: string): Found[] {
  const plain = HARMLESS.reduce((all, [cue, instead]) => all.replace(cue, instead), text);
  if (FAILED_AFTER.test(plain)) return [['open', 'undetermined']];
  if (CONDITION.test(plain) || AHEAD.test(plain) || !new RegExp(`\\b${TAKEN_UP}\\b`, 'u').test(plain)) return [];
  if (HEDGE.test(plain) || HEARSAY.test(plain) || PARTIAL.test(plain) || NEGATION.test(plain)) return [['open', 'undetermined']];
  const done = new RegExp(`^(?:it|this|that) (?:(?:was|is|has|been|now|already|successfully|just)\\s+)*${TAKEN_UP}\\b`, 'u');
  return done.test(plain) ? [['firm', 'done']] : [];
}

function isUnknown(sentence: Sentence, topic: readonly string[]): boolean {
  const cue = UNKNOWN.map((pattern) => pattern.exec(sentence.text)).find((found) => found !== null);
  if (cue === null || cue === undefined) return false;
  const bare = /^(?:timed out|time-?out|timeout)$/u.test(cue[0]);
  if (
    bare &&
    /\b(?:retry|retried|second|again|then|but)\b.{0,60}\b(?:succe\w+|worked|went through|successful\w*|\p{L}+ed)\b/u.test(
      sentence.text.slice(cue.index + cue[0].length),
    ) &&
    !/\bbefore\b/u.test(sentence.text)
  )
    return false;
  const clause = sentence.text.slice(sentence.text.lastIndexOf(',', cue.index) + 1);
  return bare || topic.some((word) => placesOf(clause, word).length > 0) || SPEAKS_OF_IT.test(clause);
}

/** `refund: issued` is read as one clause; `done: the refund is out` as two. */
function labelled(clauses: readonly string[]): string[] {
  return clauses.flatMap((clause) => {
    const at = clause.indexOf(': ');
    return at < 0 || LABEL.test(clause) ? [clause] : [clause.slice(0, at), clause.slice(at + 2)];
  });
}

/** The place that tells most: a past form before a noun, a later place before an earlier one of the same kind. */
function topicIn(clause: string, topic: readonly string[]): Place | null {
  let best: Place | null = null;
  for (const word of [...topic].sort((a, b) => b.length - a.length)) {
    for (const at of placesOf(clause, word)) {
      const place = { before: clause.slice(0, at), word, after: clause.slice(at + word.length), past: isPast(word) };
      if (best === null || (place.past && !best.past)) best = place;
    }
  }
  return best;
}

const IRREGULAR = new Set(['sent', 'paid', 'made', 'given', 'written', 'told', 'paid out', 'paid back', 'sent out', 'gave', 'wrote']);

function isPast(word: string): boolean {
  return (/^\p{L}+ed(?: \p{L}+)?$/u.test(word) && !/^(?:need|feed|speed|seed)\b/u.test(word)) || IRREGULAR.has(word);
}
