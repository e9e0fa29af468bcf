import fc from 'fast-check';
import type { Json } from '../../src/domain/json.ts';

/** More levels than any recursion survives. */
export const DEEP = 20_000;

/** Any JSON value: texts of any character (halves of pairs and NUL too), names that every object has, numbers of any size. */
export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, 0, -0, 1e308, -1e-308, '', '\u0000', '\ud800', '__proto__', 'NaN'),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('__proto__', 'constructor', 'content', 'order_id')), tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** JSON text of a value in a value and so on. */
export function nested(kind: 'list' | 'object', levels: number): string {
  return kind === 'list' ? `${'['.repeat(levels)}${']'.repeat(levels)}` : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}
