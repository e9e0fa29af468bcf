import { setTimeout as pause } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { LiveUnreachableError } from '../errors.ts';
import type { MailPort } from './place.ts';

/** A message of a mailbox as it lies there. */
export interface StoredMessage {
  readonly uid: number;
  readonly raw: Buffer;
  /** When the server took it. */
  readonly at: Date;
}

/** A mailbox that is open for reading. */
export interface Mailbox extends AsyncDisposable {
  /** Those that are there now, in the order in which they came, at most 1,000 of at most 2 MiB. */
  messages(): Promise<readonly StoredMessage[]>;
  /** Whether a message of this Message-ID is there, or comes in time. */
  has(messageId: string, withinMs: number): Promise<boolean>;
  /** Removes messages; without a Message-ID all. */
  clear(messageId?: string): Promise<void>;
  /** What the server calls itself, with its version where it tells one. */
  readonly server: string;
}

const MAX_MESSAGES = 1_000;
const MAX_BYTES = 2 * 1024 * 1024;
const PATIENCE_MS = 15_000;
const POLL_MS = 100;

/** Opens the inbox of an account. @throws {LiveUnreachableError} where the server cannot be reached or refuses the account */
export async function openMailbox({ host, port, tls }: MailPort, auth: { readonly user: string; readonly pass: string }): Promise<Mailbox> {
  const client = new ImapFlow({
    host,
    port,
    secure: tls === 'whole',
    ...(tls === 'whole' ? {} : { doSTARTTLS: tls === 'start' }),
    auth,
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  });
  // An error of the connection is told by the call that is under way.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.mailboxOpen('INBOX');
  } catch (error) {
    client.close();
    throw new LiveUnreachableError(`a question to the mail server ${host}:${port}`, error);
  }
  const find = async (messageId: string) => (await client.search({ header: { 'message-id': messageId } }, { uid: true })) || [];
  return {
    server: [client.serverInfo?.name, client.serverInfo?.version].filter((part) => typeof part === 'string').join(' ') || 'IMAP',
    async messages() {
      const found: StoredMessage[] = [];
      const all = (await client.search({ all: true }, { uid: true })) || [];
      if (all.length === 0) return found;
      const query = { uid: true, internalDate: true, source: { start: 0, maxLength: MAX_BYTES } };
      for await (const { uid, source, internalDate } of client.fetch(all.slice(0, MAX_MESSAGES), query, { uid: true }))
        if (source) found.push({ uid, raw: source, at: internalDate ? new Date(internalDate) : new Date(0) });
      return found.toSorted((a, b) => a.uid - b.uid);
    },
    async has(messageId, withinMs) {
      for (const end = Date.now() + withinMs; ; await pause(POLL_MS)) {
        await client.noop();
        if ((await find(messageId)).length > 0) return true;
        if (Date.now() >= end) return false;
      }
    },
    async clear(messageId) {
      const uids = messageId === undefined ? (await client.search({ all: true }, { uid: true })) || [] : await find(messageId);
      if (uids.length > 0) await client.messageDelete(uids, { uid: true });
    },
    async [Symbol.asyncDispose]() {
      await client.logout().catch(() => client.close());
    },
  };
}
