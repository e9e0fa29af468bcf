import type { AssertedState, Case, Claim, Solution } from '../case.ts';
import { amountsIn } from '../claims/amounts.ts';
import { assertionOf } from '../claims/assertion.ts';
import type { Candidate } from '../claims/candidates.ts';
import { datesAgainst } from '../claims/dates.ts';
import { idsIn } from '../claims/ids.ts';
import { splitLine } from '../claims/sentences.ts';
import type { Json } from '../json.ts';
import { printable, quote } from '../text/bounded.ts';
import { canonicalText } from '../text/canonical.ts';
import { mailboxesIn, sameMailbox } from '../text/mailbox.ts';
import { fold, placesOf, says } from '../text/says.ts';
import { alteredAddress, alteredDate, alteredText, alteredValue, kindOf, type ValueKind } from './alter.ts';
import type { Mutant } from './mutant.ts';

/**
 * Mutants of what the reference tells the user, in its messages (`say`) and its answer. For each claim `answer:contradicted:<name>`: an effect told as its opposite; an amount,
 * id, date or recipient altered wherever it stands; what must be said left out. For each field of the structured answer `answer:data:<field>`. And `answer:polite`: empty politeness.
 * What a case does not grade has no mutant: without claims and declared answers there are none, and a claim that the reference does not speak to has none.
 */
export function answerMutants(kase: Case): Mutant[] {
  const mutants = kase.expect.claims.flatMap((claim, at) => contradicted(kase, claim, `expect.claims[${at}]`));
  const declared = kase.expect.outcomes.flatMap((outcome) => ('answer' in outcome ? Object.keys(outcome.answer ?? {}) : []));
  for (const field of new Set(declared)) {
    const value = kase.reference.data?.[field];
    if (value === undefined) continue;
    const altered = alteredField(field, value);
    const description = `the structured answer's ${printable(field)} is ${quote(altered)} instead of ${quote(value)}`;
    mutants.push({
      id: `answer:data:${field}`,
      description,
      path: `reference.data.${field}`,
      solution: { ...kase.reference, data: { ...kase.reference.data, [field]: altered } },
    });
  }
  const needed =
    declared.length > 0 ||
    kase.expect.claims.some(
      (claim) => !(claim.claim === 'effect' && claim.silent === 'pass') && !(claim.claim === 'text' && (claim.rule.says ?? []).length === 0),
    );
  if (needed) {
    const { data: _, ...rest } = retold(kase.reference, () => POLITE);
    mutants.push({ id: 'answer:polite', description: 'the answer is polite and says nothing', path: 'reference.answer', solution: rest });
  }
  return mutants;
}

const POLITE = 'Thank you for your request. I was glad to help. Have a nice day!';

function contradicted(kase: Case, claim: Claim, path: string): Mutant[] {
  const made = contradiction(kase, claim);
  if (made === null) return [];
  return [
    {
      id: `answer:contradicted:${claim.name}`,
      description: `the answer contradicts claim "${printable(claim.name)}": ${made.how}`,
      path,
      solution: made.solution,
    },
  ];
}

