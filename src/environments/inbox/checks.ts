import type { SMTPServerAddress, SMTPServerDataStream } from 'smtp-server';
import type { ServiceDirectory } from '../services.ts';
import { parseAccount } from './account.ts';
import { mailboxKey, type Speaker } from './attempt.ts';
import { SmtpReply } from './reply.ts';

const DEFAULT_MESSAGE_BYTES = 1024 * 1024;

export async function authenticate(directory: ServiceDirectory, user: string, secret: string): Promise<Speaker | SmtpReply> {
  const account = parseAccount(user);
  const service = account === null ? null : await directory.authenticate(account.world, secret);
  if (account === null || service === null) return new SmtpReply(535, 'Error: Authentication credentials invalid');
  if (account.operation !== null && !service.trusted) return new SmtpReply(535, 'Error: this secret may not speak for an operation');
  if (service.environment.inbox === null) return new SmtpReply(535, 'Error: this world has no inbox');
  return { service, operation: account.operation, open: null, number: null, met: null };
}

export function messageLimit(speaker: Speaker, limits: { readonly messageBytes: number }): number {
  return Math.min(speaker.service.environment.inbox?.maxBytes ?? DEFAULT_MESSAGE_BYTES, limits.messageBytes);
}

export function checkSender(address: SMTPServerAddress, speaker: Speaker, limits: { readonly messageBytes: number }): SmtpReply | null {
  const declared = address.args ? Number(address.args.SIZE ?? 0) : 0;
  const limit = messageLimit(speaker, limits);
  return declared > limit ? new SmtpReply(552, `Error: message exceeds the limit of ${limit} bytes`) : null;
}

export function checkRecipient(address: SMTPServerAddress, speaker: Speaker): SmtpReply | null {
  const recipients = speaker.service.environment.inbox?.recipients ?? 'any';
  if (recipients === 'any' || recipients.known.some((known) => mailboxKey(known) === mailboxKey(address.address))) return null;
  return new SmtpReply(550, 'Error: no such mailbox here');
}

/** Keeps at most `keep` bytes and reads on, up to `drain` bytes. `complete`: the final dot came. */
export async function collect(stream: SMTPServerDataStream, keep: number, drain: number): Promise<{ raw: Buffer; bytes: number; complete: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let complete = true;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (bytes < keep) chunks.push(chunk.subarray(0, keep - bytes));
      bytes += chunk.length;
      if (bytes > drain) {
        complete = false;
        break;
      }
    }
  } catch {
    complete = false;
  }
  return { raw: Buffer.concat(chunks), bytes, complete };
}
