import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { ServiceDirectory } from '../services.ts';
import { FencedError, WorldGoneError } from '../world.ts';
import { parseAccount } from './account.ts';
import { type DeliveryAttempt, mailboxKey, type RefusalReason, type Speaker } from './attempt.ts';
import { InboxServer } from './connection.ts';
import { headerBytes } from './decode.ts';

/** One SMTP server for all worlds. */
export interface Inbox {
  readonly host: string;
  readonly port: number;
}

export interface InboxLimits {
  /** Largest message that any world may accept; announced as SIZE. A world's own limit is `inbox.maxBytes` of its environment. Default 25 MiB. */
  readonly messageBytes: number;
  /** Default 256 KiB. */
  readonly headerBytes: number;
  /** Accepted recipients of one message; more are answered 452. Default 100. */
  readonly recipients: number;
  /** Connections at once; more are answered 421. Default 500. */
  readonly connections: number;
  /** Milliseconds without input after which a connection ends with 421. Default 60,000. */
  readonly idleMs: number;
}

export interface InboxServerOptions {
  readonly directory: ServiceDirectory;
  /** Address. AUTH is offered without TLS, so this is loopback or a network of one's own. */
  readonly listen: string;
  /** Default 0: a free one. */
  readonly port?: number;
  readonly log: Logger;
  readonly limits?: Partial<InboxLimits>;
}

/**
 * Starts the inbox: SMTP with AUTH PLAIN or LOGIN, PIPELINING, 8BITMIME, SMTPUTF8, SIZE.
 *
 * The user name is the world's id, or `<world>+<operation>.<attempt>`, which only the tool secret permits (535 otherwise). Every delivery attempt
 * after AUTH is stored in its world, refused ones too (`accepted: false`, `refused:<reason>` among the violations).
 *
 * Replies at the final dot: 250 stored; 552 too large; 550 the world is fenced (permanent, since the world never opens again: a client that queues
 * on 4xx would try for ever); the connection ends without a reply when the database did not answer, since the mail may have been stored and either
 * reply could be a lie.
 *
 * @throws when the address cannot be listened on.
 */
export async function startInbox(options: InboxServerOptions): Promise<Inbox & AsyncDisposable> {
  const limits = { ...INBOX_LIMITS, ...options.limits };
  const log = options.log.child({ service: 'inbox' });
  const tasks = new Set<Promise<void>>();
  const track = (work: Promise<void>): Promise<void> => {
    const task = work.finally(() => tasks.delete(task));
    tasks.add(task);
    return task;
  };
  const record = (speaker: Speaker, attempt: DeliveryAttempt, reason: RefusalReason, raw: Buffer = NOTHING): Promise<void> =>
    track(
      attempt.refuse(speaker, raw, reason).catch((error: unknown) => {
        if (!(error instanceof FencedError)) log.warn({ err: error, world: speaker.service.worldId, reason }, 'refused delivery attempt not recorded');
      }),
    );

  const server = new InboxServer(
    {
      name: 'inbox.trialbed.invalid',
      banner: 'trialbed',
      logger: false,
      authMethods: ['PLAIN', 'LOGIN'],
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      size: limits.messageBytes,
      maxRecipients: limits.recipients,
      maxClients: limits.connections,
      socketTimeout: limits.idleMs,
      closeTimeout: CLOSE_MS,
      onAuth: (auth, session, done) => {
        authenticate(options.directory, auth.username ?? '', auth.password ?? '')
          .then((result) => {
            if (result instanceof SmtpReply) {
              log.warn({ user: auth.username, reason: result.message }, 'AUTH refused');
              done(countFailure(session) >= AUTH_FAILURES ? new SmtpReply(421, 'Too many failed AUTH commands') : result);
            } else done(null, { user: result });
          })
          .catch((error: unknown) => {
            log.error({ err: error }, 'AUTH failed');
            done(new SmtpReply(454, 'Temporary authentication failure'));
          });
      },
      onMailFrom: (address, session, done) => done(checkSender(address, speakerOf(session), limits)),
      onRcptTo: (address, session, done) => done(checkRecipient(address, speakerOf(session))),
      onData: (stream, session, done) => {
        const speaker = speakerOf(session);
        const attempt = speaker.open;
        speaker.open = null;
        if (attempt === null) {
          done(new SmtpReply(503, 'Error: need MAIL command'));
          return;
        }
        void track(
          receive(stream, speaker, attempt).then(
            (reply) => (typeof reply === 'string' ? done(null, reply) : done(reply)),
            (error: unknown) => {
              log.error({ err: error, world: speaker.service.worldId }, 'outcome of a delivery unknown; connection ended without a reply');
              connectionOf(session)?._socket.destroy();
            },
          ),
        );
      },
      onClose: (session) => {
        const speaker: Speaker | undefined = session.user;
        const attempt = speaker?.open;
        if (speaker === undefined || !attempt) return;
        speaker.open = null;
        if (attempt.empty) return;
        const refusal = attempt.refusal();
        void record(speaker, attempt, refusal === 'abandoned' ? 'connection_lost' : refusal);
      },
    },
    record,
  );
  // A client that resets its connection is an 'error' to the library, and of no interest here.
  server.on('error', (error) => log.debug({ err: error }, 'connection error'));

  const connectionOf = (session: SMTPServerSession) => [...server.connections].find((connection) => connection.id === session.id);

  async function receive(stream: SMTPServerDataStream, speaker: Speaker, attempt: DeliveryAttempt): Promise<string | SmtpReply> {
    const limit = messageLimit(speaker, limits);
    const { raw, complete, bytes } = await collect(stream, limit, limits.messageBytes * DRAIN_FACTOR);
    if (!complete) {
      await record(speaker, attempt, bytes > limit ? 'message_too_large' : 'connection_lost', raw);
      return new SmtpReply(421, 'Error: message not received in full');
    }
    if (bytes > limit) {
      await record(speaker, attempt, 'message_too_large', raw);
      return new SmtpReply(552, `Error: message exceeds the limit of ${limit} bytes`);
    }
    if (headerBytes(raw) > limits.headerBytes) {
      await record(speaker, attempt, 'header_too_large', raw.subarray(0, limits.headerBytes));
      return new SmtpReply(552, `Error: header exceeds the limit of ${limits.headerBytes} bytes`);
    }
    try {
      const { seq } = await attempt.accept(speaker, raw);
      return `OK: stored as ${speaker.service.worldId}-${seq}`;
    } catch (error) {
      if (error instanceof FencedError) return new SmtpReply(550, 'Error: this world, or this attempt of the operation, is closed; the message is refused');
      if (error instanceof WorldGoneError) return new SmtpReply(550, 'Error: this world no longer exists, the message is refused');
      throw error;
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port ?? 0, options.listen, () => {
      server.server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.server.address() as AddressInfo;
  log.info({ host: options.listen, port }, 'inbox listens');

  return {
    host: options.listen,
    port,
    async [Symbol.asyncDispose]() {
      const open = [...server.connections];
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const connection of open) if (connection._dataStream === false) connection.close();
      });
      await Promise.all(open.map(({ _socket: socket }) => socket.closed || new Promise((resolve) => socket.once('close', resolve).destroy())));
      // What a lost connection leaves to record comes in the turn after its close.
      await new Promise((resolve) => setImmediate(resolve));
      while (tasks.size > 0) await Promise.all(tasks);
    },
  };
}

