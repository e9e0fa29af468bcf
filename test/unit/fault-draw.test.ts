import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { covers, type FaultRule, type FaultSchedule } from '../../src/domain/fault.ts';
import { DRAWN_POSITIONS, drawRules } from '../../src/suite/draw.ts';

function scheduleOf(...rules: readonly Omit<FaultRule, 'fault'>[]): FaultSchedule {
  return { name: 's', title: 's', cases: ['*'], rules: rules.map((rule) => ({ ...rule, fault: { kind: 'malformed_reply' as const } })) };
}

const OF = { seed: 'seed', caseId: 'refund', repetition: 1 };
const tool = { tool: 't' };

function callsOf(schedule: FaultSchedule, of = OF, rule = 0): readonly number[] {
  const calls = drawRules(schedule, of)[rule]?.calls;
  if (!Array.isArray(calls)) throw new Error('the rule has no list of calls');
  return calls;
}

const probability = fc.double({ min: 0.05, max: 0.95, noNaN: true });
const of = fc.record({ seed: fc.string(), caseId: fc.string(), repetition: fc.integer({ min: 1, max: 10_000 }) });
const RUNS = { numRuns: 12 };

describe('chance is drawn', () => {
  test('from content alone: the same in every process, at any order', () => {
    // Computed once by another program (sha256 of the canonical JSON, its first 48 bits): other values would change what every stored seed means.
    expect(callsOf(scheduleOf({ on: tool, calls: { from: 1, to: 40 }, probability: 0.3 }))).toEqual([2, 6, 8, 12, 15, 19, 25, 27, 28, 36, 37, 38, 39, 40]);
    fc.assert(
      fc.property(probability, fc.array(of, { minLength: 2, maxLength: 4 }), (p, trials) => {
        const schedule = scheduleOf({ on: tool, probability: p });
        const forward = trials.map((one) => drawRules(schedule, one));
        const backward = trials.toReversed().map((one) => drawRules(schedule, one));
        expect(backward.toReversed()).toEqual(forward);
      }),
      RUNS,
    );
  });

  test('so often as its probability says', () => {
    fc.assert(
      fc.property(probability, of, (p, one) => {
        const share = callsOf(scheduleOf({ on: tool, probability: p }), one).length / DRAWN_POSITIONS;
        // Six standard errors.
        expect(Math.abs(share - p)).toBeLessThan(6 * Math.sqrt((p * (1 - p)) / DRAWN_POSITIONS));
      }),
      RUNS,
    );
  });

  test('anew for each repetition, case, seed, schedule and rule', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 0.8, noNaN: true }), of, (p, one) => {
        const schedule = scheduleOf({ on: tool, probability: p }, { on: tool, probability: p });
        const drawn = callsOf(schedule, one);
        expect(callsOf(schedule, one, 1)).not.toEqual(drawn);
        expect(callsOf(schedule, { ...one, repetition: one.repetition + 1 })).not.toEqual(drawn);
        expect(callsOf(schedule, { ...one, caseId: `${one.caseId}x` })).not.toEqual(drawn);
        expect(callsOf(schedule, { ...one, seed: `${one.seed}x` })).not.toEqual(drawn);
        expect(callsOf({ ...schedule, name: 'other' }, one)).not.toEqual(drawn);
      }),
      RUNS,
    );
  });

  test('for no more than the rule covers, and position by position: another range changes no other position', () => {
    fc.assert(
      fc.property(probability, of, fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 100 }), (p, one, from, length) => {
        const all = callsOf(scheduleOf({ on: tool, probability: p }), one);
        const range = { from, to: from + length };
        const some = callsOf(scheduleOf({ on: tool, calls: range, probability: p }), one);
        expect(some).toEqual(all.filter((position) => covers({ calls: range }, position)));
      }),
      RUNS,
    );
  });

  test('nowhere where it is certain, and once at the start', () => {
    const certain = scheduleOf({ on: tool, calls: { from: 2 } }, { on: tool, calls: [3], probability: 1 }, { on: 'start' });
    expect(drawRules(certain, OF)).toEqual([
      { on: tool, calls: { from: 2 }, fault: { kind: 'malformed_reply' }, index: 0 },
      { on: tool, calls: [3], fault: { kind: 'malformed_reply' }, index: 1 },
      { on: 'start', fault: { kind: 'malformed_reply' }, index: 2 },
    ]);
    const starts = Array.from({ length: 400 }, (_none, n) => callsOf(scheduleOf({ on: 'start', probability: 0.5 }), { ...OF, repetition: n + 1 }));
    expect(new Set(starts.map((calls) => calls.join()))).toEqual(new Set(['', '1']));
    expect(starts.filter((calls) => calls.length === 1).length).toBeGreaterThan(140);
    expect(starts.filter((calls) => calls.length === 1).length).toBeLessThan(260);
  });
});
