import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { resolveArguments, ScriptError, type StepResults } from '../../src/suite/script.ts';

const results: StepResults = {
  order: { state: 'committed', result: { id: 1007, total: '25.00', lines: [{ sku: 'A-1', 'unit price': 5 }], note: null, open: false }, problem: null },
  refund: { state: 'failed', result: null, problem: { code: 'limit', message: 'above the limit' } },
  late: { state: 'unknown', result: null, problem: null },
  nothing: { state: 'committed', result: null, problem: null },
  text: { state: 'committed', result: 'plain', problem: null },
};

describe('references', () => {
  test.each<[Json, Json]>([
    ['${order.total}', '25.00'],
    ['${order.id}', 1007],
    ['${order.open}', false],
    ['${order.note}', null],
    ['${order.lines}', [{ sku: 'A-1', 'unit price': 5 }]],
    ['${order.lines.0.sku}', 'A-1'],
    ['${order}', results['order']?.result ?? null],
    ['${text}', 'plain'],
    ['${nothing}', null],
    ['${order!state}', 'committed'],
    ['${late!state}', 'unknown'],
    ['${refund!problem}', 'limit'],
    ['${order!problem}', null],
    ['I refunded ${order.total} EUR for ${order.id}; ${refund!state}.', 'I refunded 25.00 EUR for 1007; failed.'],
    ['${order.id}${order.id}', '10071007'],
    ['$${order.id} costs $$ and $5 and ${order.id}', '${order.id} costs $$ and $5 and 1007'],
    ['$${order.id}', '${order.id}'],
    ['$', '$'],
    ['', ''],
    [
      { a: ['${order.id}', { b: '${text}' }], c: 3, d: null },
      { a: [1007, { b: 'plain' }], c: 3, d: null },
    ],
  ])('%j', (value, expected) => {
    expect(resolveArguments(value, results)).toEqual(expected);
  });

  test.each<[string, string]>([
    ['${ordre.total}', '${ordre.total}: no earlier step is named "ordre"'],
    ['${order.price}', '${order.price}: order has id, total, lines, note, open, so there is no "price" in it'],
    ['${order.lines.1.sku}', '${order.lines.1.sku}: order.lines is a list of 1, so there is no "1" in it'],
    ['${order.lines.-1}', '${order.lines.-1}: order.lines is a list of 1, so there is no "-1" in it'],
    ['${order.lines.length}', '${order.lines.length}: order.lines is a list of 1, so there is no "length" in it'],
    ['${order.note.x}', '${order.note.x}: order.note is null, so there is no "x" in it'],
    ['${text.length}', '${text.length}: text is "plain", so there is no "length" in it'],
    ['${refund.id}', '${refund.id}: step "refund" has no result, it ended as failed (limit: above the limit)'],
    ['${late}', '${late}: step "late" has no result, it ended as unknown'],
    ['Total ${order.lines}', '${order.lines}: is a list; only text, numbers and booleans can stand inside a text'],
    ['Note ${order.note}', '${order.note}: is null; only text, numbers and booleans can stand inside a text'],
    ['${order.total', '${order.total: has no closing brace; write $${ where the characters themselves are meant'],
    [
      '${1 + 1}',
      '${1 + 1}: is no reference; expected ${step.path.to.value}, ${step!state}, ${step!problem} or ${step!operation} ($${ for the characters themselves)',
    ],
  ])('%s is refused', (value, message) => {
    expect(() => resolveArguments(value, results)).toThrow(ScriptError);
    expect(() => resolveArguments(value, results)).toThrow(message);
  });

  test.each([
    '${order.constructor}',
    '${order.__proto__}',
    '${order.toString}',
    '${constructor}',
    '${__proto__}',
    '${toString.name}',
    '${hasOwnProperty!state}',
    '${order.lines.map}',
  ])("%s reads nothing that is not the data's own", (value) => {
    expect(() => resolveArguments(value, results)).toThrow(ScriptError);
  });

  test('an own key of an awkward name is data, and pollutes nothing', () => {
    const awkward: StepResults = { a: { state: 'committed', result: JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Json, problem: null } };
    expect(resolveArguments('${a.__proto__.x}', awkward)).toBe(1);
    const built = resolveArguments(JSON.parse('{"__proto__":{"polluted":"${a.constructor}"}}') as Json, awkward);
    expect(JSON.stringify(built)).toBe('{"__proto__":{"polluted":2}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('a value put in is never read again as a reference', () => {
    const hostile: StepResults = {
      a: { state: 'committed', result: '${b.secret}', problem: null },
      b: { state: 'committed', result: { secret: 's' }, problem: null },
    };
    expect(resolveArguments('${a}', hostile)).toBe('${b.secret}');
    expect(resolveArguments('x ${a}', hostile)).toBe('x ${b.secret}');
  });

  test('a value without references stays as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value).replaceAll('${', '$ {')) as Json;
        expect(resolveArguments(json, {})).toEqual(json);
      }),
    );
  });

  test('escaping makes any text stand for itself', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('$', '{', '}', 'a', '.', '${', '$${')).map((parts) => parts.join('')),
        (text) => {
          const runs = text.replaceAll('${', () => '$${');
          expect(resolveArguments(runs, {})).toBe(text);
        },
      ),
    );
  });
});
