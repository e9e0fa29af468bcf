import { describe, expect, it } from 'vitest';
import type { Matcher } from '../../src/domain/case.ts';
import type { Json } from '../../src/domain/json.ts';
import { assign } from '../../src/domain/grading/assign.ts';
import { matches } from '../../src/domain/grading/match.ts';
import { netEffects } from '../../src/domain/grading/net.ts';
import { deleted, inserted, mail, row, updated } from './grading-builders.ts';

describe('matchers', () => {
  it.each<[string, Matcher, Json, boolean, number?]>([
    ['number and numeric text', 25, '25.00', true],
    ['number and longer numeric text', 25, '25.001', false],
    ['number at a declared scale', 25, '25.001', true, 2],
    ['two texts are text', '25.00', '25.0', false],
    ['two texts where a scale is declared', '25.00', '25.0', true, 2],
    ['leading zeros of a text', '007', '7', false],
    ['number and other text', 25, 'x', false],
    ['no exponent surprises', 1000, '1e3', true],
    ['null only to null', null, null, true],
    ['null is not zero', null, 0, false],
    ['null is not empty', null, '', false],
    ['empty is not null', '', null, false],
    ['booleans are not texts', true, 'true', false],
    ['instants', '2026-03-02T09:30:00+01:00', '2026-03-02 08:30:00+00', true],
    ['local times only with local times', '2026-03-02T09:30:00', '2026-03-02T09:30:00Z', false],
    ['plain dates are text', '2026-03-02', '2026-03-02T00:00:00Z', false],
    ['Unicode form', 'caf\u00e9', 'cafe\u0301', true],
    ['case counts', 'Open', 'open', false],
    ['lists in order', [1, 'a'], [1, 'a'], true],
    ['lists out of order', [1, 2], [2, 1], false],
    ['objects whatever the order of keys', { a: 1, b: null }, { b: null, a: 1 }, true],
    ['any', { any: true }, null, true],
    ['one_of', { one_of: ['a', null] }, null, true],
    ['one_of, none', { one_of: ['a', 'b'] }, 'c', false],
    ['not', { not: null }, 'x', true],
    ['not, equal by value', { not: 25 }, '25.0', false],
    ['range', { gte: 10, lt: 20 }, '10.00', true],
    ['range, outside', { gte: 10, lt: 20 }, 20, false],
    ['range on null', { gte: 0 }, null, false],
    ['range of instants', { gte: '2026-03-02T09:00:00+01:00' }, '2026-03-02T08:30:00Z', true],
    ['a day includes its whole day', { lte: '2026-03-05' }, '2026-03-05T23:59:00+01:00', true],
    ['range of texts', { gte: '09:00' }, '10:30', true],
    ['pattern', { matches: '^TCK-\\d+$' }, 'TCK-7', true],
    ['pattern, invalid', { matches: '(' }, '(', false],
    ['pattern on null', { matches: '' }, null, false],
    ['says', { says: ['1007'], not_says: ['sorry'] }, 'Order 1007', true],
    ['not_says', { not_says: ['sorry'] }, 'Sorry!', false],
    ['an object that is no operator is a value', { says: ['x'], other: 1 }, { other: 1, says: ['x'] }, true],
    ['an empty object is a value', {}, {}, true],
  ])('%s', (_name, matcher, value, result, scale) => {
    expect(matches(matcher, value, scale)).toBe(result);
  });
});

describe('assign', () => {
  const fitsFrom = (table: readonly string[]) => (item: number, room: number) => table[item]?.[room] === 'x';
  it('finds places by moving others', () => {
    const rooms = [
      { min: 1, max: 1 },
      { min: 1, max: 1 },
      { min: 1, max: 1 },
    ];
    expect(assign(3, rooms, fitsFrom(['xx ', 'x x', 'x  ']))).toEqual([1, 2, 0]);
  });

  it('fills what is needed before what is only allowed', () => {
    expect(
      assign(
        1,
        [
          { min: 0, max: 1 },
          { min: 1, max: 1 },
        ],
        fitsFrom(['xx']),
      ),
    ).toEqual([1]);
  });

  it('leaves over as few as possible', () => {
    expect(
      assign(
        3,
        [
          { min: 1, max: 1 },
          { min: 0, max: Number.POSITIVE_INFINITY },
        ],
        fitsFrom(['x ', 'xx', 'xx']),
      ),
    ).toEqual([0, 1, 1]);
  });
});

describe('netEffects', () => {
  const tables = { orders: { key: ['id'], ignored: ['stamp'], scale: { total: 2 } } };
  const net = (effects: Parameters<typeof netEffects>[0]): unknown[] =>
    netEffects(effects, tables).map((effect) => (effect.kind === 'row' ? [effect.change, effect.key, effect.before, effect.after] : 'mail'));

  it('joins the changes of a row', () => {
    const [a, b, c] = [
      { id: 1, s: 'a' },
      { id: 1, s: 'b' },
      { id: 1, s: 'c' },
    ];
    expect(net([updated('orders', a, b), updated('orders', b, c)])).toEqual([['update', { id: 1 }, a, c]]);
    expect(net([inserted('orders', a), updated('orders', a, b)])).toEqual([['insert', { id: 1 }, null, b]]);
    expect(net([updated('orders', a, b), deleted('orders', b)])).toEqual([['delete', { id: 1 }, a, null]]);
    expect(net([deleted('orders', a), inserted('orders', b)])).toEqual([['update', { id: 1 }, a, b]]);
    expect(net([deleted('orders', a), inserted('orders', a)])).toEqual([]);
    expect(net([inserted('orders', a), deleted('orders', a)])).toEqual([]);
  });

  it('goes by journal order, not by the order of the list', () => {
    const first = updated('orders', { id: 1, s: 'a' }, { id: 1, s: 'b' });
    const second = updated('orders', { id: 1, s: 'b' }, { id: 1, s: 'c' });
    expect(net([second, first])).toEqual([['update', { id: 1 }, { id: 1, s: 'a' }, { id: 1, s: 'c' }]]);
  });

  it('a row whose key changes stays the same row', () => {
    const moved = row('orders', 'update', { id: 1, s: 'a' }, { id: 2, s: 'a' }, { key: { id: 1 } });
    const after = updated('orders', { id: 2, s: 'a' }, { id: 2, s: 'b' });
    expect(net([moved, after])).toEqual([['update', { id: 2 }, { id: 1, s: 'a' }, { id: 2, s: 'b' }]]);
  });

  it('numbers at their declared scale and ignored columns make no effect', () => {
    expect(net([updated('orders', { id: 1, total: '25.001', stamp: 1 }, { id: 1, total: '25.00', stamp: 2 })])).toEqual([]);
  });

  it('keeps accepted mails and drops refused ones', () => {
    expect(net([mail(['a@x.test']), mail(['a@x.test'], { accepted: false })])).toEqual(['mail']);
  });

  it('names every operation that touched the row', () => {
    const [found] = netEffects([
      inserted('orders', { id: 1, s: 'a' }, { operation: 'op-1' }),
      updated('orders', { id: 1, s: 'a' }, { id: 1, s: 'b' }, { operation: 'op-2' }),
    ]);
    expect(found?.operations).toEqual(['op-1', 'op-2']);
  });
});
