import type { MailEffect } from '../../domain/effect.ts';
import { decodeMail } from '../../environments/inbox/decode.ts';
import { written } from './addresses.ts';
import type { StoredMessage } from './mailbox.ts';

/** One mail as it arrived: a copy for each recipient is one delivery. */
export type Arrival = Omit<MailEffect, 'operation' | 'seq'>;

export interface ReadOptions {
  /** The trial's. */
  readonly domain: string;
  /** What the case's clock is before real time. */
  readonly shiftMs: number;
}

/** Headers that servers write in front of a message. */
const TRACE = /^(return-path|received|delivered-to|x-original-to|authentication-results|received-spf|dkim-signature)$/;

/**
 * What a trial's account has sent, as the copies in its mailbox show it, in the order of their arrival. What somebody else sent there is left out: the envelope's sender tells, which the
 * server holds against the account. A mail that was handed in twice is there twice, with one Message-ID.
 */
export async function readArrivals(messages: readonly StoredMessage[], { domain, shiftMs }: ReadOptions): Promise<readonly Arrival[]> {
  const arrivals = new Map<string, { first: StoredMessage; message: Buffer; from: string; recipients: string[] }>();
  for (const stored of messages) {
    const { trace, message } = withoutTrace(stored.raw);
    const from = written(addressIn(first(trace, 'return-path')), domain);
    const to = written(addressIn(first(trace, 'delivered-to') ?? first(trace, 'x-original-to')), domain);
    if (from === null || to === null) continue;
    // The hop next to the message is the one by which it was handed in: its id is of that one delivery.
    const handedIn = trace.findLast(({ name }) => name === 'received')?.value ?? String(stored.uid);
    const known = arrivals.get(idOf(handedIn));
    if (known) known.recipients.push(to);
    else arrivals.set(idOf(handedIn), { first: stored, message, from, recipients: [to] });
  }
  return Promise.all(
    [...arrivals.values()].map(async ({ first: stored, message, from, recipients }) => ({
      kind: 'mail' as const,
      accepted: true,
      from,
      recipients: [...new Set(recipients)].map((address) => ({ address, code: 250 })),
      ...(await decodeMail(message)),
      at: new Date(stored.at.getTime() + shiftMs).toISOString(),
    })),
  );
}

interface Header {
  /** Lower case. */
  readonly name: string;
  readonly value: string;
}

/** The message as it was handed in, and what servers have put in front of it. */
function withoutTrace(raw: Buffer): { readonly trace: readonly Header[]; readonly message: Buffer } {
  const trace: Header[] = [];
  let at = 0;
  for (;;) {
    const end = endOfHeader(raw, at);
    const [, name = '', value = ''] = /^([!-9;-~]+):([\s\S]*)$/.exec(raw.toString('latin1', at, end)) ?? [];
    if (!TRACE.test(name.toLowerCase())) return { trace, message: raw.subarray(at) };
    trace.push({ name: name.toLowerCase(), value: value.replaceAll(/\r?\n(?=[ \t])/g, '').trim() });
    at = end;
  }
}

/** Where the header ends that begins here, its folded lines included. */
function endOfHeader(raw: Buffer, from: number): number {
  for (let at = from; ; ) {
    const end = raw.indexOf(0x0a, at);
    if (end < 0) return raw.length;
    at = end + 1;
    if (raw[at] !== 0x20 && raw[at] !== 0x09) return at;
  }
}

function first(headers: readonly Header[], name: string): string | undefined {
  return headers.find((header) => header.name === name)?.value;
}

function addressIn(value = ''): string {
  return value.replace(/^<|>$/g, '');
}

function idOf(received: string): string {
  return /\bid\s+([^\s;]+)/.exec(received)?.[1] ?? received;
}
