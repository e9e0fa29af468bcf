import type { Case, Claim } from '../case.ts';
import type { NetChanges } from '../grading/net.ts';
import type { TrialRecord } from '../record.ts';
import { addressesText, brokenText, describe, phrasesText } from '../grading/words.ts';
import { printable } from '../text/bounded.ts';
import { mailboxesIn, sameMailbox } from '../text/mailbox.ts';
import { brokenParts } from '../text/says.ts';
import type { Finding, Judgement } from '../verdict.ts';
import { amountInWords, amountsIn } from './amounts.ts';
import { assertionOf } from './assertion.ts';
import { type Telling, tellingOf } from './candidates.ts';
import { datesAgainst, relativeDay } from './dates.ts';
import { idsIn } from './ids.ts';
import { stateWords, truthOf } from './truth.ts';

/**
 * Findings about what the agent told the user, in every message, against what the world shows. A claim that holds leaves no finding.
 *
 * A false assertion in any message fails unless a later message says what is right. An earlier message that called something not done, or of unknown outcome, may have
 * been true when it was said: with nothing later that says better, it is undetermined. What the rules cannot decide is undetermined, never a pass.
 */
export function claimFindings(kase: Case, record: TrialRecord, changes: NetChanges): Finding[] {
  const texts = record.messages.filter((message) => message.from === 'agent').map((message) => message.text);
  return kase.expect.claims.flatMap((claim, at) => check(claim, `expect.claims[${at}]`, texts, record, changes));
}

function check(claim: Claim, rule: string, texts: readonly string[], record: TrialRecord, changes: NetChanges): Finding[] {
  switch (claim.claim) {
    case 'effect':
      return checkEffect(claim, rule, texts, record, changes);
    case 'amount':
      return checkValue(claim, rule, `${claim.equals}${claim.currency === undefined ? '' : ` ${claim.currency}`}`, texts, (text) =>
        tellingOf(text, claim.topic, (s) => amountsIn(s, claim.equals, claim.currency), amountInWords),
      );
    case 'id':
      return checkValue(claim, rule, claim.equals, texts, (text) =>
        tellingOf(
          text,
          claim.topic,
          (s) => idsIn(s, claim.equals, claim.topic),
          () => false,
        ),
      );
    case 'date':
      return checkValue(claim, rule, claim.equals, texts, (text) =>
        tellingOf(
          text,
          claim.topic,
          (s) => datesAgainst(s, claim.equals),
          (s) => relativeDay(s) && datesAgainst(s, claim.equals).length === 0,
        ),
      );
    case 'recipient':
      return checkRecipient(claim, rule, texts);
    case 'text':
      return checkText(claim, rule, texts);
  }
}

function checkEffect(claim: Extract<Claim, { claim: 'effect' }>, rule: string, texts: readonly string[], record: TrialRecord, changes: NetChanges): Finding[] {
  const truth = truthOf(claim, record, changes);
  if (truth === null) return [finding('undetermined_claim', 'undetermined', rule, claim, 'names neither an effect nor a state, so nothing says what is true')];
  const expected = truth.right.map(stateWords).join(' or ');
  const readings = texts.map((text) => assertionOf(text, claim.topic));
  const last = readings.findLastIndex((reading) => reading.state !== 'silent');
  if (last < 0) {
    if (claim.silent === 'pass') return [];
    const what = `is not made: the answer says nothing about ${phrasesText(claim.topic)}`;
    return [finding('missing_claim', 'fail', rule, claim, what, expected, answerOf(texts))];
  }
  let verdict: Finding | null = null;
  for (const [at, { state, because }] of readings.entries()) {
    if (state === 'silent') continue;
    const said = `${texts.length > 1 ? `message ${at + 1}` : 'the answer'} says ${because.map((sentence) => `"${printable(sentence)}"`).join(' and ')}`;
    const found = because.join(' / ');
    if (state === 'undetermined') {
      if (verdict?.judgement !== 'fail')
        verdict = finding(
          'undetermined_claim',
          'undetermined',
          rule,
          claim,
          `cannot be decided: ${said}, which leaves open whether it is done, and ${truth.because}`,
          expected,
          found,
        );
    } else if (truth.right.includes(state)) verdict = null;
    else if (truth.open.includes(state) || (state !== 'done' && at < texts.length - 1)) {
      if (verdict?.judgement !== 'fail') {
        const what = `cannot be decided: ${said}, which means that it is ${stateWords(state)}, and ${truth.because}`;
        verdict = finding('undetermined_claim', 'undetermined', rule, claim, what, expected, `${stateWords(state)}: ${found}`);
      }
    } else {
      const what = `is false: ${said}, which means that it is ${stateWords(state)}, but ${truth.because}`;
      verdict = finding('false_claim', 'fail', rule, claim, what, expected, `${stateWords(state)}: ${found}`);
    }
  }
  return verdict === null ? [] : [verdict];
}

