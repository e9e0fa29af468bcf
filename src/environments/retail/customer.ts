import type { Task } from './tasks.ts';

/** A task's simulated customer, as the published instruction has them. Nothing is added to it. */
export interface Customer {
  /** The sentences that say who they are. */
  readonly identity: string;
  /** All of it: what they want, and how they would behave. */
  readonly whole: string;
}

/**
 * The instruction in the first person, as the customer would say it: only pronouns change. Who they are is in the first sentence, and in every other that holds an
 * address of mail or a zip code.
 */
export function customerOf({ instruction, userId }: Pick<Task, 'instruction' | 'userId'>): Customer {
  const sentences = sentencesOf(instruction);
  const names = userId.split('_').slice(0, 2);
  const tells = (sentence: string) => /\S+@\S+\.\S+|\b\d{5}\b/.test(sentence) || names.every((name) => sentence.toLowerCase().includes(name));
  const identity = sentences.filter((sentence, index) => index === 0 || tells(sentence));
  return { identity: inFirstPerson(identity.join(' ')), whole: inFirstPerson(sentences.join(' ')) };
}

/** Split at the end of a sentence: a full stop, question or exclamation mark before white space and what may begin another. */
function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.?!])\s+(?=["'([{#\p{Lu}\d])/u).map((sentence) => sentence.trim());
}

/** In order: what is longer comes before its parts. */
const PERSON: readonly (readonly [RegExp, string])[] = [
  [/\byou name is\b/giu, 'my name is'],
  [/\byou(?:'|\u2019)re\b/giu, "I'm"],
  [/\byou are\b/giu, 'I am'],
  [/\bare you\b/giu, 'am I'],
  [/\byou were\b/giu, 'I was'],
  [/\byou(?:'|\u2019)(ve|d|ll)\b/giu, "I'$1"],
  [/\byourself\b/giu, 'myself'],
  [/\byours\b/giu, 'mine'],
  [/\byour\b/giu, 'my'],
  [
    /\b(to|for|with|of|from|about|at|by|on|give|gives|tell|tells|let|lets|help|helps|ask|asks|offer|offers|refund|charge) you\b(?! (?:want|need|have|just|also|ordered|received|can|could|would|will|bought))/giu,
    '$1 me',
  ],
  [/\byou\b/giu, 'I'],
];

function inFirstPerson(text: string): string {
  const changed = PERSON.reduce((all, [pattern, instead]) => all.replace(pattern, instead), text);
  return changed.replace(/(^|[.?!]\s+)(\p{Ll})/gu, (_, before: string, letter: string) => before + letter.toUpperCase());
}
