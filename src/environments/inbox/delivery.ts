import { Readable } from 'node:stream';
import addressparser from 'nodemailer/lib/addressparser';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { type OutgoingMail, ToolFailure } from '../define.ts';

/** How far a delivery has come. The mail can exist once `final_dot` is reached, and not before. */
export type MailPhase = 'connect' | 'recipients' | 'data' | 'final_dot';

/** Where a mail is handed in, and as whom. */
export interface Submission {
  readonly host: string;
  readonly port: number;
  /** `none`: in the clear. `start`: STARTTLS, or nothing is sent. `whole`: TLS from the first byte. */
  readonly tls: 'none' | 'start' | 'whole';
  readonly user: string;
  readonly password: string;
}

export interface DeliveryOptions {
  /** Ends a delivery in progress: as a failure before the final dot, of unknown outcome after it. */
  readonly signal?: AbortSignal;
  /**
   * Called on reaching each phase: `connect` before the connection, `recipients` before the envelope, `data` when half of the message is sent,
   * `final_dot` when the mail is stored and its reply is due. If it throws, the connection is cut there and what it threw is the cause.
   * For fault schedules.
   */
  readonly checkpoint?: (phase: MailPhase) => void | Promise<void>;
  /** Milliseconds without a reply. Default 60,000. */
  readonly timeoutMs?: number;
}

/** The server may have stored the mail. Whether it did stands in the world's inbox, under this Message-ID. */
export class MailOutcomeUnknownError extends Error {
  override readonly name = 'MailOutcomeUnknownError';
  readonly code = 'mail_outcome_unknown';
  readonly messageId: string;

  constructor(messageId: string, cause: unknown) {
    super(`no reply after the final dot of ${messageId}; the operation is unknown until the inbox is asked`, { cause });
    this.messageId = messageId;
  }
}

/** A mail with its envelope. */
export interface Message {
  readonly messageId: string;
  readonly from: string;
  readonly recipients: readonly string[];
  readonly raw: Buffer;
}

/** Each entry of `to`, `cc`, `bcc` is exactly one mailbox. @throws {ToolFailure} `mail_refused` where one is not */
export async function compose(mail: OutgoingMail, messageId: string, now: Date): Promise<Message> {
  const recipients = [...mail.to, ...(mail.cc ?? []), ...(mail.bcc ?? [])].map(oneMailbox);
  if (recipients.length === 0) throw new ToolFailure('mail_refused', 'the mail has no recipient');
  const from = oneMailbox(mail.from);
  if (mail.replyTo !== undefined) oneMailbox(mail.replyTo);
  const node = new MailComposer({
    from: mail.from,
    to: [...mail.to],
    cc: [...(mail.cc ?? [])],
    ...(mail.replyTo === undefined ? {} : { replyTo: mail.replyTo }),
    subject: mail.subject,
    text: mail.text,
    messageId,
    date: now,
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  return { messageId, from, recipients: [...new Set(recipients)], raw: await node.build() };
}

/** Parsed by the parser that also writes the headers, so that envelope and header cannot disagree. */
function oneMailbox(text: string): string {
  const parsed = addressparser(text);
  const only = parsed[0];
  if (parsed.length !== 1 || only === undefined || !('address' in only) || !only.address || !/^[^\s<>@]+@[^\s<>@]+$/.test(only.address)) {
    throw new ToolFailure('mail_refused', `${JSON.stringify(text)} is not the address of one mailbox; nothing was sent`);
  }
  return only.address;
}

/**
 * One message, one connection, one try; all recipients or none.
 * @throws {ToolFailure} when no mail can exist: `mail_refused` the server said no for good, `mail_unavailable` it could not be reached, said not now (4xx), or the connection
 * was lost before the final dot. @throws {MailOutcomeUnknownError} when it was lost after that.
 */
export async function deliver(message: Message, at: Submission, options: DeliveryOptions = {}): Promise<void> {
  const timeout = options.timeoutMs ?? 60_000;
  const connection = new SMTPConnection({
    host: at.host,
    port: at.port,
    name: 'tools.trialbed.invalid',
    secure: at.tls === 'whole',
    requireTLS: at.tls === 'start',
    ignoreTLS: at.tls === 'none',
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    logger: false,
  });
  let phase: MailPhase = 'connect';
  const reach = async (next: MailPhase): Promise<void> => {
    phase = next;
    await options.checkpoint?.(next);
    options.signal?.throwIfAborted();
  };
  // An error of the socket comes as an event, whatever call is waiting.
  let gone = false;
  let fail: (error: unknown) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    fail = (error) => {
      gone = true;
      reject(error);
    };
  });
  lost.catch(() => undefined);
  const abort = () => fail(options.signal?.reason);
  connection.on('error', fail);
  connection.on('end', () => fail(new Error('the server ended the connection')));
  options.signal?.addEventListener('abort', abort, { once: true });
  const step = (start: (done: (error?: Error | null) => void) => void): Promise<void> =>
    Promise.race([new Promise<void>((resolve, reject) => start((error) => (error ? reject(error) : resolve()))), lost]);

  try {
    await reach('connect');
    await step((done) => connection.connect(done));
    await step((done) => connection.login({ credentials: { user: at.user, pass: at.password } }, done));
    await reach('recipients');
    // The library notes the refused recipients in the envelope that it was given.
    const envelope: { from: string; to: string[]; size: number; rejected?: readonly string[]; rejectedErrors?: readonly Error[] } = {
      from: message.from,
      to: [...message.recipients],
      size: message.raw.length,
    };
    async function* body(): AsyncGenerator<Buffer> {
      const refusal = envelope.rejectedErrors?.[0];
      if (refusal !== undefined) throw refusal;
      const half = Math.floor(message.raw.length / 2);
      yield* pieces(message.raw.subarray(0, half));
      await reach('data');
      // A connection that ends here is noticed before the final dot can be on its way: then no mail exists.
      for (let turns = 0; turns < TURNS; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      if (gone) throw new Error('the connection was lost');
      yield* pieces(message.raw.subarray(half));
      phase = 'final_dot';
    }
    await step((done) => connection.send(envelope, Readable.from(body(), { objectMode: false, highWaterMark: PIECE }), done));
    await reach('final_dot');
  } catch (error) {
    throw outcome(error, phase, message.messageId);
  } finally {
    options.signal?.removeEventListener('abort', abort);
    connection.close();
  }
}

const PIECE = 16 * 1024;
/** Of the event loop, between the halves of a message. */
const TURNS = 4;

function* pieces(buffer: Buffer): Generator<Buffer> {
  for (let at = 0; at < buffer.length; at += PIECE) yield buffer.subarray(at, at + PIECE);
}

function outcome(error: unknown, phase: MailPhase, messageId: string): Error {
  const { responseCode, code, message } = smtpError(error);
  // After the final dot only the reply to the message itself settles it: a 421 can be the server's shutting down with the mail stored.
  if (phase === 'final_dot' && (code !== 'EMESSAGE' || responseCode === undefined)) return new MailOutcomeUnknownError(messageId, error);
  const permanent = responseCode !== undefined && responseCode >= 500;
  const failure = new ToolFailure(permanent ? 'mail_refused' : 'mail_unavailable', `the mail was not sent: ${message}`);
  failure.cause = error;
  return failure;
}

function smtpError(error: unknown): { readonly responseCode: number | undefined; readonly code: unknown; readonly message: string } {
  if (!(error instanceof Error)) return { responseCode: undefined, code: undefined, message: String(error) };
  const responseCode = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined;
  return { responseCode, code: 'code' in error ? error.code : undefined, message: error.message };
}
