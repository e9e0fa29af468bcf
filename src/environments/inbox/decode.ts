import { simpleParser } from 'mailparser';
import type { MailEffect } from '../../domain/effect.ts';

/** What a message says, decoded. */
export type MailView = Pick<MailEffect, 'subject' | 'text' | 'headers' | 'messageId' | 'attachments' | 'violations'>;

/**
 * The decoded view of a message as it was received. Pure: the same bytes give the same view, so a stored message can be decoded again.
 *
 * - Encoded words (RFC 2047) are decoded across folds. All text is Unicode NFC with `\n` line ends, less the one line end that SMTP adds.
 * - Mail with HTML alone gets a text view of it.
 * - `headers` has lower-case names; the values of a repeated header are joined with `\n` in their order. `subject` is the first of its name.
 * - Bytes that are no text (NUL, broken UTF-8) become U+FFFD; the raw message keeps them.
 *
 * `violations`, in this order:
 * `8bit_header` a byte above 127 in the header block (also where SMTPUTF8 would permit it), `bare_cr`, `bare_lf` (RFC 5321, 2.3.8), `nul_byte`,
 * `long_line` more than 998 octets (RFC 5322, 2.1.1), `malformed_header` a header line without a name, `duplicate_header` one that may stand once
 * stands twice, `missing_header` no `From` or no `Date` (RFC 5322, 3.6), `unparsable` the MIME structure could not be read: the text is empty.
 */
export async function decodeMail(raw: Buffer): Promise<MailView> {
  const lines = await headerLines(raw);
  const headers = await decodeHeaders(lines ?? []);
  const violations = [...byteViolations(raw), ...headerViolations(lines)];
  let text = '';
  let attachments: MailView['attachments'] = [];
  try {
    const mail = await simpleParser(raw, PARSER);
    text = mail.text ?? '';
    attachments = mail.attachments.map((part) => ({
      filename: part.filename === undefined ? null : clean(part.filename),
      contentType: clean(part.contentType),
      bytes: part.size,
    }));
  } catch {
    violations.push('unparsable');
  }
  const first = (name: string): string | undefined => headers.find((header) => header.name === name)?.value;
  return {
    subject: first('subject') ?? '',
    text: clean(text).replaceAll('\r\n', '\n').replace(/\n$/, ''),
    headers: byName(headers),
    messageId: first('message-id')?.trim() || null,
    attachments,
    violations,
  };
}

/** Octets up to the empty line that ends the header block, or all of them. */
export function headerBytes(raw: Buffer): number {
  const ends = [raw.indexOf('\r\n\r\n'), raw.indexOf('\n\n')].filter((at) => at >= 0);
  return ends.length === 0 ? raw.length : Math.min(...ends);
}

const PARSER = { skipTextToHtml: true, skipImageLinks: true, keepCidLinks: true, checksumAlgo: false } as const;

/** RFC 5322, 3.6: at most one of each. */
const ONCE = ['date', 'from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'message-id', 'in-reply-to', 'references', 'subject'];

interface HeaderLine {
  /** Lower case; empty where the line has no name. */
  readonly key: string;
  /** Octets as latin1, folds included. */
  readonly line: string;
}

interface Header {
  readonly name: string;
  readonly value: string;
}

async function headerLines(raw: Buffer): Promise<readonly HeaderLine[] | null> {
  try {
    // The body is not wanted here, and a broken body must not lose the headers.
    const mail = await simpleParser(Buffer.concat([raw.subarray(0, headerBytes(raw)), Buffer.from('\r\n\r\n')]), PARSER);
    return mail.headerLines.filter((header) => header.line !== '');
  } catch {
    return null;
  }
}

/** Headers with encoded words that are decoded; more are kept as they stand. */
const MAX_ENCODED = 200;

/**
 * The parser reads a header by what its name means (a date, addresses, a list), decodes encoded words in few of them, and turns an unreadable date
 * into the present. As a `Subject` each is decoded as plain text, and one by one, so that nothing runs together.
 */
async function decodeHeaders(lines: readonly HeaderLine[]): Promise<readonly Header[]> {
  const headers: Header[] = [];
  let encoded = 0;
  for (const { key, line } of lines) {
    if (key === '') continue;
    const octets = Buffer.from(line.slice(line.indexOf(':') + 1), 'latin1');
    const plain = octets
      .toString('utf8')
      .replaceAll(/\r?\n(?=[ \t])/g, '')
      .trim();
    const decodes = plain.includes('=?') && ++encoded <= MAX_ENCODED;
    headers.push({ name: clean(key), value: clean(decodes ? await decodeWords(octets, plain) : plain) });
  }
  return headers;
}

async function decodeWords(octets: Buffer, otherwise: string): Promise<string> {
  try {
    const mail = await simpleParser(Buffer.concat([Buffer.from('Subject:'), octets, Buffer.from('\r\n\r\n')]), PARSER);
    return mail.subject ?? otherwise;
  } catch {
    return otherwise;
  }
}

function byName(headers: readonly Header[]): { readonly [name: string]: string } {
  const values = new Map<string, string>();
  for (const { name, value } of headers) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  return Object.fromEntries(values);
}

/** Storable text: NFC, no NUL (PostgreSQL has none), no lone surrogate. */
function clean(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed().normalize('NFC');
}

function byteViolations(raw: Buffer): string[] {
  const found: string[] = [];
  if (raw.subarray(0, headerBytes(raw)).some((byte) => byte > 127)) found.push('8bit_header');
  const text = raw.toString('latin1');
  if (/\r(?!\n)/.test(text)) found.push('bare_cr');
  if (/(?<!\r)\n/.test(text)) found.push('bare_lf');
  if (raw.includes(0)) found.push('nul_byte');
  if (/[^\r\n]{999}/.test(text)) found.push('long_line');
  return found;
}

function headerViolations(lines: readonly HeaderLine[] | null): string[] {
  if (lines === null) return ['unparsable'];
  const found: string[] = [];
  if (lines.some((header) => header.key === '')) found.push('malformed_header');
  const count = (name: string): number => lines.filter((header) => header.key === name).length;
  if (ONCE.some((name) => count(name) > 1)) found.push('duplicate_header');
  if (count('from') === 0 || count('date') === 0) found.push('missing_header');
  return found;
}
