import type { Case, Claim } from '../case.ts';
import type { NetChanges } from '../grading/net.ts';
import type { TrialRecord } from '../record.ts';
import { printable } from '../text/bounded.ts';
import { mailboxesIn, sameMailbox } from '../text/mailbox.ts';
import { brokenParts } from '../text/says.ts';
import type { Finding } from '../verdict.ts';

/** Findings about what the agent told the user, in every message, against what the world shows. */
export function claimFindings(kase: Case, record: TrialRecord, changes: NetChanges): Finding[] {
  const texts = record.messages.filter((message) => message.from === 'agent').map((message) => message.text);
  return kase.expect.claims.flatMap((claim, at) => findings(claim, `expect.claims[${at}]`, texts, changes));
}

function findings(claim: Claim, rule: string, texts: readonly string[], _changes: NetChanges): Finding[] {
  if (claim.claim === 'recipient') {
    return texts.some((text) => mailboxesIn(text).some((found) => sameMailbox(found, claim.equals))) ? [] : [missing(claim, rule)];
  }
  if (claim.claim === 'text') {
    const all = brokenParts(claim.rule, texts.join('\n\n'));
    return all.map(() => missing(claim, rule));
  }
  return [{ code: 'undetermined_claim', judgement: 'undetermined', rule, message: `Claim "${printable(claim.name)}" is for a person to judge.` }];
}

function missing(claim: Claim, rule: string): Finding {
  return { code: 'missing_claim', judgement: 'fail', rule, message: `The answer does not say what claim "${printable(claim.name)}" asks for.` };
}
