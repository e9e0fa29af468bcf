import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim, EffectPattern, Matcher } from '../../src/domain/case.ts';
import type { Effect } from '../../src/domain/effect.ts';
import { assertionOf } from '../../src/domain/claims/assertion.ts';
import { assign } from '../../src/domain/grading/assign.ts';
import { grade } from '../../src/domain/grading/grade.ts';
import { netEffects } from '../../src/domain/grading/net.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import { mutantsOf } from '../../src/domain/mutants/mutants.ts';
import { call, caseWith, inserted, mail, recordOf, row } from './grading-builders.ts';

/** Any text, lone surrogates and long ones included. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('\uD800', '__proto__', 'constructor', 'I refunded €25.00.', '2026-03-02', 'a@b.test', '25.00', '', 'x'.repeat(5_000), '1'.repeat(900)),
);
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => value as Json);
const image = fc.dictionary(fc.oneof(fc.constantFrom('id', 'amount', 'status'), text), json).map((value) => value as JsonObject);
const effect: fc.Arbitrary<Effect> = fc.oneof(
  fc
    .tuple(fc.constantFrom('refunds', 'orders'), fc.constantFrom('insert', 'update', 'delete'), image, image, fc.constantFrom('op-1', 'op-2', null))
    .map(([table, change, before, after, operation]) =>
      row(table, change, change === 'insert' ? null : before, change === 'delete' ? null : after, { operation }),
    ),
  fc.tuple(fc.array(text, { maxLength: 3 }), text, text, fc.boolean()).map(([to, subject, body, accepted]) => mail(to, { subject, text: body, accepted })),
);
const operation: fc.Arbitrary<Operation> = fc
  .tuple(
    fc.nat(50),
    text,
    json,
    json,
    fc.constantFrom('committed', 'failed', 'unknown', 'rejected', 'denied', 'awaiting_approval'),
    fc.constantFrom('committed', 'failed', 'undetermined'),
    fc.constantFrom(null, 'read', 'write', 'external'),
  )
  .map(([seq, tool, args, result, told, known, kind]) => call(seq, tool, args, { told, known, result, effect: kind }));
const record: fc.Arbitrary<TrialRecord> = fc
  .tuple(fc.array(operation, { maxLength: 8 }), fc.array(effect, { maxLength: 8 }), fc.array(text, { maxLength: 4 }), fc.option(image))
  .map(([operations, effects, texts, data]) =>
    recordOf({
      operations,
      effects,
      messages: texts.map((said, at) => ({ turn: at, from: 'agent' as const, text: said, data })),
      referenceEffects: effects.slice(0, 2),
    }),
  );

const PATTERNS: readonly EffectPattern[] = [
  { row: 'refunds', change: 'insert', where: { amount: { gte: 5, lte: '2026-01-01' }, id: { matches: '^(a+)+$' } } },
  { row: 'orders', change: 'update', where: { status: { says: ['x'] } }, count: { min: 1 } },
  { mail: ['a@b.test'], subject: { not_says: ['y'] }, body: { says: [['25', 'z']] } },
];
const CLAIMS: readonly Claim[] = [
  { claim: 'effect', name: 'e', topic: ['refund', 'refunded'], effect: { row: 'refunds', change: 'insert' } },
  { claim: 'amount', name: 'a', equals: 25, currency: 'EUR', topic: ['refunded'] },
  { claim: 'id', name: 'i', equals: '1007' },
  { claim: 'date', name: 'd', equals: '2026-03-02T10:00' },
  { claim: 'recipient', name: 'r', equals: 'a@b.test' },
  { claim: 'text', name: 't', rule: { says: ['25'], not_says: ['z'] } },
];
const KASE = caseWith({
  outcomes: [
    { name: 'a', effects: PATTERNS, answer: { total: 1 } },
    { name: 'b', same_as: 'reference' },
  ],
  allowed: [{ row: 'orders', change: 'delete' }],
  forbidden: [{ name: 'f', effect: { row: 'refunds', change: 'delete' } }],
  claims: CLAIMS,
  constraints: [{ max_calls: 2 }, { never: 'a', before: 'b' }, { never: 'a', where: { x: 1 } }, { must_call: 'a', where: { x: { any: true } } }],
});

describe('grade', () => {
  it('never throws, and its verdict can be stored and is the same again', () => {
    fc.assert(
      fc.property(record, (given) => {
        const found = grade(KASE, 'h', given);
        const stored = JSON.stringify(found);
        expect(stored).not.toMatch(/\\ud[89a-f]|\\u0000/i);
        expect(JSON.stringify(grade(KASE, 'h', given))).toBe(stored);
      }),
      { numRuns: 300 },
    );
  });

  it('survives values of any depth and texts of any size', () => {
    let deep: Json = 1;
    for (let at = 0; at < 20_000; at++) deep = at % 2 === 0 ? [deep] : { a: deep };
    const huge = 'I refunded €25.00 for order 1007, '.repeat(40_000);
    const given = recordOf({
      operations: [call(1, 'a', deep, { result: deep }), call(2, 'a', deep)],
      effects: [inserted('refunds', { id: 1, amount: deep }), mail(['a@b.test'], { text: huge, subject: huge })],
      answer: huge,
    });
    expect(grade(KASE, 'h', given).pass).toBe('fail');
    expect(JSON.stringify(grade(KASE, 'h', given)).length).toBeLessThan(100_000);
  });

  it('the order of patterns never decides', () => {
    const pattern = fc.record({ amount: fc.constantFrom<Matcher>({ any: true }, 1, 2, { gte: 2 }), order: fc.constantFrom<Matcher>({ any: true }, 1, 2) });
    const amounts = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 })), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 4 }), amounts, fc.nat(23), (wheres, rows, turn) => {
        const effects = rows.map(([amount, order], at) => inserted('refunds', { id: at, amount, order }));
        const patterns: EffectPattern[] = wheres.map((where) => ({ row: 'refunds', change: 'insert', where }));
        const turned = [...patterns.slice(turn % (patterns.length || 1)), ...patterns.slice(0, turn % (patterns.length || 1))].reverse();
        const pass = (list: EffectPattern[]): string => grade(caseWith({ outcomes: [{ name: 'x', effects: list }] }), 'h', recordOf({ effects })).pass;
        expect(pass(turned)).toBe(pass(patterns));
      }),
    );
  });

  it('what the agent does beyond the expected never turns a fail into a pass', () => {
    fc.assert(
      fc.property(fc.array(effect, { maxLength: 5 }), fc.array(effect, { minLength: 1, maxLength: 3 }), (effects, more) => {
        const net = netEffects(effects);
        if (netEffects([...effects, ...more]).length <= net.length) return;
        const kase = caseWith({ outcomes: [{ name: 'as is', same_as: 'reference' }] });
        expect(grade(kase, 'h', recordOf({ effects: [...effects, ...more], referenceEffects: effects })).effects.judgement).toBe('fail');
      }),
    );
  });
});

describe('assign', () => {
  it('leaves over as few items as any assignment does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { maxLength: 5 }),
        fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
        (table, caps) => {
          const found = assign(
            table.length,
            caps.map((max) => ({ min: 0, max })),
            (item, room) => table[item]?.[room] === true,
          );
          expect(found.filter((at) => at !== null).length).toBe(most(table, caps, 0));
          for (const [room, max] of caps.entries()) expect(found.filter((at) => at === room).length).toBeLessThanOrEqual(max);
        },
      ),
    );
  });
});

describe('reading and mutating', () => {
  it('no text crashes the reader', () => {
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 3 }), (said, topic) => {
        expect(['done', 'not_done', 'unknown', 'undetermined', 'silent']).toContain(assertionOf(said, topic).state);
      }),
    );
  });

  it('no reference crashes the mutants, and every mutant differs from it', () => {
    fc.assert(
      fc.property(fc.array(image, { maxLength: 3 }), text, (args, answer) => {
        const kase = caseWith({ claims: [...CLAIMS] }, { reference: { steps: args.map((one) => ({ call: 'pay', with: one })), answer } });
        const mutants = mutantsOf(kase, { pay: { effect: 'write' } });
        expect(new Set(mutants.map((mutant) => mutant.id)).size).toBe(mutants.length);
        for (const mutant of mutants) expect(JSON.stringify(mutant.solution)).not.toBe(JSON.stringify(kase.reference));
      }),
    );
  });
});

/** The most items that can have a room, by trying everything. */
function most(table: readonly (readonly boolean[])[], caps: readonly number[], item: number): number {
  const row = table[item];
  if (row === undefined) return 0;
  let best = most(table, caps, item + 1);
  for (const [room, fits] of row.entries()) {
    if (fits && (caps[room] ?? 0) > 0)
      best = Math.max(
        best,
        1 +
          most(
            table,
            caps.map((cap, at) => (at === room ? cap - 1 : cap)),
            item + 1,
          ),
      );
  }
  return best;
}
