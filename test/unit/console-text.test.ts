import { expect, test } from 'vitest';
import { ConsoleAddressError } from '../../src/client/console-errors.ts';
import { publicUrl } from '../../src/client/console-address.ts';
import { findKey, formToken, isFormToken, newKey } from '../../src/gateway/console/keys.ts';
import { Foreign, ForeignJson } from '../../src/report/html/text.tsx';
import type { ConsoleKey } from '../../src/store/console-keys.ts';

const html = (text: string, max?: number) => String(Foreign({ text, ...(max !== undefined && { max }) }));

test('foreign text is escaped, and what is not printable is told apart from what looks like its escape', () => {
  expect(html('<b onclick="x">&\'')).toContain('&lt;b onclick=&quot;x&quot;&gt;&amp;&#39;');
  expect(html('\\u{202e} \u202e')).toContain('\\u{202e} <span class="escape">\\u{202e}</span>');
  expect(html('a\u001b]0;x\u0007')).toContain('<span class="escape">\\x1b</span>]0;x<span class="escape">\\x07</span>');
  expect(html('line\nnext')).toContain('line\nnext');
  expect(html('\r\u2028')).toContain('<span class="escape">\\r\\u{2028}</span>');
});

test('foreign text is cut to what a page can bear, never inside a character, and the rest is counted', () => {
  expect(html('x'.repeat(2_000_000))).toContain('1,998,000 more characters');
  expect(html(`${'x'.repeat(9)}😀rest`, 10)).toContain('6 more characters');
  expect(html('\ud83d')).toContain('�');
  const json = String(ForeignJson({ value: { a: 'y'.repeat(50) }, max: 20 }));
  expect(json).toMatch(/\{\n {2}"a": &quot;|\{\n {2}&quot;a&quot;: &quot;y+/);
  expect(json).toMatch(/more characters/);
});

test('a key opens what it is for, by its whole secret; a form token is bound to its cookie', async () => {
  const { key, name, digest } = newKey();
  const stored: ConsoleKey = { name, digest, kind: 'token', holder: 'petra', roles: ['viewer'], parent: null, expiresAt: '2026-06-01T00:00:00.000Z' };
  const store = { consoleKey: async (asked: string) => (asked === name ? stored : null) };
  expect(await findKey(store, key, 'token')).toEqual(stored);
  expect(await findKey(store, key, 'session')).toBeNull();
  for (const wrong of ['', name, `${name}.`, `${key}x`, key.slice(0, -1), `x${key}`, `${name}.${'A'.repeat(43)}`, `${key}\u0000`])
    expect(await findKey(store, wrong, 'token'), wrong).toBeNull();
  expect(isFormToken(key, formToken(key))).toBe(true);
  for (const wrong of [formToken('other'), '', undefined, ['x'], key]) expect(isFormToken(key, wrong)).toBe(false);
});

test('an address that is no base address of a site is refused', () => {
  expect(publicUrl('https://trialbed.example.com')?.host).toBe('trialbed.example.com');
  expect(publicUrl(undefined)).toBeNull();
  for (const wrong of ['trialbed.example.com', 'ftp://x', 'https://x/path', 'javascript:1']) expect(() => publicUrl(wrong)).toThrow(ConsoleAddressError);
});
