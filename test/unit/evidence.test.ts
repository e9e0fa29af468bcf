import { describe, expect, it } from 'vitest';
import { verdictLines } from '../../src/cli/verdict-lines.ts';
import type { Claim, EffectPattern, Expectations } from '../../src/domain/case.ts';
import { grade } from '../../src/domain/grading/grade.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { Finding } from '../../src/domain/verdict.ts';
import { call, caseWith, inserted, mail, recordOf, updated } from './grading-builders.ts';
import { trialView } from './trial-view-support.ts';

/** The findings that are no pass, as sentences with what stands below them. */
function told(expectations: Partial<Expectations>, record: Partial<TrialRecord> & { readonly answer?: string }): readonly Finding[] {
  const verdict = grade(caseWith(expectations), '', recordOf(record));
  return [verdict.outcome, verdict.constraints, verdict.effects].flatMap((view) => view.findings).filter((finding) => finding.judgement !== 'pass');
}

const one = (effect: EffectPattern) => ({ outcomes: [{ name: 'done', effects: [effect] }] });

describe('evidence as a person reads it', () => {
  it('quotes an answer as it was written', () => {
    const claim: Claim = {
      claim: 'effect',
      name: 'cancelled',
      topic: ['cancelled'],
      effect: { row: 'orders', change: 'update', where: { id: 7, status: 'cancelled' } },
    };
    expect(told({ claims: [claim] }, { answer: 'Dear Anna, I Cancelled Order ORD-7 for “you”.' })).toMatchObject([
      {
        message:
          'Claim "cancelled" is false: the answer says "Dear Anna, I Cancelled Order ORD-7 for “you”.", which means that it is done, but the world does not show an update of orders with id 7, status "cancelled".',
        expected: 'not done',
        found: 'done: Dear Anna, I Cancelled Order ORD-7 for “you”.',
      },
    ]);
  });

  it('names the message of several that is meant', () => {
    const claim: Claim = { claim: 'amount', name: 'total', equals: 25, currency: 'EUR' };
    const messages = ['It is 30 EUR.', 'It is 20 EUR.'].map((text, at) => ({ turn: at + 1, from: 'agent' as const, text }));
    expect(told({ claims: [claim] }, { messages })[0]?.message).toBe('Claim "total" is false: expected 25 EUR, but message 2 says "It is 20 EUR.".');
  });

  it('puts alternatives and several parts of a text into words', () => {
    const claim: Claim = { claim: 'text', name: 'pole', rule: { says: [['pole', 'poles'], '5086'], not_says: ['sorry'] } };
    expect(told({ claims: [claim] }, { answer: 'Sorry.' })).toMatchObject([
      { message: 'Claim "pole" does not hold: the answer does not say "pole" or "poles".', expected: 'a text that says "pole" or "poles"', found: 'Sorry.' },
      { message: 'Claim "pole" does not hold: the answer does not say "5086".', expected: 'a text that says "5086"' },
      { message: 'Claim "pole" does not hold: the answer says "sorry", which it must not.', expected: 'a text that does not say "sorry"' },
    ]);
    const ticket: EffectPattern = {
      row: 'tickets',
      change: 'insert',
      where: { id: 1, subject: { says: [['pole', 'poles'], '5086'] }, state: { one_of: ['new', 'open'] } },
    };
    const [finding] = told(one(ticket), { effects: [inserted('tickets', { id: 1, subject: 'Tent 5086', state: 'open' })] });
    expect(finding?.message).toBe(
      'Expected an insert into tickets with id 1, subject that says ("pole" or "poles") and "5086", state one of "new", "open"; the nearest is an insert into tickets (id 1) without an operation: subject "Tent 5086" does not say "pole" or "poles".',
    );
    expect(finding).toMatchObject({ expected: { subject: 'a text that says ("pole" or "poles") and "5086"' }, found: { subject: 'Tent 5086' } });
  });

  it('keeps every part of a mail that differs', () => {
    const rule: EffectPattern = { mail: ['a@x.test'], body: { says: ['one', 'two'] } };
    const [finding] = told(one(rule), { effects: [mail(['b@x.test'], { text: 'none' })] });
    expect(finding?.message).toContain('recipients are b@x.test, expected a@x.test; body does not say "one"; body does not say "two".');
    expect(finding).toMatchObject({ expected: { body: ['a text that says "one"', 'a text that says "two"'] }, found: { body: 'none' } });
  });

  it('says what an effect changed and what a missing one should have been', () => {
    const rule: EffectPattern = { row: 'orders', change: 'update', where: { id: 1, status: 'cancelled' }, before: { status: 'paid' } };
    const paid = { id: 1, status: 'paid', note: 'x' };
    const [missing, extra] = told(one({ ...rule, row: 'refunds' }), {
      operations: [call(1, 'ship', {})],
      effects: [updated('orders', paid, { ...paid, status: 'shipped' }, { operation: 'op-1' })],
    });
    expect(missing).toMatchObject({
      message: 'Expected an update of refunds with id 1, status "cancelled" that had status "paid"; nothing like it is in the world.',
      expected: 'an update of refunds with id 1, status "cancelled" that had status "paid"',
      found: 'nothing like it',
    });
    expect(extra?.message).toBe(
      'An update of orders (id 1) changing status from "paid" to "shipped" by ship (operation op-1) is neither expected nor allowed.',
    );
  });

  it('names who made which of several', () => {
    const twice = [8, 9].map((id) => inserted('refunds', { id, order_id: 7 }, { operation: `op-${id}` }));
    const operations = [8, 9].map((n) => call(n, 'refund', { order_id: 7 }));
    const findings = told(one({ row: 'refunds', change: 'insert', where: { order_id: 7 } }), { operations, effects: twice });
    expect(findings.map((finding) => finding.message)).toEqual([
      'refund was committed 2 times with equal arguments (order_id 7): operation op-8 (call 8), operation op-9 (call 9).',
      'An insert into refunds with order_id 7 may happen once; there are 2, 1 too many: id 8 by refund (operation op-8); id 9 by refund (operation op-9).',
    ]);
  });

  it('is printed without a second pair of quotation marks', () => {
    const claim: Claim = { claim: 'text', name: 'pole', rule: { says: ['5086'] } };
    const verdict = grade(caseWith({ claims: [claim] }), '', recordOf({ answer: 'No "pole".' }));
    const view = trialView();
    const lines = verdictLines({ ...view, verdicts: [{ ...verdict, trial: 't', attempt: 1, gradedAt: '', current: true }] }, 100, (_, text) => text);
    expect(lines.join('\n')).toContain('expected a text that says "5086"\n    found    No "pole".');
  });
});
