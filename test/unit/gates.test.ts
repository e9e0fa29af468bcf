import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrialFacts } from '../../src/domain/trial-facts.ts';
import { judgeGates } from '../../src/domain/gates/judge-gates.ts';
import { requireGateLabels } from '../../src/domain/gates/gate-labels.ts';
import { daysLeft } from '../../src/domain/quarantine.ts';
import { GateSyntaxError, parseGate } from '../../src/domain/gates/parse-gate.ts';

const TODAY = '2026-12-01T10:00:00Z';

function fact(more: Partial<TrialFacts> = {}): TrialFacts {
  const pass = more.pass ?? 'pass';
  return {
    trial: 't',
    batch: 'b',
    ordinal: 1,
    case: 'refund',
    caseHash: 'c',
    schedule: 'none',
    scheduleHash: null,
    repetition: 1,
    agent: 'careful',
    agentHash: 'a',
    generation: 'g',
    attempts: 1,
    ending: 'completed',
    pass,
    outcome: pass,
    constraints: 'pass',
    effects: 'pass',
    why: null,
    findings: [],
    forbidden: 0,
    category: pass === 'fail' ? 'missing_outcome' : null,
    unknowns: 0,
    calls: 3,
    tokens: null,
    money: null,
    times: null,
    tags: [],
    severity: 'medium',
    quarantine: null,
    disturbed: false,
    diagnostics: null,
    ...more,
  } as TrialFacts;
}

const judged = (facts: readonly TrialFacts[], ...gates: readonly string[]) => judgeGates(facts, { gates, today: TODAY });
const one = (facts: readonly TrialFacts[], gate: string) => {
  const [result] = judged(facts, gate).gates;
  return [result?.result, result?.figure, result?.reason];
};
const problem = (text: string): string => {
  try {
    parseGate(text);
    return 'it was read';
  } catch (error) {
    return error instanceof GateSyntaxError ? error.message : String(error);
  }
};

/** As many cases as there are counts, each with so many passes among four repetitions. */
const repeats = (passes: readonly number[]) =>
  passes.flatMap((count, at) => Array.from({ length: 4 }, (_, n) => fact({ case: `case-${at}`, repetition: n + 1, pass: n < count ? 'pass' : 'fail' })));

describe('a gate is read', () => {
  it('with its figure, its brackets and its value', () => {
    expect(parseGate(' lower( pass[refund, critical] ) >= 85% ')).toMatchObject({
      text: 'lower( pass[refund, critical] ) >= 85%',
      figure: 'pass',
      at: 'lower',
      chosen: [{ label: 'refund' }, { label: 'critical' }],
      comparison: '>=',
      value: 0.85,
    });
    expect(parseGate('pass^3>=0.6')).toMatchObject({ repeats: { of: 'every', k: 3 }, at: 'point', value: 0.6 });
    expect(parseGate('pass@2>=0.9')).toMatchObject({ repeats: { of: 'any', k: 2 } });
    expect(parseGate('upper(share(forbidden))<=2%')).toMatchObject({ figure: 'forbidden', share: true, at: 'upper', value: 0.02 });
    expect(parseGate('wrong_recipient[critical]==0')).toMatchObject({ figure: 'wrong_recipient', comparison: '==', value: 0 });
  });

  it.each([
    ['passs>=0.9', 'column 1: "passs" is no figure (did you mean "pass"?)'],
    ['pass>=90', 'column 7: a share is at most 1; for percent write 90%'],
    ['forbidden==0%', 'column 13: this figure is a count and no share'],
    ['pass=>0.9', 'column 5: expected >=, <=, ==, >, <'],
    ['pass^0>=1', 'column 6: expected a number of repetitions from 1 to 1000'],
    ['pass[critical>=1', 'column 14: expected "]" or ","'],
    ['pass[]>=1', 'column 6: expected a severity or a tag'],
    ['lower(forbidden)<=1', 'column 7: "forbidden" is a count, which has no interval'],
    ['share(pass)>=1', 'column 7: there is no share of "pass"'],
    ['infra[critical]==0', 'column 7: infrastructure errors are of the whole batch'],
    ['pass>=0.9 forbidden==0', 'column 11: expected nothing more'],
    ['', 'column 1: expected a figure'],
    ['pass>=', 'column 7: expected a share'],
  ])('%s: %s', (text, message) => {
    expect(problem(text)).toContain(message);
  });

  it('and held against the tags of the suite, with the nearest one', () => {
    const held = (gate: string) => () => requireGateLabels([gate], ['mail', 'refund']);
    expect(held('forbidden[critical, mail]==0')).not.toThrow();
    expect(held(' forbidden[critical,mails]==0')).toThrow(
      'gate "forbidden[critical,mails]==0", column 20: no case of the suite has the tag "mails" (did you mean "mail"?)',
    );
    expect(held('pass[crtical]>=1')).toThrow('(did you mean "critical"?)');
    expect(held('pass[zzzzzz]>=1')).toThrow('; there are: low, medium, high, critical, mail, refund');
  });

  it('or refused in words of its own, whatever the text is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[passhrelowu()[\]^@<>=0-9.%, ]*$/)), (text) => {
        try {
          const gate = parseGate(text);
          expect(parseGate(gate.text)).toEqual(gate);
        } catch (error) {
          expect(error).toBeInstanceOf(GateSyntaxError);
          expect((error as Error).message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        }
      }),
    );
  });
});

