import type { Submission } from '../../environments/inbox/delivery.ts';
import { isLoopback } from '../../domain/loopback.ts';
import { LiveServiceError } from '../errors.ts';

/** A port of a mail server, and how it is spoken to. */
export type MailPort = Pick<Submission, 'host' | 'port' | 'tls'>;

/** Where a mail server takes mails, and where they are read. */
export interface MailPlace {
  readonly submission: MailPort;
  readonly reading: MailPort;
  /** Below it each trial has a domain of its own. */
  readonly domain: string;
}

/**
 * Reads `smtp://HOST:PORT?imap=imap://HOST:PORT&domain=DOMAIN`; the schemes `smtps` and `imaps` are TLS from the first byte. By `smtp` and `imap` a server on another machine has to
 * offer STARTTLS: passwords go in the clear to this machine alone. Ports have their usual numbers by default, IMAP the host of SMTP, and the domain is `trials.test`.
 *
 * @throws {LiveServiceError} for an address that cannot be read so
 */
export function mailPlace(address: string): MailPlace {
  const url = parsed(address, { smtp: 587, smtps: 465 });
  const { searchParams } = new URL(address);
  const imap = searchParams.get('imap');
  const domain = (searchParams.get('domain') ?? 'trials.test').toLowerCase();
  if (!/^([a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}$/.test(domain))
    throw refused(address, `domain is ${JSON.stringify(domain)}; expected one such as trials.example.com`);
  return { submission: url, reading: imap === null ? { ...url, port: url.tls === 'whole' ? 993 : 143 } : parsed(imap, { imap: 143, imaps: 993 }), domain };
}

function parsed(address: string, schemes: { readonly [scheme: string]: number }): MailPort {
  const url = URL.canParse(address) ? new URL(address) : null;
  const scheme = url?.protocol.slice(0, -1) ?? '';
  const usual = schemes[scheme];
  if (!url || usual === undefined || url.hostname === '')
    throw refused(address, `expected an address that begins with ${Object.keys(schemes).join(':// or ')}://`);
  if (url.username !== '' || url.password !== '') throw refused(address, 'an address holds no password');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(url.port || usual), tls: scheme.endsWith('s') ? 'whole' : isLoopback(host) ? 'none' : 'start' };
}

function refused(address: string, problem: string): LiveServiceError {
  return new LiveServiceError(`the address of the mail server, ${JSON.stringify(address.replace(/\/\/[^@/]*@/, '//'))}`, problem);
}
