import { connect } from 'node:net';
import type { MailPort } from './place.ts';

const PATIENCE_MS = 5_000;

/** What an SMTP server calls itself when it greets, as far as it does; null where it cannot be heard without TLS, or says nothing. */
export function greeting({ host, port, tls }: MailPort): Promise<string | null> {
  if (tls === 'whole') return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: PATIENCE_MS });
    const end = (said: string | null) => {
      socket.end('QUIT\r\n');
      socket.destroySoon();
      resolve(said);
    };
    socket.once('data', (chunk) => end(/^220[ -]\S+ (?:E?SMTP )?([\w .()-]{1,100})/.exec(chunk.toString('latin1'))?.[1]?.trim() ?? null));
    socket.once('timeout', () => end(null));
    socket.once('error', () => end(null));
  });
}