function contradiction(kase: Case, claim: Claim): { readonly solution: Solution; readonly how: string } | null {
  const { reference } = kase;
  switch (claim.claim) {
    case 'effect':
      return contradictedEffect(kase, claim);
    case 'amount':
      return altered(
        reference,
        (text) =>
          withSpans(
            text,
            (line) => amountsIn(line, claim.equals, claim.currency),
            (found) => found.replace(/\d[\d.,'\u2019\u00A0\u202F]*/u, otherAmount(claim.equals)),
          ),
        'amount',
        otherAmount(claim.equals),
      );
    case 'id':
      return altered(
        reference,
        (text) =>
          withSpans(
            text,
            (line) => idsIn(line, claim.equals, claim.topic),
            () => alteredText(claim.equals),
          ),
        'id',
        alteredText(claim.equals),
      );
    case 'date':
      return altered(
        reference,
        (text) =>
          withSpans(
            text,
            (line) => datesAgainst(line, claim.equals),
            () => alteredDate(claim.equals.slice(0, 10)),
          ),
        'date',
        alteredDate(claim.equals.slice(0, 10)),
      );
    case 'recipient':
      return altered(reference, (text) => withoutAddress(text, claim.equals), 'recipient', alteredAddress(claim.equals));
    case 'text':
      return unsaid(reference, claim);
  }
}

function otherAmount(amount: number): string {
  return (amount + 1).toFixed(Number.isInteger(amount) ? 2 : Math.min(20, Math.max(2, String(amount).split('.')[1]?.length ?? 2)));
}

/** Alters a value wherever the texts have it; where none has it literally, references whose name tells the same kind become the altered literal. */
function altered(
  reference: Solution,
  change: (text: string) => string,
  kind: ValueKind,
  other: string,
): { readonly solution: Solution; readonly how: string } | null {
  const literal = retold(reference, change);
  const solution = isSame(literal, reference)
    ? retold(reference, (text) => text.replace(/\$\{[^}]+\}/gu, (found) => (kindOf('', found) === kind ? other : found)))
    : literal;
  return isSame(solution, reference) ? null : { solution, how: `it tells another ${kind} (${printable(other)})` };
}

function withSpans(text: string, find: (line: string) => readonly Candidate[], change: (found: string) => string): string {
  return text
    .split(/(\n)/u)
    .map((line) => {
      const spans = find(line)
        .filter((span) => span.match !== 'wrong')
        .sort((a, b) => b.at - a.at);
      return spans.reduce((all, span) => `${all.slice(0, span.at)}${change(all.slice(span.at, span.end))}${all.slice(span.end)}`, line);
    })
    .join('');
}

function withoutAddress(text: string, address: string): string {
  return [...new Set(mailboxesIn(text))]
    .filter((found) => sameMailbox(found, address))
    .reduce((all, found) => all.replaceAll(found, alteredAddress(found)), text);
}

function unsaid(reference: Solution, claim: Extract<Claim, { claim: 'text' }>): { readonly solution: Solution; readonly how: string } | null {
  const phrases = (claim.rule.says ?? []).flat();
  if (phrases.length > 0) {
    const solution = retold(reference, (text) => keptSentences(text, (sentence) => !phrases.some((phrase) => says(sentence, phrase))));
    return isSame(solution, reference) ? null : { solution, how: 'it leaves out what must be said' };
  }
  const [banned] = claim.rule.not_says ?? [];
  return banned === undefined ? null : { solution: { ...reference, answer: `${reference.answer} ${banned}` }, how: `it says "${printable(banned)}"` };
}

/** The sentences about the topic are turned round in place, so that their other facts stay; where no known form fits they give way to one that says the opposite. */
function contradictedEffect(kase: Case, claim: Extract<Claim, { claim: 'effect' }>): { readonly solution: Solution; readonly how: string } | null {
  const { reference } = kase;
  const { topic } = claim;
  const stated = assertionOf(reference.answer, topic).state;
  const truth: AssertedState =
    stated === 'done' || stated === 'not_done' || stated === 'unknown' ? stated : (claim.state ?? (isExpected(kase, claim) ? 'done' : 'not_done'));
  const opposite = truth === 'done' ? 'not_done' : 'done';
  const speaks = (sentence: string): boolean => topic.some((word) => placesOf(fold(sentence), word).length > 0);
  for (const [pattern, instead] of TURNED[opposite]) {
    const turned = retold(reference, (text) => mappedSentences(text, (sentence) => (speaks(sentence) ? sentence.replace(pattern, instead) : sentence)));
    if (assertionOf(turned.answer, topic).state === opposite) return { solution: turned, how: `"${printable(turned.answer, 120)}"` };
  }
  const sentence = sentenceFor(topic, opposite);
  if (sentence === null) return null;
  const told = retold(reference, (text) => keptSentences(text, (part) => !speaks(part)));
  return { solution: { ...told, answer: `${told.answer} ${sentence}`.trim() }, how: `"${sentence}"` };
}

const TURNED: { readonly [state in 'done' | 'not_done']: readonly (readonly [RegExp, string])[] } = {
  not_done: [
    [/\b(I|We)(?: have|'ve)? (\p{L}+ed|sent|made|paid|put)\b/u, '$1 have not $2'],
    [/\b(was|were|is|are|has|have)\b(?! not)/u, '$1 not'],
  ],
  done: [
    [/\b(did|have|has|had|was|were|is|are) not\b/u, '$1'],
    [/\b(did|have|has|had|was|were|is|are)n't\b/u, '$1'],
    [/\b(?:no|No) (?=\p{L})/u, 'The '],
  ],
};

function isExpected(kase: Case, claim: Extract<Claim, { claim: 'effect' }>): boolean {
  if (claim.effect === undefined) return false;
  const wanted = canonicalText(claim.effect as unknown as Json);
  return kase.expect.outcomes.some(
    (outcome) => 'effects' in outcome && outcome.effects.some((pattern) => canonicalText(pattern as unknown as Json) === wanted),
  );
}

/** The first plain sentence about the topic that the claim rules read as the wanted state. */
function sentenceFor(topic: readonly string[], state: 'done' | 'not_done'): string | null {
  const not = state === 'done' ? '' : 'not ';
  const forms = topic.flatMap((word) => [
    `The ${word} has ${not}been completed.`,
    `It has ${not}been ${word}.`,
    `I ${state === 'done' ? 'have' : 'have not'} ${word} it.`,
    `The ${word} was ${not}made.`,
  ]);
  return forms.find((sentence) => assertionOf(sentence, topic).state === state) ?? null;
}

function keptSentences(text: string, keep: (sentence: string) => boolean): string {
  return mappedSentences(text, (sentence) => (keep(sentence) ? sentence : null));
}

function mappedSentences(text: string, change: (sentence: string) => string | null): string {
  const lines = text.split('\n').map((line) =>
    splitLine(line)
      .map(change)
      .filter((sentence) => sentence !== null)
      .join(' '),
  );
  return lines.join('\n').trim();
}

/** Every text that the solution tells the user, changed. */
function retold(solution: Solution, change: (text: string) => string): Solution {
  return { ...solution, steps: solution.steps.map((step) => ('say' in step ? { say: change(step.say) } : step)), answer: change(solution.answer) };
}

function isSame(a: Solution, b: Solution): boolean {
  return canonicalText(a as unknown as Json) === canonicalText(b as unknown as Json);
}

function alteredField(name: string, value: Json): Json {
  const kind = kindOf(name, value);
  if (kind !== null) return alteredValue(kind, value);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return alteredText(value);
  return value === null ? 'something' : null;
}
