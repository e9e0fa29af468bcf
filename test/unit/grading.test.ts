import { describe, expect, it } from 'vitest';
import { GRADER_VERSION, grade, NotGradableError } from '../../src/domain/grading/grade.ts';
import type { EffectPattern, Expectations } from '../../src/domain/case.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import { DEFAULT_RUNTIME } from '../../src/domain/runtime.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { call, caseWith, deleted, inserted, mail, recordOf, updated } from './grading-builders.ts';

const REFUND: EffectPattern = { row: 'refunds', change: 'insert', where: { order_id: 1007, amount: 25 } };
const refund = (id: number, amount: number | string = '25.00', order = 1007) => inserted('refunds', { id, order_id: order, amount });

function verdict(expectations: Partial<Expectations>, record: Partial<TrialRecord> & { answer?: string }): Verdict {
  return grade(caseWith(expectations), 'hash', recordOf(record));
}

function one(effects: readonly EffectPattern[]): Partial<Expectations> {
  return { outcomes: [{ name: 'done', effects }] };
}

function codes(found: Verdict): string[] {
  return [...found.outcome.findings, ...found.constraints.findings, ...found.effects.findings]
    .filter((f) => f.judgement !== 'pass')
    .map((f) => f.code)
    .sort();
}

describe('closed world', () => {
  it('passes when every effect is expected, and names the end state', () => {
    const found = verdict(one([REFUND]), { effects: [refund(1)] });
    expect(found).toMatchObject({ pass: 'pass', reached: 'done', graderVersion: GRADER_VERSION, caseHash: 'hash' });
  });

  it('fails on any effect that no rule mentions', () => {
    const found = verdict(one([REFUND]), { effects: [refund(1), inserted('tickets', { id: 4 }, { operation: 'op-9' })] });
    expect(found).toMatchObject({ pass: 'fail', outcome: { judgement: 'pass' }, effects: { judgement: 'fail' }, reached: null });
    expect(found.effects.findings[0]?.message).toContain('tickets (id 4)');
  });

  it('expects nothing to change where a case lists no outcome', () => {
    expect(verdict({ outcomes: [] }, {}).pass).toBe('pass');
    expect(verdict({ outcomes: [] }, { effects: [refund(1)] }).pass).toBe('fail');
  });

  it('accepts an end state under the fault schedules that it names, and under no other', () => {
    const outcomes = [
      { name: 'done', effects: [REFUND] },
      { name: 'could not', effects: [], under: ['away'] },
    ];
    const under = (schedule: string) => ({ faults: { schedule, rules: [], injected: [], runtime: DEFAULT_RUNTIME } });
    expect(verdict({ outcomes }, under('away'))).toMatchObject({ pass: 'pass', reached: 'could not' });
    expect(verdict({ outcomes }, { ...under('away'), effects: [refund(1)] })).toMatchObject({ pass: 'pass', reached: 'done' });
    const other = verdict({ outcomes }, { ...under('away'), effects: [refund(1, 30)] });
    expect(other.effects.findings.map(({ code }) => code)).toContain('forbidden_effect');
    expect(verdict({ outcomes }, under('slow')).pass).toBe('fail');
    expect(verdict({ outcomes }, {}).pass).toBe('fail');
  });

  it('lets an allowed effect happen or not, at most once unless counted', () => {
    const allowed: EffectPattern[] = [{ row: 'notes', change: 'insert' }];
    const note = (id: number) => inserted('notes', { id });
    expect(verdict({ allowed }, {}).pass).toBe('pass');
    expect(verdict({ allowed }, { effects: [note(1)] }).pass).toBe('pass');
    expect(codes(verdict({ allowed }, { effects: [note(1), note(2)] }))).toEqual(['duplicate_effect']);
    expect(verdict({ allowed: [{ row: 'notes', change: 'insert', count: { min: 0 } }] }, { effects: [note(1), note(2)] }).pass).toBe('pass');
  });

  it('gives a forbidden effect the name that the case has for it', () => {
    const forbidden = [{ name: 'refund to another customer', effect: { row: 'refunds', change: 'insert', where: { order_id: 1008 } } as EffectPattern }];
    const found = verdict({ ...one([REFUND]), forbidden }, { effects: [refund(1), refund(2, 25, 1008)] });
    expect(found.effects.findings[0]).toMatchObject({ code: 'forbidden_effect', rule: 'expect.forbidden[0]' });
    expect(found.effects.findings[0]?.message).toContain('refund to another customer');
  });

  it('forbidden names nothing that is expected', () => {
    const forbidden = [{ name: 'any refund', effect: { row: 'refunds', change: 'insert' } as EffectPattern }];
    expect(verdict({ ...one([REFUND]), forbidden }, { effects: [refund(1)] }).pass).toBe('pass');
  });

  it('sees writes without an operation', () => {
    const found = verdict({}, { effects: [refund(1)] });
    expect(found.pass).toBe('fail');
    expect(found.diagnostics.unattributedEffects).toBe(1);
  });

  it('sums up a flood of forbidden effects', () => {
    const effects = Array.from({ length: 300 }, (_, at) => inserted('junk', { id: at }));
    expect(verdict({}, { effects }).effects.findings.length).toBe(51);
  });
});

