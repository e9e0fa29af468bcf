import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeMail } from '../../src/environments/inbox/decode.ts';

const fixture = (name: string) => readFile(new URL(`../fixtures/mail/${name}.eml`, import.meta.url));
const view = async (name: string) => decodeMail(await fixture(name));

describe('decodeMail', () => {
  test('public case 15: encoded words cut inside characters, folded, ten times over; body in NFD', async () => {
    const mail = await view('folded-unicode-subject');
    expect(mail.subject).toBe('Fwd: 東橫INN 首爾 – reçu 🧾 '.repeat(10).trim());
    expect(mail.text).toBe('Ça va? Der Beleg für Zoë liegt bei: café, naïve, Ångström.'.normalize('NFC'));
    expect(mail.violations).toEqual([]);
    expect(mail.messageId).toBe('<folded@example.org>');
    expect(mail.headers.from).toBe('Anna Berg <anna@example.org>');
  });

  test('public case 15: raw 8-bit header bytes are flagged and read', async () => {
    const utf8 = await view('8bit-header-utf8');
    expect(utf8.violations).toEqual(['8bit_header']);
    expect(utf8.subject).toBe('Reçu n° 1007 – 🧾');
    expect(utf8.headers['x-note']).toBe('façade');
    const latin1 = await view('8bit-header-latin1');
    expect(latin1.violations).toEqual(['8bit_header']);
    expect(latin1.subject).toMatch(/^Re.u 1007$/);
    expect(latin1.text).toBe('Grüße aus Köln');
  });

  test('mail with HTML alone has a text view without its markup', async () => {
    const mail = await view('html-only');
    expect(mail.subject).toBe('Bestätigung');
    expect(mail.text).toMatch(/Hello Mara,\n\nyour refund of 25\.00.EUR is done\./);
    expect(mail.text).toContain('order 1007');
    expect(mail.text).not.toContain('<');
    expect(mail.text).not.toContain('alert');
  });

  test('bare LF and bare CR are flagged; a lone CR makes no header', async () => {
    const lf = await view('bare-lf');
    expect(lf.violations).toEqual(['bare_lf']);
    expect(lf.text).toBe('line one\n.\nline three');
    const cr = await view('bare-cr');
    expect(cr.violations).toEqual(['bare_cr']);
    expect(cr.headers.bcc).toBeUndefined();
    expect(cr.headers.subject).toContain('attacker@evil.test');
  });

  test('attachments are named, measured, and not part of the text', async () => {
    const mail = await view('multipart');
    expect(mail.text).toBe('plain text');
    expect(mail.attachments).toEqual([
      { filename: 'reçu 🧾.pdf', contentType: 'application/pdf', bytes: 9 },
      { filename: null, contentType: 'message/rfc822', bytes: expect.any(Number) },
    ]);
    expect(mail.subject).toBe('papers');
  });

  test('another character set', async () => {
    const mail = await view('iso-2022-jp');
    expect(mail.subject).toBe('領収書の件');
    expect(mail.text).toBe('領収書を送ります。');
  });

  test('every violation is named, and the view can be stored', async () => {
    const mail = await view('many-violations');
    expect(mail.violations).toEqual(['nul_byte', 'long_line', 'malformed_header', 'duplicate_header', 'missing_header']);
    expect(mail.subject).toBe('one');
    expect(mail.headers.subject).toBe('one\ntwo');
    expect(mail.text).toBe('nul \uFFFD here');
  });

  test('repeated headers keep their order, and no name is special', async () => {
    const mail = await view('repeated-headers');
    expect(mail.headers.received).toBe('from a by b\nfrom c by d');
    expect(mail.headers['x-tag']).toBe('café\nsecond');
    expect(Object.keys(mail.headers)).toContain('__proto__');
    expect(mail.headers.date).toBe('Mon, 02 Mar 2026 09:30:00 +0100');
  });

  test('broken MIME keeps its headers', async () => {
    const mail = await view('broken-mime');
    expect(mail.subject).toBe('broken');
    expect(mail.messageId).toBe('<broken@example.org>');
  });

  test('the same bytes give the same view, whatever they are, and it fits PostgreSQL', async () => {
    const line = fc.oneof(
      fc.constantFrom(
        'Subject: x',
        'From: a@b.c',
        'Date: nonsense',
        'Content-Type: multipart/mixed; boundary=B',
        '--B',
        '--B--',
        '',
        '\0',
        '\r',
        'Content-Type: text/html',
      ),
      fc.string({ unit: 'binary', maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 25 }), fc.constantFrom('\r\n', '\n'), async (lines, end) => {
        const raw = Buffer.from(lines.join(end), 'latin1');
        const first = await decodeMail(raw);
        expect(await decodeMail(raw)).toEqual(first);
        expect(JSON.stringify(first)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      }),
      { numRuns: 200 },
    );
  });
});
