import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mdBlock, mdCellCode, mdCode, mdText } from '../../src/report/markdown.ts';
import { displayWidth, oneLineJson, pad, plainText, shorten } from '../../src/report/plain-text.ts';

describe('plainText', () => {
  test.each([
    ['a colour', '\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['a window title', '\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['an 8-bit control', '\u009b2J', '\\x9b2J'],
    ['a carriage return that overwrites the line', 'failed\rpassed', 'failed\\rpassed'],
    ['a backspace', 'no\b\byes', 'no\\x08\\x08yes'],
    ['a reversed reading direction', 'a\u202egnp.exe', 'a\\u{202e}gnp.exe'],
    ['an isolate', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['a zero-width space', 'pass\u200bword', 'pass\\u{200b}word'],
    ['a joiner between letters', 're\u200dfund', 're\\u{200d}fund'],
    ['tag characters', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a lone surrogate', 'a\ud800', 'a\\u{d800}'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['line breaks and tabs', 'a\nb\tc', 'a\\nb\\tc'],
  ])('shows %s as text', (_, dirty, clean) => {
    expect(plainText(dirty)).toBe(clean);
  });

  test('leaves other scripts, accents and pictograms alone', () => {
    const text = 'Fwd: 東橫INN 首爾, reçu 🧾, 👩‍👩‍👧, ёж, مرحبا';
    expect(plainText(text)).toBe(text);
  });

  test('keeps line breaks where asked, and nothing else', () => {
    expect(plainText('a\r\nb\tc\rd\n\u001b[2Je', { lines: 'keep' })).toBe('a\nb  c\\rd\n\\x1b[2Je');
  });

  test('leaves no control or direction character, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainText(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('width', () => {
  test.each([
    ['abc', 3],
    ['東橫', 4],
    ['e\u0301', 1],
    ['🧾', 2],
    ['한', 2],
  ])('%s takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  test('a text is cut to columns, not to characters', () => {
    expect(shorten('東橫INN', 4)).toBe('東…');
    expect(shorten('abc', 3)).toBe('abc');
    expect(shorten('abcd', 3)).toBe('ab…');
    expect(shorten('abcd', 0)).toBe('');
    expect(pad('東', 4)).toBe('東  ');
  });

  test('never exceeds the columns asked for', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 0, max: 30 }),
        (text, columns) => displayWidth(shorten(plainText(text), columns)) <= columns,
      ),
    );
  });

  test('JSON goes on one line', () => {
    expect(oneLineJson({ a: 'x\ny\u001b' })).toBe('{"a":"x\\ny\\u001b"}');
    expect(oneLineJson({ a: '\u202e' })).toBe('{"a":"\\u{202e}"}');
  });
});

describe('Markdown', () => {
  test.each([
    ['a table cell end', 'a | b', 'a \\| b'],
    ['HTML', '<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['an entity', '&lt;', '&amp;lt;'],
    ['a link', '[x](javascript:alert)', '\\[x\\](javascript:alert)'],
    ['emphasis', '*a* _b_ ~~c~~', '\\*a\\* \\_b\\_ \\~\\~c\\~\\~'],
    ['code', '`x`', '\\`x\\`'],
    ['a heading', '# x', '\\# x'],
    ['a list', '- x', '\\- x'],
    ['a numbered list', '1. x', '1\\. x'],
    ['a bare address', 'see https://evil.test and www.evil.test', 'see https\\://evil.test and www\\.evil.test'],
    ['a mention', 'ask @octocat', 'ask @<!-- -->octocat'],
    ['a mail address, which is no mention', 'to anna@example.org', 'to anna@example.org'],
    ['an issue', 'fixes #12', 'fixes #<!-- -->12'],
    ['line breaks', 'a\n\n# b', 'a\\\\n\\\\n# b'],
  ])('text with %s stays text', (_, foreign, escaped) => {
    expect(mdText(foreign)).toBe(escaped);
  });

  test('a code span has a longer fence than its text', () => {
    expect(mdCode('a')).toBe('`a`');
    expect(mdCode('a `` b')).toBe('```a `` b```');
    expect(mdCode('`a')).toBe('`` `a ``');
    expect(mdCode('')).toBe('` `');
    expect(mdCellCode('a|b')).toBe('`a\\|b`');
  });

  test('nothing in a block closes it', () => {
    expect(mdBlock('a\n```\n# b', 2)).toBe('  ````\n  a\n  ```\n  # b\n  ````');
  });

  test('a text never gives a second line or an unescaped pipe', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('|', '\\', '\n', 'a', '`', '<') }), (text) => {
        expect(mdText(text)).not.toMatch(/\n|<(?!!--)/);
        expect(mdText(text).replace(/\\\\/g, '')).not.toMatch(/(^|[^\\])\|/);
      }),
    );
  });
});