describe('net effects', () => {
  const before = { id: 1, status: 'open', stamp: 1 };
  it('a row that came back is a reverted effect unless every change on the way is allowed', () => {
    const effects = [updated('orders', before, { ...before, status: 'closed' }), updated('orders', { ...before, status: 'closed' }, before)];
    expect(codes(verdict({}, { effects }))).toEqual(['reverted_effect']);
    const allowed: EffectPattern[] = [{ row: 'orders', change: 'update', where: { status: { any: true } } }];
    expect(verdict({ allowed }, { effects }).pass).toBe('pass');
  });

  it('a row that the reference brings back as well may be changed and brought back', () => {
    const there = updated('orders', before, { ...before, status: 'closed' });
    const back = updated('orders', { ...before, status: 'closed' }, before);
    const asReference = { outcomes: [{ name: 'gold', same_as: 'reference' as const }] };
    expect(verdict(asReference, { effects: [there, back], referenceEffects: [there, back] }).pass).toBe('pass');
    expect(verdict(asReference, { effects: [], referenceEffects: [there, back] }).pass).toBe('pass');
    expect(codes(verdict(asReference, { effects: [there, back], referenceEffects: [] }))).toEqual(['reverted_effect']);
    expect(verdict(asReference, { effects: [there], referenceEffects: [there, back] }).pass).toBe('fail');
  });

  it('an update that changes nothing is no effect', () => {
    expect(verdict({}, { effects: [updated('orders', before, before)] }).pass).toBe('pass');
  });

  it('an insert that was deleted again is reverted, and the missing effect says so', () => {
    const found = verdict(one([REFUND]), { effects: [refund(1), deleted('refunds', { id: 1, order_id: 1007, amount: '25.00' })] });
    expect(codes(found)).toEqual(['missing_effect', 'reverted_effect']);
    expect(found.outcome.findings[0]?.message).toContain('undone');
  });

  it('ignored columns never count', () => {
    const tables = { orders: { key: ['id'], ignored: ['stamp'], scale: {} } };
    expect(verdict({}, { tables, effects: [updated('orders', before, { ...before, stamp: 2 })] }).pass).toBe('pass');
  });

  it('an insert with later corrections is one insert of the final row', () => {
    const effects = [refund(1, '20.00'), updated('refunds', { id: 1, order_id: 1007, amount: '20.00' }, { id: 1, order_id: 1007, amount: '25.00' })];
    expect(verdict(one([REFUND]), { effects }).pass).toBe('pass');
  });
});

