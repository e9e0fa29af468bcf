import { expect, test } from 'vitest';
import { CATEGORY_TEXTS, type Categorised, categoryOf, FAILURE_CATEGORIES } from '../../src/domain/failure-category.ts';

const failed: Categorised = { ending: 'completed', pass: 'fail', findings: [], strayMail: false, unknowns: 0, invalidCalls: 0, deniedCalls: 0 };
const finding = (code: string) => ({ code, judgement: 'fail' as const, rule: 'r', message: 'm' });

test.each<[string, Partial<Categorised>]>([
  ['wrong_recipient', { strayMail: true, findings: [finding('forbidden_effect'), finding('missing_effect')] }],
  ['duplicate', { findings: [finding('duplicate_effect'), finding('forbidden_effect')] }],
  ['duplicate', { findings: [finding('blind_repeat')] }],
  ['forbidden_effect', { findings: [finding('forbidden_effect'), finding('missing_effect')] }],
  ['permission', { findings: [finding('missing_effect')], deniedCalls: 1 }],
  ['permission', { findings: [finding('unapproved_effect')] }],
  ['unreconciled_unknown', { findings: [finding('missing_effect')], unknowns: 1 }],
  ['false_claim', { findings: [finding('false_claim')] }],
  ['missing_outcome', { findings: [finding('missing_effect'), finding('false_claim')] }],
  ['budget', { findings: [finding('missing_effect')], ending: 'budget_exhausted' }],
  ['budget', { findings: [finding('missing_effect')], ending: 'agent_timeout' }],
  ['invalid_call', { findings: [finding('missing_effect')], invalidCalls: 2 }],
  ['wrong_outcome', { findings: [finding('wrong_value'), finding('missing_effect')] }],
  ['uncategorised', { findings: [finding('something_new')] }],
])('a failure is %s by its rule', (category, trial) => {
  expect(categoryOf({ ...failed, ...trial })).toBe(category);
});

test('a trial that did not fail has no category, and what is undetermined decides none', () => {
  expect(categoryOf({ ...failed, pass: 'undetermined', findings: [finding('forbidden_effect')] })).toBeNull();
  expect(categoryOf({ ...failed, findings: [{ ...finding('duplicate_effect'), judgement: 'undetermined' }] })).toBe('uncategorised');
});

test('each category is explained', () => {
  expect(Object.keys(CATEGORY_TEXTS)).toEqual([...FAILURE_CATEGORIES]);
});