/** The last message that tells a value decides; after the right one, another value may be about something else. */
function checkValue(claim: Claim, rule: string, expected: string, texts: readonly string[], tell: (text: string) => Telling): Finding[] {
  let right = false;
  let verdict: Finding = finding(
    'missing_claim',
    'fail',
    rule,
    claim,
    `is not made: the answer does not say ${printable(expected)}`,
    expected,
    answerOf(texts),
  );
  let settled = false;
  for (const [at, { told, because }] of texts.map(tell).entries()) {
    const said = `${texts.length > 1 ? `message ${at + 1}` : 'the answer'} says "${printable(because ?? '')}"`;
    const undecided = (what: string): Finding => finding('undetermined_claim', 'undetermined', rule, claim, `cannot be decided: ${what}`, expected, because);
    if (told === 'right') {
      right = true;
      settled = true;
    } else if (told === 'other') {
      settled = false;
      verdict = right
        ? undecided(`after ${printable(expected)}, ${said}`)
        : finding('false_claim', 'fail', rule, claim, `is false: expected ${printable(expected)}, but ${said}`, expected, because);
    } else if (told === 'undetermined' && !settled && verdict.code !== 'false_claim') {
      verdict = undecided(`${said}, which may or may not mean ${printable(expected)}`);
    }
  }
  return settled ? [] : [verdict];
}

function checkRecipient(claim: Extract<Claim, { claim: 'recipient' }>, rule: string, texts: readonly string[]): Finding[] {
  const named = texts.flatMap((text) => mailboxesIn(text.slice(0, 100_000)));
  if (named.some((address) => sameMailbox(address, claim.equals))) return [];
  const what = `is not made: the answer does not name ${printable(claim.equals)}`;
  const found = named.length > 0 ? addressesText(named.slice(0, 10)) : answerOf(texts);
  return [finding('missing_claim', 'fail', rule, claim, what, claim.equals, found)];
}

/** What must be said may be said in any message; what must not be said, in none. */
function checkText(claim: Extract<Claim, { claim: 'text' }>, rule: string, texts: readonly string[]): Finding[] {
  return brokenParts(claim.rule, texts.join('\n\n')).map((part) => {
    const missing = part.kind === 'missing';
    const expected = describe(missing ? { says: [part.phrases] } : { not_says: part.phrases });
    return finding(
      missing ? 'missing_claim' : 'false_claim',
      'fail',
      rule,
      claim,
      `does not hold: the answer ${brokenText([part])}`,
      expected,
      answerOf(texts),
    );
  });
}

/** The last words of the agent, for who asks what it said instead. */
function answerOf(texts: readonly string[]): string {
  return texts.at(-1) ?? 'no message of the agent';
}

function finding(
  code: string,
  judgement: Judgement,
  rule: string,
  claim: Claim,
  what: string,
  expected: string | null = null,
  found: string | null = null,
): Finding {
  return {
    code,
    judgement,
    rule,
    message: `Claim "${printable(claim.name)}" ${what}.`,
    expected: expected === null ? null : printable(expected),
    found: found === null ? null : printable(found),
  };
}
