import { describe, expect, it } from 'vitest';
import { evidence, printable } from '../../src/domain/text/bounded.ts';
import { canonicalText } from '../../src/domain/text/canonical.ts';
import { compareDecimals, decimalOf, decimalText, rounded } from '../../src/domain/text/decimal.ts';
import { dateTimeOf, isPlainDate } from '../../src/domain/text/instant.ts';
import { mailboxesIn, sameMailbox } from '../../src/domain/text/mailbox.ts';
import { brokenParts, says } from '../../src/domain/text/says.ts';

describe('says', () => {
  it.each([
    ['the total is $110', '10', false],
    ['the total is $10', '10', true],
    ['10.50', '10', false],
    ['10.00', '10', true],
    ['€25.00.', '25', true],
    ['25', '25.00', true],
    ['1,025.00', '25', false],
    ['1,025', '1025', true],
    ['on 2026-03-10', '10', false],
    ['at 10:30', '10', false],
    ['EUR25', '25', true],
    ['25EUR', '25', true],
    ['25x', '25', false],
    ['order 01007', '1007', false],
    ['order 01007', '01007', true],
    ['ORD-1007', '1007', true],
    ['No refunds', 'refund', false],
    ['a REFUND!', 'refund', true],
    ['money  back', 'money back', true],
    ['money\nback', 'money back', true],
    ['don’t', "don't", true],
    ['re\u0301serve\u0301', 'r\u00e9serv\u00e9', true],
    ['résumé', 'resume', false],
    ['refund_id', 'refund', false],
    ['返金しました', '返金', true],
    ['so\u00ADft', 'soft', true],
    ['x', '', false],
  ] as const)('%s / %s', (text, phrase, found) => {
    expect(says(text, phrase)).toBe(found);
  });

  it('an inner list means any one', () => {
    expect(brokenParts({ says: [['a', 'b'], 'c'], not_says: ['d'] }, 'b d')).toEqual([
      { kind: 'missing', phrases: ['c'] },
      { kind: 'present', phrases: ['d'] },
    ]);
  });
});

describe('numbers', () => {
  const order = (a: number | string, b: number | string): number | null => {
    const [x, y] = [decimalOf(a), decimalOf(b)];
    return x === null || y === null ? null : compareDecimals(x, y);
  };
  it.each([
    ['25.00', 25, 0],
    ['0.1', 0.1, 0],
    ['1e3', 1000, 0],
    [1e21, '1000000000000000000000', 0],
    ['-0', 0, 0],
    ['9007199254740993', '9007199254740992', 1],
    ['abc', 1, null],
    ['', 0, null],
    ['1e999999', 1, null],
  ] as const)('%s against %s', (a, b, result) => {
    expect(order(a, b)).toBe(result);
  });

  it.each([
    ['2.345', 2, '235e-2'],
    ['2.344', 2, '234e-2'],
    ['-2.345', 2, '-235e-2'],
    ['0.004', 2, '0e-0'],
    ['7', 2, '7e-0'],
    ['0.5', 0, '1e-0'],
  ] as const)('%s at %s places', (text, places, result) => {
    const value = decimalOf(text);
    expect(value === null ? null : decimalText(rounded(value, places))).toBe(result);
  });
});

describe('times', () => {
  it('are instants where an offset is named', () => {
    expect(dateTimeOf('2026-03-02T09:30:00+01:00')?.nanos).toBe(dateTimeOf('2026-03-02 08:30:00Z')?.nanos);
    expect(dateTimeOf('2026-03-02 09:30:00.000001+01')?.nanos).not.toBe(dateTimeOf('2026-03-02T08:30:00Z')?.nanos);
    expect(dateTimeOf('0001-01-01T00:00:00Z')?.nanos).toBeLessThan(0n);
  });

  it('are none where the calendar has no such day', () => {
    expect([dateTimeOf('2026-02-30T00:00:00Z'), dateTimeOf('2026-03-02'), isPlainDate('2026-02-29'), isPlainDate('2028-02-29')]).toEqual([
      null,
      null,
      false,
      true,
    ]);
  });
});

describe('mailboxes', () => {
  it.each([
    ['a@x.test', 'a@X.TEST', true],
    ['A@x.test', 'a@x.test', false],
    ['Anna <a@x.test>', 'a@x.test', true],
    ['a@x.test', 'a@x.test.evil', false],
  ] as const)('%s and %s', (a, b, same) => {
    expect(sameMailbox(a, b)).toBe(same);
  });

  it('are found whole in a text', () => {
    expect(mailboxesIn('Mail anna.b@example.org, <x@y.test>. Not @me.')).toEqual(['anna.b@example.org', 'x@y.test']);
  });
});

describe('evidence and canonical text', () => {
  it('equal values have equal text, whatever the order of keys', () => {
    expect(canonicalText({ b: [1, null], a: 'e\u0301' })).toBe(canonicalText({ a: '\u00e9', b: [1.0, null] }));
    expect(canonicalText([1, '1'])).not.toBe(canonicalText(['1', 1]));
    expect(canonicalText({ raw: 'x' })).toBe('{"raw":"x",}');
  });

  it('survives any depth, lone surrogates and NUL', () => {
    let deep: never[] = [];
    for (let at = 0; at < 50_000; at++) deep = [deep] as never[];
    expect(canonicalText(deep).length).toBeGreaterThan(100_000);
    expect(JSON.stringify(evidence(deep)).length).toBeLessThan(100);
    expect(printable('\uD800\u0000a')).toBe('\uFFFD\uFFFDa');
  });
});