const INBOX_LIMITS: InboxLimits = {
  messageBytes: 25 * 1024 * 1024,
  headerBytes: 256 * 1024,
  recipients: 100,
  connections: 500,
  idleMs: 60_000,
};

/** Milliseconds that a message in progress gets when the server closes. */
const CLOSE_MS = 2_000;
/** A message too large is read on (so that the client hears 552) up to this many times the largest; then the connection ends. */
const DRAIN_FACTOR = 4;
const AUTH_FAILURES = 3;
const DEFAULT_MESSAGE_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

class SmtpReply extends Error {
  override readonly name = 'SmtpReply';
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

async function authenticate(directory: ServiceDirectory, user: string, secret: string): Promise<Speaker | SmtpReply> {
  const account = parseAccount(user);
  const service = account === null ? null : await directory.authenticate(account.world, secret);
  if (account === null || service === null) return new SmtpReply(535, 'Error: Authentication credentials invalid');
  if (account.operation !== null && !service.trusted) return new SmtpReply(535, 'Error: this secret may not speak for an operation');
  if (service.environment.inbox === null) return new SmtpReply(535, 'Error: this world has no inbox');
  return { service, operation: account.operation, open: null };
}

const failures = new WeakMap<SMTPServerSession, number>();

function countFailure(session: SMTPServerSession): number {
  const count = (failures.get(session) ?? 0) + 1;
  failures.set(session, count);
  return count;
}

/** AUTH is required, so every later command has its speaker. */
function speakerOf(session: SMTPServerSession): Speaker {
  return session.user;
}

function messageLimit(speaker: Speaker, limits: InboxLimits): number {
  return Math.min(speaker.service.environment.inbox?.maxBytes ?? DEFAULT_MESSAGE_BYTES, limits.messageBytes);
}

function checkSender(address: SMTPServerAddress, speaker: Speaker, limits: InboxLimits): SmtpReply | null {
  const declared = address.args ? Number(address.args.SIZE ?? 0) : 0;
  const limit = messageLimit(speaker, limits);
  return declared > limit ? new SmtpReply(552, `Error: message exceeds the limit of ${limit} bytes`) : null;
}

function checkRecipient(address: SMTPServerAddress, speaker: Speaker): SmtpReply | null {
  const recipients = speaker.service.environment.inbox?.recipients ?? 'any';
  if (recipients === 'any' || recipients.known.some((known) => mailboxKey(known) === mailboxKey(address.address))) return null;
  return new SmtpReply(550, 'Error: no such mailbox here');
}

/** Keeps at most `keep` bytes and reads on, up to `drain` bytes. `complete`: the final dot came. */
async function collect(stream: SMTPServerDataStream, keep: number, drain: number): Promise<{ raw: Buffer; bytes: number; complete: boolean }> {
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