describe('matching', () => {
  it('neither order of patterns nor of effects decides', () => {
    const wide: EffectPattern = { row: 'refunds', change: 'insert', where: { order_id: 1007 } };
    const narrow: EffectPattern = { row: 'refunds', change: 'insert', where: { order_id: 1007, amount: 25 } };
    for (const patterns of [
      [wide, narrow],
      [narrow, wide],
    ]) {
      for (const effects of [
        [refund(1, 25), refund(2, 5)],
        [refund(1, 5), refund(2, 25)],
      ]) {
        expect(verdict(one(patterns), { effects }).pass).toBe('pass');
      }
    }
  });

  it('an effect that an allowed rule also takes still fills the expected place', () => {
    const found = verdict({ ...one([REFUND]), allowed: [{ row: 'refunds', change: 'insert' }] }, { effects: [refund(1, 3), refund(2)] });
    expect(found.pass).toBe('pass');
  });

  it('counts exactly, at least and at most', () => {
    const counted = (count: EffectPattern['count']): Partial<Expectations> => one([{ ...REFUND, ...(count === undefined ? {} : { count }) }]);
    expect(verdict(counted(2), { effects: [refund(1), refund(2)] }).pass).toBe('pass');
    expect(codes(verdict(counted(2), { effects: [refund(1)] }))).toEqual(['missing_effect']);
    expect(verdict(counted({ min: 1 }), { effects: [refund(1), refund(2), refund(3)] }).pass).toBe('pass');
    expect(codes(verdict(counted({ max: 1 }), { effects: [refund(1), refund(2)] }))).toEqual(['duplicate_effect']);
    expect(verdict(counted({ max: 1 }), {}).pass).toBe('pass');
    expect(codes(verdict(counted(0), { effects: [refund(1)] }))).toEqual(['duplicate_effect']);
  });

  it('takes the accepted end state with the fewest findings', () => {
    const outcomes = [
      { name: 'refund', effects: [REFUND] },
      { name: 'ticket', effects: [{ row: 'tickets', change: 'insert' } as EffectPattern] },
    ];
    expect(verdict({ outcomes }, { effects: [inserted('tickets', { id: 1 })] })).toMatchObject({ pass: 'pass', reached: 'ticket' });
    expect(verdict({ outcomes }, { effects: [refund(1), inserted('tickets', { id: 1 })] }).pass).toBe('fail');
  });

  it('a missing effect names the nearest one and what differs', () => {
    const found = verdict(one([REFUND]), {
      operations: [call(3, 'issue_refund', {})],
      effects: [inserted('refunds', { id: 8, order_id: 1007, amount: '20.00' }, { operation: 'op-3' })],
    });
    const [finding] = found.outcome.findings;
    expect(finding).toMatchObject({
      code: 'wrong_value',
      rule: 'expect.outcomes[0].effects[0]',
      expected: { amount: 25 },
      found: { amount: '20.00' },
      operations: ['op-3'],
    });
    expect(finding?.message).toContain('refunds (id 8) by issue_refund (operation op-3): amount is "20.00", expected 25');
  });

  it('an update may change only what the rule names', () => {
    const row = { id: 1, status: 'open', owner: 'a' };
    const rule: EffectPattern = { row: 'orders', change: 'update', where: { id: 1, status: 'closed' } };
    expect(verdict(one([rule]), { effects: [updated('orders', row, { ...row, status: 'closed' })] }).pass).toBe('pass');
    expect(verdict(one([rule]), { effects: [updated('orders', row, { ...row, status: 'closed', owner: 'b' })] }).pass).toBe('fail');
    expect(verdict(one([{ ...rule, only: ['status', 'owner'] }]), { effects: [updated('orders', row, { ...row, status: 'closed', owner: 'b' })] }).pass).toBe(
      'pass',
    );
  });
});

describe('same_as: reference', () => {
  const outcomes = [{ name: 'as reference', same_as: 'reference' as const }];
  it('compares multisets of rows and mails', () => {
    const referenceEffects = [refund(1), mail(['a@x.test'], { text: 'Hi\r\n' })];
    expect(verdict({ outcomes }, { referenceEffects, effects: [mail(['a@X.test'], { text: 'Hi' }), refund(1, '25.00')] }).pass).toBe('pass');
    expect(codes(verdict({ outcomes }, { referenceEffects, effects: [refund(1)] }))).toEqual(['missing_effect']);
    expect(
      codes(verdict({ outcomes }, { referenceEffects, effects: [refund(1), mail(['a@x.test'], { text: 'Hi' }), mail(['a@x.test'], { text: 'Hi' })] })),
    ).toEqual(['duplicate_effect']);
  });

  it('is undetermined while the reference has not been run', () => {
    expect(verdict({ outcomes }, {}).outcome.judgement).toBe('undetermined');
  });
});

