import { readable } from '../text/bounded.ts';
import { fold } from '../text/says.ts';

/** A sentence of an answer, folded as phrases are looked up in it. */
export interface Sentence {
  readonly text: string;
  /** As it was written, for people. */
  readonly raw: string;
  readonly question: boolean;
  /** Parts that can each be read by themselves; a connecting word stays at the head of its part. */
  readonly clauses: readonly string[];
}

/** Sentences of an answer in order. Quoted lines (`> ...`) and what stands in quotation marks are somebody else's words and are left out. */
export function sentencesOf(text: string): Sentence[] {
  return plainLines(text)
    .flatMap((line) => splitLine(line).map(sentence))
    .slice(0, MAX_SENTENCES);
}

/** The lines of an answer that are its own words: without quoted lines and without marks of lists and emphasis. */
export function plainLines(text: string): string[] {
  return readable(text)
    .split(/\r\n|[\n\r\u2028\u2029]/u)
    .filter((line) => !/^\s*>/u.test(line))
    .map((line) => line.replace(/^\s*(?:[-*•–+]\s+|\d{1,2}[.)]\s+|#+\s+)/u, '').replace(/[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?=\s|[.,:;!?]|$)/gu, ''));
}

/** Sentences of one line, with their end marks. A full stop ends one only before white space, so that numbers and addresses stay whole. */
export function splitLine(line: string): string[] {
  return line.split(/(?<=[.!?;…])(?<!\b(?:no|nr|e\.g|i\.e|mr|mrs|ms|dr|approx|inc)\.)["')\]]*\s+/iu).filter((part) => part.trim() !== '');
}

const MAX_SENTENCES = 2_000;
const MAX_SENTENCE = 2_000;

const HEADS = [
  'but',
  'however',
  'although',
  'though',
  'because',
  'since',
  'so',
  'while',
  'whereas',
  'rather than',
  'instead of',
  'without',
  'if',
  'unless',
  'once',
  'until',
  'after',
  'when',
  'before',
  'as soon as',
  'provided',
  'in case',
  'whether',
];
const NEW_SUBJECT =
  "i|i've|i'm|i'll|we|we've|we'll|you|you'll|it|he|she|they|the|your|his|her|this|that|there|a|an|no|nothing|will|have|has|had|was|were|is|are|did|didn't|do|don't|can|can't|cannot|could|couldn't|would|then|also|not";
const CLAUSE_ENDS = new RegExp(`,\\s+|\\s+[–—-]\\s+|\\s+(?=(?:${HEADS.join('|')})\\s)|\\s+(?=and (?:(?:${NEW_SUBJECT})\\b|\\p{L}+ed\\b))`, 'u');

function sentence(raw: string): Sentence {
  const text = withoutQuotes(fold(raw.slice(0, MAX_SENTENCE)).trim());
  return { text, raw: raw.trim(), question: /\?["')\]]*$/u.test(text), clauses: text.split(CLAUSE_ENDS).filter((clause) => clause.trim() !== '') };
}

function withoutQuotes(text: string): string {
  return text.replace(/"[^"]{3,}"|[“„][^”“]{3,}[”“]|«[^»]{3,}»/gu, ' ');
}
