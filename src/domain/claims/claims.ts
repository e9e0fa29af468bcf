import type { Case, Claim } from '../case.ts';
import type { NetChanges } from '../grading/net.ts';
import type { TrialRecord } from '../record.ts';
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
      return checkValue(
        claim,
        rule,
        `${claim.equals}${claim.currency === undefined ? '' : ` ${claim.currency}`}`,
        texts.map((text) => tellingOf(text, claim.topic, (s) => amountsIn(s, claim.equals, claim.currency), amountInWords)),
      );
    case 'id':
      return checkValue(
        claim,
        rule,
        claim.equals,
        texts.map((text) =>
          tellingOf(
            text,
            claim.topic,
            (s) => idsIn(s, claim.equals, claim.topic),
            () => false,
          ),
        ),
      );
    case 'date':
      return checkValue(
        claim,
        rule,
        claim.equals,
        texts.map((text) =>
          tellingOf(
            text,
            claim.topic,
            (s) => datesAgainst(s, claim.equals),
            (s) => relativeDay(s) && datesAgainst(s, claim.equals).length === 0,
          ),
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
  const readings = texts.map((text) => assertionOf(text, claim.topic));
  const last = readings.findLastIndex((reading) => reading.state !== 'silent');
  if (last < 0) {
    if (claim.silent === 'pass') return [];
    return [
      finding(
        'missing_claim',
        'fail',
        rule,
        claim,
        `is not made: the answer says nothing about ${claim.topic.map((word) => `"${printable(word)}"`).join(', ')}`,
        truth.right.join(' or '),
        'silent',
      ),
    ];
  }
  let verdict: Finding | null = null;
  for (const [at, reading] of readings.entries()) {
    const { state } = reading;
    if (state === 'silent') continue;
    const said = `"${printable(reading.because ?? '')}"`;
    if (state === 'undetermined') {
      if (verdict?.judgement !== 'fail')
        verdict = finding('undetermined_claim', 'undetermined', rule, claim, `cannot be decided from ${said}`, truth.right.join(' or '), said);
    } else if (truth.right.includes(state)) verdict = null;
    else if (truth.open.includes(state) || (state !== 'done' && at < texts.length - 1)) {
      if (verdict?.judgement !== 'fail')
        verdict = finding(
          'undetermined_claim',
          'undetermined',
          rule,
          claim,
          `cannot be decided: message ${at + 1} says that it is ${stateWords(state)} (${said}), and ${truth.because}`,
          truth.right.join(' or '),
          state,
        );
    } else
      verdict = finding(
        'false_claim',
        'fail',
        rule,
        claim,
        `is false: the answer says that it is ${stateWords(state)} (${said}), but ${truth.because}`,
        truth.right.join(' or '),
        state,
      );
  }
  return verdict === null ? [] : [verdict];
}

/** The last message that tells a value decides; after the right one, another value may be about something else. */
function checkValue(claim: Claim, rule: string, expected: string, tellings: readonly Telling[]): Finding[] {
  let right = false;
  let verdict: Finding = finding('missing_claim', 'fail', rule, claim, `is not made: the answer does not say ${printable(expected)}`, expected, null);
  let settled = false;
  for (const { told, because } of tellings) {
    const said = `"${printable(because ?? '')}"`;
    if (told === 'right') {
      right = true;
      settled = true;
    } else if (told === 'other') {
      settled = false;
      verdict = right
        ? finding(
            'undetermined_claim',
            'undetermined',
            rule,
            claim,
            `cannot be decided: after ${printable(expected)} a later message says ${said}`,
            expected,
            said,
          )
        : finding('false_claim', 'fail', rule, claim, `is false: expected ${printable(expected)}, the answer says ${said}`, expected, said);
    } else if (told === 'undetermined' && !settled && verdict.code !== 'false_claim') {
      verdict = finding('undetermined_claim', 'undetermined', rule, claim, `cannot be decided: whether ${said} says ${printable(expected)}`, expected, said);
    }
  }
  return settled ? [] : [verdict];
}

function checkRecipient(claim: Extract<Claim, { claim: 'recipient' }>, rule: string, texts: readonly string[]): Finding[] {
  const named = texts.flatMap((text) => mailboxesIn(text.slice(0, 100_000)));
  if (named.some((address) => sameMailbox(address, claim.equals))) return [];
  const found = named
    .slice(0, 10)
    .map((address) => printable(address, 120))
    .join(', ');
  return [
    finding(
      'missing_claim',
      'fail',
      rule,
      claim,
      `is not made: the answer does not name ${printable(claim.equals)}`,
      claim.equals,
      found === '' ? null : found,
    ),
  ];
}

/** What must be said may be said in any message; what must not be said, in none. */
function checkText(claim: Extract<Claim, { claim: 'text' }>, rule: string, texts: readonly string[]): Finding[] {
  return brokenParts(claim.rule, texts.join('\n\n')).map((part) => {
    const phrases = part.phrases.map((phrase) => `"${printable(phrase)}"`).join(' or ');
    return part.kind === 'missing'
      ? finding('missing_claim', 'fail', rule, claim, `does not hold: the answer does not say ${phrases}`, phrases, null)
      : finding('false_claim', 'fail', rule, claim, `does not hold: the answer says ${phrases}, which it must not`, null, phrases);
  });
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