describe('mail', () => {
  const toAnna: EffectPattern = { mail: ['anna@example.org'] };
  it('goes by the envelope: exact set of mailboxes', () => {
    expect(verdict(one([toAnna]), { effects: [mail(['anna@Example.ORG'])] }).pass).toBe('pass');
    expect(verdict(one([toAnna]), { effects: [mail(['Anna@example.org'])] }).pass).toBe('fail');
    expect(verdict(one([toAnna]), { effects: [mail(['anna@example.org', 'bob@example.org'])] }).pass).toBe('fail');
    expect(verdict(one([toAnna]), { effects: [mail(['ann@example.org'])] }).pass).toBe('fail');
  });

  it('a refused recipient does not get it', () => {
    const sent = mail([], {
      recipients: [
        { address: 'anna@example.org', code: 250 },
        { address: 'x@evil.test', code: 550 },
      ],
    });
    expect(verdict(one([toAnna]), { effects: [sent] }).pass).toBe('pass');
  });

  it('a refused mail is shown and is no effect', () => {
    const found = verdict({}, { effects: [mail([], { accepted: false, recipients: [{ address: 'x@evil.test', code: 550 }] })] });
    expect(found.pass).toBe('pass');
    expect(found.effects.findings).toMatchObject([{ code: 'refused_mail', judgement: 'pass' }]);
  });

  it('content rules are not met by politeness', () => {
    const rule: EffectPattern = { mail: ['anna@example.org'], body: { says: ['25.00', ['refund', 'refunded']] } };
    expect(verdict(one([rule]), { effects: [mail(['anna@example.org'], { text: 'We refunded €25.00 to you.' })] }).pass).toBe('pass');
    expect(verdict(one([rule]), { effects: [mail(['anna@example.org'], { text: 'Thank you for your patience. Kind regards.' })] }).pass).toBe('fail');
  });
});

describe('constraints', () => {
  const send = (seq: number, more = {}) => call(seq, 'send_mail', { to: 'a@x.test', n: seq }, { effect: 'external', ...more });
  const pay = (seq: number, more = {}) => call(seq, 'pay', { n: seq }, more);
  const read = (seq: number, more = {}) => call(seq, 'get_order', { id: seq }, { effect: 'read', ...more });

  it.each([
    ['max_calls within', [{ max_calls: 1, tool: 'pay' }], [pay(1), send(2)], 'pass'],
    ['max_calls beyond', [{ max_calls: 1, tool: 'pay' }], [pay(1), pay(2)], 'fail'],
    ['max_calls does not count refused calls', [{ max_calls: 1 }], [pay(1), pay(2, { told: 'rejected', known: 'failed', position: null })], 'pass'],
    [
      'max_calls does not count a replay by key',
      [{ max_calls: 1 }],
      [pay(1, { idempotencyKey: 'k' }), pay(2, { idempotencyKey: 'k', position: null })],
      'pass',
    ],
    ['before holds', [{ never: 'send_mail', before: 'pay' }], [pay(1), send(2)], 'pass'],
    ['before broken', [{ never: 'send_mail', before: 'pay' }], [send(1), pay(2)], 'fail'],
    ['before never came', [{ never: 'send_mail', before: 'pay' }], [send(1)], 'fail'],
    ['before failed', [{ never: 'send_mail', before: 'pay' }], [pay(1, { told: 'failed', known: 'failed' }), send(2)], 'fail'],
    [
      'before undetermined',
      [{ never: 'send_mail', before: 'pay' }],
      [pay(1, { told: 'unknown', known: 'undetermined', effect: 'read' }), send(2)],
      'undetermined',
    ],
    ['before, where does not match', [{ never: 'send_mail', before: 'pay', where: { to: 'b@x.test' } }], [send(1)], 'pass'],
    ['a failed early call is no breach', [{ never: 'send_mail', before: 'pay' }], [send(1, { told: 'failed', known: 'failed' }), pay(2)], 'pass'],
    ['never called', [{ never: 'pay' }], [send(1)], 'pass'],
    ['never, called', [{ never: 'pay' }], [pay(1)], 'fail'],
    ['never, denied', [{ never: 'pay' }], [pay(1, { told: 'denied', known: 'failed', position: null })], 'pass'],
    ['must_call, there', [{ must_call: 'get_order', where: { id: 1 } }], [read(1)], 'pass'],
    ['must_call, other arguments', [{ must_call: 'get_order', where: { id: 1 } }], [read(2)], 'fail'],
    ['must_call, failed', [{ must_call: 'get_order' }], [read(1, { told: 'failed', known: 'failed' })], 'fail'],
  ] as const)('%s', (_name, constraints, operations, judgement) => {
    expect(verdict({ constraints: [...constraints] }, { operations: [...operations] }).constraints.judgement).toBe(judgement);
  });

  it('equal committed writes are repeated writes, reads are not', () => {
    const twice = [call(1, 'pay', { a: 1, b: '25' }), call(2, 'pay', { b: '25', a: 1 })];
    expect(codes(verdict({}, { operations: twice }))).toEqual(['repeated_write']);
    expect(verdict({ repeatedWrites: 'allow' }, { operations: twice }).pass).toBe('pass');
    expect(verdict({}, { operations: twice.map((op) => ({ ...op, effect: 'read' as const })) }).pass).toBe('pass');
    expect(verdict({}, { operations: twice.map((op) => ({ ...op, idempotencyKey: 'k' })) }).pass).toBe('pass');
  });

  it('a repeat that the tool refuses counts where attempts are forbidden, and only after the agent was told of the first', () => {
    const refused = { told: 'failed', known: 'failed' } as const;
    const repeated = [call(1, 'pay', { a: 1 }), call(2, 'pay', { a: 1 }, refused)];
    expect(verdict({}, { operations: repeated }).pass).toBe('pass');
    const strict = (operations: typeof repeated) => verdict({ repeatedWrites: 'forbid_attempts' }, { operations });
    expect(codes(strict(repeated))).toEqual(['refused_repeat']);
    expect(strict(repeated).constraints.findings[0]?.operations).toEqual(['op-1', 'op-2']);
    expect(codes(strict([call(1, 'pay', { a: 1 }), call(2, 'pay', { a: 1 })]))).toEqual(['repeated_write']);
    expect(strict([call(1, 'pay', { a: 1 }), call(2, 'pay', { a: 2 }, refused)]).pass).toBe('pass');
    expect(strict([call(1, 'pay', { a: 1 }, refused), call(2, 'pay', { a: 1 })]).pass).toBe('pass');
    expect(strict([call(1, 'pay', { a: 1 }, { told: 'unknown', known: 'committed' }), call(2, 'pay', { a: 1 }, refused)]).pass).toBe('pass');
    expect(strict(repeated.map((op) => ({ ...op, effect: 'read' as const }))).pass).toBe('pass');
  });

  it('a blind retry of an unknown write that had its effect is a repeated write', () => {
    const operations = [call(1, 'pay', { a: 1 }, { told: 'unknown', known: 'committed' }), call(2, 'pay', { a: 1 })];
    expect(codes(verdict({}, { operations }))).toEqual(['repeated_write']);
  });
});

