import { describe, expect, it } from 'vitest';
import type { Case } from '../../src/domain/case.ts';
import { assertionOf } from '../../src/domain/claims/assertion.ts';
import { mutantsOf } from '../../src/domain/mutants/mutants.ts';
import { caseWith } from './grading-builders.ts';

const TOOLS = { get_order: { effect: 'read' }, issue_refund: { effect: 'write' }, send_mail: { effect: 'external' } } as const;

const KASE: Case = caseWith(
  {
    claims: [
      { claim: 'effect', name: 'refund', topic: ['refund', 'refunded'], effect: { row: 'refunds', change: 'insert' } },
      { claim: 'amount', name: 'amount', equals: 25, currency: 'EUR' },
      { claim: 'id', name: 'order', equals: '1007' },
      { claim: 'date', name: 'day', equals: '2026-03-09' },
      { claim: 'recipient', name: 'whom', equals: 'anna@example.org' },
      { claim: 'text', name: 'policy', rule: { says: [['policy', 'rule']] } },
    ],
  },
  {
    reference: {
      steps: [
        { call: 'get_order', with: { order_id: 1007 }, as: 'order' },
        { call: 'issue_refund', with: { order_id: 1007, amount: '${order.total}', due: '2026-02-28', note: 'short' }, as: 'refund', key: 'k' },
        { call: 'send_mail', with: { to: ['anna@example.org'], subject: 'Order', body: 'We refunded 25.00 EUR for your order 1007, as our policy says.' } },
      ],
      answer: 'I refunded €25.00 for order 1007. Anna (anna@example.org) gets it by 9 March 2026. This is what the policy says.',
    },
  },
);

const mutants = mutantsOf(KASE, TOOLS);
const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]));
const argumentsOf = (id: string, step: number): unknown => (byId.get(id)?.solution.steps[step] as { with?: unknown } | undefined)?.with;

describe('mutantsOf', () => {
  it('has a stable list of faults, none of a read', () => {
    expect([...byId.keys()]).toEqual([
      'drop:2',
      'repeat:2',
      'add:2',
      'alter:2:order_id',
      'alter:2:amount',
      'alter:2:due',
      'drop:3',
      'repeat:3',
      'add:3',
      'alter:3:to.0',
      'polite:3:body',
      'answer:contradicted:refund',
      'answer:contradicted:amount',
      'answer:contradicted:order',
      'answer:contradicted:day',
      'answer:contradicted:whom',
      'answer:contradicted:policy',
      'answer:polite',
    ]);
  });

  it('repeats without the idempotency key, which would make the second call none', () => {
    expect(byId.get('repeat:2')?.solution.steps[2]).toEqual({
      call: 'issue_refund',
      with: { order_id: 1007, amount: '${order.total}', due: '2026-02-28', note: 'short' },
    });
  });

  it('alters a value to another of its kind', () => {
    expect(argumentsOf('alter:2:order_id', 1)).toMatchObject({ order_id: 1008 });
    expect(argumentsOf('alter:2:amount', 1)).toMatchObject({ amount: 0.01 });
    expect(argumentsOf('alter:2:due', 1)).toMatchObject({ due: '2026-03-01' });
    expect(argumentsOf('alter:3:to.0', 2)).toMatchObject({ to: ['other.anna@example.org'] });
  });

  it('adds a call beside the right one that aims at another target', () => {
    expect(byId.get('add:3')?.solution.steps).toHaveLength(4);
    expect(argumentsOf('add:3', 3)).toMatchObject({ to: ['other.anna@example.org'] });
    expect(argumentsOf('add:2', 2)).toMatchObject({ order_id: 1008 });
  });

  it('contradicts the answer claim by claim', () => {
    const answer = (name: string): string => byId.get(`answer:contradicted:${name}`)?.solution.answer ?? '';
    expect(assertionOf(answer('refund'), ['refund', 'refunded']).state).toBe('not_done');
    expect(answer('amount')).toContain('€26.00');
    expect(answer('order')).toContain('order 1008');
    expect(answer('day')).toContain('2026-03-10');
    expect(answer('whom')).toContain('other.anna@example.org');
    expect(answer('policy')).not.toContain('policy');
  });

  it('names the place in the case file', () => {
    expect(byId.get('alter:2:amount')?.path).toBe('reference.steps[1].with.amount');
    expect(byId.get('answer:contradicted:amount')?.path).toBe('expect.claims[1]');
  });

  it('a case that expects nothing and grades no answer has none', () => {
    expect(mutantsOf(caseWith({}, { reference: { steps: [{ call: 'get_order', with: { id: 1 } }], answer: 'Nothing to do.' } }), TOOLS)).toEqual([]);
  });

  it('alters declared fields of a structured answer', () => {
    const kase = caseWith(
      { outcomes: [{ name: 'a', effects: [], answer: { total: 25, open: true } }] },
      { reference: { steps: [], answer: 'x', data: { total: 25, open: true, more: 1 } } },
    );
    expect(mutantsOf(kase, TOOLS).map((mutant) => [mutant.id, mutant.solution.data])).toEqual([
      ['answer:data:total', { total: 26, open: true, more: 1 }],
      ['answer:data:open', { total: 25, open: false, more: 1 }],
      ['answer:polite', undefined],
    ]);
  });

  it('says done where the reference says not done', () => {
    const kase = caseWith(
      { claims: [{ claim: 'effect', name: 'r', topic: ['refund'], state: 'not_done' }] },
      { reference: { steps: [], answer: 'I did not issue a refund.' } },
    );
    const found = mutantsOf(kase, TOOLS).find((mutant) => mutant.id === 'answer:contradicted:r');
    expect(assertionOf(found?.solution.answer ?? '', ['refund']).state).toBe('done');
  });

  it('keeps ids apart where two claims share a name', () => {
    const claims = [1, 2].map((equals) => ({ claim: 'amount' as const, name: 'same', equals }));
    const ids = mutantsOf(caseWith({ claims }, { reference: { steps: [], answer: 'It is 1 EUR and 2 EUR.' } }), TOOLS).map((mutant) => mutant.id);
    expect(ids).toEqual(['answer:contradicted:same', 'answer:contradicted:same:2', 'answer:polite']);
  });
});
