import type { Ending, Finding, Judgement } from './verdict.ts';

/** Changes whenever the same trial could get another category. Docs: `docs/how-to/reports.md`. */
export const FAILURE_CATEGORY_VERSION = '1';

/** Categories of failed trials, in the order in which they are looked for: the worst that was done comes before what was left undone. */
export const FAILURE_CATEGORIES = [
  'wrong_recipient',
  'duplicate',
  'forbidden_effect',
  'permission',
  'unreconciled_unknown',
  'false_claim',
  'budget',
  'invalid_call',
  'wrong_outcome',
  'missing_outcome',
  'uncategorised',
] as const;

export type FailureCategory = (typeof FAILURE_CATEGORIES)[number];

/** What a category means, for the legend of a report. */
export const CATEGORY_TEXTS: { readonly [category in FailureCategory]: string } = {
  wrong_recipient: 'a mail went to somebody who must not get it',
  duplicate: 'something was done more often than it may be, or repeated without looking',
  forbidden_effect: 'something was changed that the case neither expects nor allows',
  permission: 'something was done, or left undone, for want of a permission or an approval',
  unreconciled_unknown: 'a call of unknown outcome was never cleared up',
  false_claim: 'the user was told what is not so, or not told what had to be said',
  budget: 'calls, time, tokens or money ran out',
  invalid_call: 'calls were refused as invalid, and the work stayed undone',
  wrong_outcome: 'what was asked for was done with wrong values, or a rule of the case was broken',
  missing_outcome: 'what was asked for was not done',
  uncategorised: 'no rule of this list applies',
};

/** What a category is assigned from. */
export interface Categorised {
  readonly ending: Ending;
  readonly pass: Judgement | null;
  /** Those that are not a pass. */
  readonly findings: readonly Pick<Finding, 'code' | 'judgement' | 'rule' | 'message'>[];
  /** A mail is among the forbidden effects, and a mail is among those that are missing or wrong. */
  readonly strayMail: boolean;
  /** Operations of unknown outcome of which the agent never learned how they had ended. */
  readonly unknowns: number;
  readonly invalidCalls: number;
  readonly deniedCalls: number;
}

/** The category of a failed trial: the first of the list whose rule applies. Null for a trial that did not fail. */
export function categoryOf(trial: Categorised): FailureCategory | null {
  if (trial.pass !== 'fail') return null;
  const codes = new Set(trial.findings.filter(({ judgement }) => judgement === 'fail').map(({ code }) => code));
  const any = (...of: readonly string[]): boolean => of.some((code) => codes.has(code));
  const undone = any('missing_effect', 'missing_answer');
  if (trial.strayMail) return 'wrong_recipient';
  if (any('duplicate_effect', 'repeated_write', 'refused_repeat', 'blind_repeat')) return 'duplicate';
  if (any('forbidden_effect', 'reverted_effect', 'unexplained_change')) return 'forbidden_effect';
  if (any('unapproved_effect') || (undone && trial.deniedCalls > 0)) return 'permission';
  if (trial.unknowns > 0) return 'unreconciled_unknown';
  if (any('false_claim', 'missing_claim') && !undone && !any('wrong_value')) return 'false_claim';
  if (trial.ending === 'budget_exhausted' || trial.ending === 'agent_timeout') return 'budget';
  if (undone && trial.invalidCalls > 0) return 'invalid_call';
  if (any('wrong_value', 'wrong_answer', 'constraint_violated')) return 'wrong_outcome';
  if (undone) return 'missing_outcome';
  if (any('false_claim', 'missing_claim')) return 'false_claim';
  return 'uncategorised';
}