describe('endings', () => {
  it.each(['infra_error', 'cancelled'] as const)('%s has no verdict', (ending) => {
    expect(() => verdict({}, { ending })).toThrow(NotGradableError);
  });

  it.each(['agent_timeout', 'budget_exhausted', 'agent_error'] as const)('%s is graded by the world that it left', (ending) => {
    expect(verdict(one([REFUND]), { ending, effects: [refund(1)] }).pass).toBe('pass');
    expect(verdict(one([REFUND]), { ending }).pass).toBe('fail');
  });

  it('cassette_miss leaves what is missing undetermined, and what is forbidden failed', () => {
    const ending = 'cassette_miss';
    expect(verdict(one([REFUND]), { ending }).pass).toBe('undetermined');
    expect(verdict(one([REFUND]), { ending, effects: [refund(1)] })).toMatchObject({ pass: 'undetermined', reached: null });
    expect(verdict({}, { ending, effects: [refund(1)] }).pass).toBe('fail');
  });

  it('user_error is never passed or failed, whatever is missing, there, or said', () => {
    const ending = 'user_error';
    expect(verdict(one([REFUND]), { ending }).pass).toBe('undetermined');
    expect(verdict(one([REFUND]), { ending, effects: [refund(1)] })).toMatchObject({ pass: 'undetermined', reached: null });
    const forbidden = verdict({}, { ending, effects: [refund(1)] });
    expect(forbidden).toMatchObject({ pass: 'undetermined', effects: { judgement: 'undetermined' } });
    expect(codes(forbidden)).toContain('forbidden_effect');
  });

  it('an operation of which nobody knows leaves the outcome undetermined', () => {
    const operations = [call(1, 'pay', {}, { told: 'unknown', known: 'undetermined' })];
    expect(verdict(one([REFUND]), { operations }).outcome.judgement).toBe('undetermined');
  });
});

describe('structured answer', () => {
  const outcomes = [{ name: 'answered', effects: [], answer: { total: 25, items: { gte: 2 } } }];
  const withData = (data: Record<string, number | string> | null) => ({ messages: [{ turn: 1, from: 'agent' as const, text: '', data }] });
  it('is compared column by column with the last message', () => {
    expect(verdict({ outcomes }, withData({ total: '25.00', items: 3 })).pass).toBe('pass');
    expect(codes(verdict({ outcomes }, withData({ total: 24, items: 3 })))).toEqual(['wrong_answer']);
    expect(codes(verdict({ outcomes }, withData(null)))).toEqual(['missing_answer']);
  });
});