describe('a gate is judged', () => {
  it('by the figures of published examples: pass^k, pass@k, and the bounds of a share', () => {
    // 50 tasks of four trials: 14 with 0, 12 with 1, 10 with 2, 4 with 3 and 10 with 4 passes.
    const facts = repeats([...Array(14).fill(0), ...Array(12).fill(1), ...Array(10).fill(2), ...Array(4).fill(3), ...Array(10).fill(4)]);
    expect(one(facts, 'pass>=0.42')[0]).toBe('met');
    expect(one(facts, 'pass>0.42')[0]).toBe('not_met');
    expect(one(facts, 'pass^3>=0.22')[0]).toBe('met');
    expect(one(facts, 'pass^4>0.2')[0]).toBe('not_met');
    expect(one(facts, 'pass@4>=0.72')[0]).toBe('met');
    expect(one(facts, 'pass^5>=0.1')).toEqual(['not_judged', null, 'no case has 5 scored repetitions; expected at least `--trials 5`']);
    const independent = Array.from({ length: 25 }, (_, n) => fact({ case: `case-${n}` }));
    expect(one(independent, 'lower(pass)>=0.8668')[1]).toBeCloseTo(0.8668, 4);
    expect(one(independent, 'upper(share(forbidden))<=0.1332')[1]).toBeCloseTo(0.1332, 4);
  });

  it('by severity and tag, and a tag that nobody has is no gate that is met', () => {
    const facts = [fact({ severity: 'critical', forbidden: 2 }), fact({ case: 'b', tags: ['mail'] })];
    expect(one(facts, 'forbidden[critical]==0').slice(0, 2)).toEqual(['not_met', 2]);
    expect(one(facts, 'forbidden[mail]==0')[0]).toBe('met');
    expect(one(facts, 'forbidden[mails]==0')).toEqual(['not_judged', null, 'no case has the tag "mails" (did you mean "mail"?)']);
    expect(one(facts, 'pass[low]>=1')).toEqual(['not_judged', null, 'nothing was scored']);
    expect(judged(facts, 'forbidden[mails]==0').gate).toBe('not_met');
  });

  it('by counts: broken rules, false claims, categories, unknown outcomes, cost', () => {
    const facts = [
      fact({ pass: 'fail', constraints: 'fail', category: 'budget', unknowns: 2, money: { EUR: 0.5 }, tokens: { input: 10, output: 5 } }),
      fact({ case: 'b', findings: [{ view: 'outcome', code: 'false_claim', judgement: 'fail', rule: 'r', message: 'm' }], money: { EUR: 0.25 } }),
    ];
    for (const gate of ['violations==1', 'budget==1', 'unknowns==2', 'false_claims==1', 'cost<=0.75', 'tokens==15', 'share(violations)<=50%'])
      expect([gate, one(facts, gate)[0]]).toEqual([gate, 'met']);
    expect(one([fact({ money: { EUR: 1 } }), fact({ money: { USD: 1 } })], 'cost<=5')[2]).toBe('costs are in EUR and USD, which cannot be added up');
    expect(one([fact()], 'cost<=5')[0]).toBe('not_judged');
    // What was spent in vain was spent.
    expect(one([...facts, fact({ ending: 'infra_error', pass: null, money: { EUR: 1 } })], 'cost<=1')).toEqual(['not_met', 1.75, '1.75 of 3 trials']);
  });

  it('for each agent, and all have to hold', () => {
    const result = judged([fact(), fact({ agent: 'hasty', pass: 'fail' })], 'pass>=1', 'forbidden==0');
    expect(result.gate).toBe('not_met');
    expect(result.gates.map(({ agent, gate, result: how }) => [agent, gate, how])).toEqual([
      ['careful', 'pass>=1', 'met'],
      ['careful', 'forbidden==0', 'met'],
      ['hasty', 'pass>=1', 'not_met'],
      ['hasty', 'forbidden==0', 'met'],
    ]);
  });

  it('not at all where trials are missing, unless a gate says how many may be: they then count against it', () => {
    const facts = [...Array.from({ length: 9 }, (_, n) => fact({ case: `case-${n}` })), fact({ case: 'lost', ending: 'infra_error', pass: null })];
    expect(judged(facts, 'pass>=0.9').gate).toBe('infrastructure');
    expect(judged(facts, 'pass>=0.9', 'infra<=1').gate).toBe('met');
    expect(judged(facts, 'pass>0.9', 'infra<=1').gate).toBe('not_met');
    expect(judged(facts, 'share(forbidden)<=5%', 'infra<=1').gate).toBe('not_met');
    expect(judged(facts, 'infra==0').gate).toBe('not_met');
    expect(one(facts, 'pass^1>=0.9').slice(1)).toEqual([0.9, expect.stringContaining('of 10 cases')]);
    expect(one(facts, 'pass@1<=0.9')[1]).toBe(1);
    expect(one(facts, 'pass^1==1')).toEqual(['not_judged', null, '1 trial without a result, so that the share is not known']);
    expect(judged([fact(), fact({ ending: 'user_error', pass: null })], 'infra<=1').gate).toBe('infrastructure');
    expect(judged([fact(), fact({ ending: 'cancelled', pass: null })]).gate).toBe('not_met');
    expect(judged([]).gate).toBe('not_met');
  });

  it('not while a trial has not ended, whatever else is so and also in quarantine', () => {
    const open = fact({ case: 'open', ending: null, pass: null });
    expect(judged([fact(), open]).gate).toBe('not_met');
    expect(judged([fact(), open, fact({ case: 'lost', ending: 'infra_error', pass: null })]).gate).toBe('not_met');
    expect(judged([fact(), { ...open, quarantine: { reason: 'r', owner: 'o', until: '2026-12-01' } }]).gate).toBe('not_met');
  });

  it('not met where a cassette had no answer, unless that is allowed', () => {
    const facts = [fact(), fact({ case: 'missed', ending: 'cassette_miss', pass: null })];
    expect(judged(facts).gate).toBe('not_met');
    expect(judgeGates(facts, { gates: [], today: TODAY, allowMisses: true }).gate).toBe('met');
    expect(judgeGates([...facts, fact({ pass: 'fail' })], { gates: [], today: TODAY, allowMisses: true }).gate).toBe('not_met');
  });

  it('by a share of what passes, and a trial that nobody could decide is scored and not passed', () => {
    expect(judged([fact(), fact(), fact(), fact({ pass: 'fail' })], 'pass>=0.75').gate).toBe('met');
    expect(judged([fact(), fact(), fact(), fact({ pass: 'undetermined' })], 'pass>=0.8').gate).toBe('not_met');
    expect(judged([fact({ ending: 'infra_error', pass: null })], 'pass>=0').gate).toBe('infrastructure');
  });

  it('by the days of a quarantine, in UTC: its last day is one of them', () => {
    const left = (today: string) => daysLeft({ reason: 'r', owner: 'o', until: '2026-12-01' }, today);
    expect(['2026-11-30T23:59:59Z', '2026-12-01T00:00:00Z', '2026-12-01T23:59:59Z', '2026-12-02T00:00:00Z'].map(left)).toEqual([2, 1, 1, 0]);
  });

  it('without the cases in quarantine, until their day is over', () => {
    const quarantine = { reason: 'the fixture lags', owner: 'mara', until: '2026-12-01' };
    const shaky = fact({ case: 'shaky', pass: 'fail', quarantine });
    expect(judged([fact(), shaky])).toMatchObject({ gate: 'met', quarantined: [{ case: 'shaky', owner: 'mara', over: false, passed: 0, trials: 1 }] });
    const late = { ...shaky, quarantine: { ...quarantine, until: '2026-11-30' } };
    expect(judged([fact(), late])).toMatchObject({ gate: 'not_met', quarantined: [{ over: true }] });
    // Also where it passes: somebody has to decide.
    expect(judged([fact(), { ...late, pass: 'pass' }]).gate).toBe('not_met');
    expect(judged([shaky]).gate).toBe('not_met');
  });
});
