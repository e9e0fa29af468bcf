import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import { DeliveryAttempt, type RefusalReason, type Speaker } from './attempt.ts';

/** Records an attempt that ended without a message. Never rejects. */
export type RecordRefusal = (speaker: Speaker, attempt: DeliveryAttempt, reason: RefusalReason) => Promise<void>;

/** Called when a message is about to be asked for. Never rejects. */
export type BeforeMessage = (speaker: Speaker) => Promise<void>;

/** RCPT commands in one transaction, refused ones included; the connection ends at the next. */
const MAX_RCPT_COMMANDS = 1_000;

/** The library's server, which notes what each command was answered: its own hooks see only the commands that pass its checks. */
export class InboxServer extends SMTPServer {
  readonly recordRefusal: RecordRefusal;
  readonly beforeMessage: BeforeMessage;

  constructor(options: SMTPServerOptions, hooks: { readonly recordRefusal: RecordRefusal; readonly beforeMessage: BeforeMessage }) {
    super(options);
    this.recordRefusal = hooks.recordRefusal;
    this.beforeMessage = hooks.beforeMessage;
  }

  override connect(socket: Socket | TLSSocket, options?: SMTPConnectionOptions | null): void {
    const connection = new InboxConnection(this, socket, options ?? null);
    this.connections.add(connection);
    connection.on('error', (error: Error) => this._onError(error));
    connection.init();
  }
}

type Handler = (command: Buffer, callback: () => void) => void;

/**
 * An attempt that ended without a message is stored before its reply is sent, so that whoever has the reply finds the record.
 */
class InboxConnection extends SMTPConnection {
  readonly #record: RecordRefusal;
  readonly #beforeMessage: BeforeMessage;
  #lastCode = 0;

  constructor(server: InboxServer, socket: Socket | TLSSocket, options: SMTPConnectionOptions | null) {
    super(server, socket, options);
    this.#record = server.recordRefusal;
    this.#beforeMessage = server.beforeMessage;
  }

  /** As the library's, without its pause of 100 ms for clients that talk too soon: there is no spam here, and every mail is a connection. */
  override init(): void {
    this._setListeners(() => {
      const limit = this._server.options.maxClients ?? Number.POSITIVE_INFINITY;
      if (this._server.connections.size > limit) this.send(421, `${this.name} Too many connected clients, try again in a moment`, false);
      else this.connectionReady();
    });
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    this.#lastCode = code;
    super.send(code, data, context);
  }

  override handler_MAIL(command: Buffer, callback: () => void): void {
    const nested = Boolean(this.session.envelope.mailFrom);
    const begin: Handler = (line, done) => {
      super.handler_MAIL(line, () => {
        const speaker = this.#speaker();
        if (speaker !== null && !nested) speaker.open = new DeliveryAttempt(this.#address('mail from', line), this.#lastCode);
        done();
      });
    };
    if (nested) begin(command, callback);
    else this.#afterRecording(begin, command, callback);
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    const attempt = this.#speaker()?.open ?? null;
    if (attempt !== null && attempt.commands >= MAX_RCPT_COMMANDS) {
      this.send(421, 'Error: too many recipients, closing connection', 'TOO_MANY_RECIPIENTS');
      callback();
      return;
    }
    super.handler_RCPT(command, () => {
      attempt?.answered(this.#address('rcpt to', command), this.#lastCode);
      callback();
    });
  }

  override handler_DATA(command: Buffer, callback: () => void): void {
    const data: Handler = (line, done) => super.handler_DATA(line, done);
    const speaker = this.#speaker();
    if (this.session.envelope.rcptTo.length > 0) {
      if (speaker === null) data(command, callback);
      else void this.#beforeMessage(speaker).then(() => data(command, callback));
      return;
    }
    const attempt = speaker?.open ?? null;
    this.#afterRecording(data, command, callback);
    if (speaker !== null && attempt !== null && this.session.envelope.mailFrom) speaker.open = attempt.again();
  }

  override handler_RSET(command: Buffer, callback: () => void): void {
    this.#afterRecording((line, done) => super.handler_RSET(line, done), command, callback);
  }

  override handler_QUIT(command: Buffer, callback: () => void): void {
    this.#afterRecording((line, done) => super.handler_QUIT(line, done), command, callback);
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#afterRecording((line, done) => super.handler_EHLO(line, done), command, callback);
  }

  override handler_HELO(command: Buffer, callback: () => void): void {
    this.#afterRecording((line, done) => super.handler_HELO(line, done), command, callback);
  }

  #afterRecording(handler: Handler, command: Buffer, callback: () => void): void {
    const speaker = this.#speaker();
    const attempt = speaker?.open ?? null;
    if (speaker !== null) speaker.open = null;
    if (speaker === null || attempt === null || attempt.empty) {
      handler(command, callback);
      return;
    }
    void this.#record(speaker, attempt, attempt.refusal()).then(() => handler(command, callback));
  }

  /** The parsed address; what stands in its place where the server finds none. */
  #address(name: string, command: Buffer): string {
    const parsed = this._parseAddressCommand(name, command);
    if (parsed !== false) return parsed.address;
    const line = command.toString();
    return line
      .slice(line.indexOf(':') + 1)
      .trim()
      .toWellFormed()
      .replaceAll(/\p{Cc}/gu, '\uFFFD')
      .slice(0, 1_000);
  }

  #speaker(): Speaker | null {
    const user: unknown = this.session.user;
    return typeof user === 'object' && user !== null ? (user as Speaker) : null;
  }
}
