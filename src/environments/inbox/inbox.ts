import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { ServiceDirectory } from '../services.ts';
import { FencedError, WorldGoneError } from '../world.ts';
import type { DeliveryAttempt, RefusalReason, Speaker } from './attempt.ts';
import { authenticate, checkRecipient, checkSender, collect, messageLimit } from './checks.ts';
import { InboxServer } from './connection.ts';
import { headerBytes } from './decode.ts';
import { atLogin, atRecipient, atSender, confirm, cutsMessage, type Ending, messagePlan, storeAsPlanned } from './faults.ts';
import { SmtpReply } from './reply.ts';

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
  /** Host name or address by which clients reach it, where that is not the one that it listens on. */
  readonly advertise?: string | null;
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
 * What a world's fault schedule does to its mails every client of it meets: a refused connection at AUTH, since the world is not known before; the rest at
 * the command that it concerns.
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
        if (!(error instanceof FencedError)) log.warn({ err: error, ...concernOf(speaker), reason }, 'refused delivery attempt not recorded');
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
          .then(async (result) => {
            const ending = result instanceof SmtpReply ? null : await atLogin(result);
            if (ending !== null) {
              end(session, ending, done);
              connectionOf(session)?.close();
            } else if (result instanceof SmtpReply) {
              log.warn({ user: auth.username, reason: result.message }, 'AUTH refused');
              done(countFailure(session) >= AUTH_FAILURES ? new SmtpReply(421, 'Too many failed AUTH commands') : result);
            } else done(null, { user: result });
          })
          .catch((error: unknown) => {
            log.error({ err: error }, 'AUTH failed');
            done(new SmtpReply(454, 'Temporary authentication failure'));
          });
      },
      onMailFrom: (address, session, done) => {
        const speaker = speakerOf(session);
        const refused = checkSender(address, speaker, limits);
        if (refused !== null) done(refused);
        else atSender(speaker).then((ending) => (ending === null ? done() : end(session, ending, done)), fails(session, 'MAIL', done));
      },
      onRcptTo: (address, session, done) => {
        const speaker = speakerOf(session);
        const refused = checkRecipient(address, speaker);
        if (refused !== null) done(refused);
        else atRecipient(speaker, address.address).then((reply) => done(reply), fails(session, 'RCPT', done));
      },
      onData: (stream, session, done) => {
        const speaker = speakerOf(session);
        const attempt = speaker.open;
        speaker.open = null;
        if (attempt === null) {
          done(new SmtpReply(503, 'Error: need MAIL command'));
          return;
        }
        // In the turn after the server has asked for the message: so the client has heard that, and not sent all of it.
        if (cutsMessage(speaker)) process.nextTick(() => hangUp(session));
        void track(
          receive(stream, speaker, attempt).then(
            (reply) => {
              if (reply === 'cut') connectionOf(session)?._socket.destroy();
              else if (reply === 'garbage') connectionOf(session)?._socket.end('25');
              else if (typeof reply === 'string') done(null, reply);
              else done(reply);
            },
            (error: unknown) => {
              log.error({ err: error, ...concernOf(speaker) }, 'outcome of a delivery unknown; connection ended without a reply');
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
    {
      recordRefusal: record,
      // Before the client can notice the cut: whoever asks then must find that a fault did it.
      beforeMessage: async (speaker) => {
        if (!cutsMessage(speaker)) return;
        await confirm(speaker).catch((error: unknown) => log.error({ err: error, ...concernOf(speaker) }, 'an injected fault was not noted'));
      },
    },
  );
  // A client that resets its connection is an 'error' to the library, and of no interest here.
  server.on('error', (error) => log.debug({ err: error }, 'connection error'));

  /** A reply with which the connection ends, or the end alone. */
  const end = (session: SMTPServerSession, ending: Ending, done: (error: Error) => void): void => {
    const connection = connectionOf(session);
    if (ending === 'cut') connection?._socket.destroy();
    else done(ending);
  };
  const fails = (session: SMTPServerSession, command: string, done: (error: Error) => void) => (error: unknown) => {
    log.error({ err: error, ...concernOf(speakerOf(session)), command }, 'fault schedule not asked');
    done(new SmtpReply(451, 'Error: local trouble'));
  };
  /** Ends our side; the client's is given a moment to notice. */
  const hangUp = (session: SMTPServerSession): void => {
    const socket = connectionOf(session)?._socket;
    socket?.end();
    setTimeout(() => socket?.destroy(), HANG_UP_MS).unref();
  };
  const connectionOf = (session: SMTPServerSession) => [...server.connections].find((connection) => connection.id === session.id);

  async function receive(stream: SMTPServerDataStream, speaker: Speaker, attempt: DeliveryAttempt): Promise<string | SmtpReply | 'cut' | 'garbage'> {
    const limit = messageLimit(speaker, limits);
    const { raw, complete, bytes } = await collect(stream, limit, limits.messageBytes * DRAIN_FACTOR);
    if (cutsMessage(speaker)) {
      await record(speaker, attempt, 'connection_lost', raw);
      return 'cut';
    }
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
      const plan = messagePlan(speaker);
      const seq = await storeAsPlanned(speaker, attempt, raw, plan);
      return plan?.reply ?? `OK: stored as ${speaker.service.worldId}-${seq ?? 0}`;
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
    host: options.advertise ?? options.listen,
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
/** Milliseconds in which a client may notice that the connection ends in the middle of its message. */
const HANG_UP_MS = 500;
const AUTH_FAILURES = 3;
const NOTHING = Buffer.alloc(0);

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

/** Whose mail it is, for a line of the log. */
function concernOf({ service, operation }: Speaker): object {
  return { ...service.concerns, ...(operation && { operation: operation.id }) };
}
