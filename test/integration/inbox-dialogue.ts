import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

export interface Reply {
  readonly code: number;
  readonly text: string;
}

/** An SMTP client that says what it is told, right or wrong. */
export class Dialogue implements AsyncDisposable {
  readonly socket: Socket;
  readonly #lines: AsyncIterator<string>;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    this.#lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  /** Says nothing, and has not read the greeting. */
  static async connect(address: { readonly host: string; readonly port: number }): Promise<Dialogue> {
    return new Dialogue(connect(address.port, address.host));
  }

  /** Reads the greeting and says EHLO. */
  static async open(address: { readonly host: string; readonly port: number }): Promise<Dialogue> {
    const dialogue = await Dialogue.connect(address);
    await dialogue.reply();
    await dialogue.say('EHLO client.example');
    return dialogue;
  }

  /** Says EHLO and logs in. */
  static async login(address: { readonly host: string; readonly port: number }, user: string, secret: string): Promise<Dialogue> {
    const dialogue = await Dialogue.open(address);
    const reply = await dialogue.auth(user, secret);
    if (reply.code !== 235) throw new Error(`AUTH: ${reply.code} ${reply.text}`);
    return dialogue;
  }

  async auth(user: string, secret: string): Promise<Reply> {
    return this.say(`AUTH PLAIN ${Buffer.from(`\0${user}\0${secret}`).toString('base64')}`);
  }

  /** Bytes without a line end of their own. */
  write(text: string | Buffer): void {
    this.socket.write(text);
  }

  async say(line: string): Promise<Reply> {
    this.write(`${line}\r\n`);
    return this.reply();
  }

  /** Code 0 when the connection has ended. */
  async reply(): Promise<Reply> {
    let text = '';
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) return { code: 0, text };
      text += `${value.slice(4)}\n`;
      if (value[3] !== '-') return { code: Number(value.slice(0, 3)), text };
    }
  }

  /** Envelope and message; dots are not stuffed. Returns the reply to the final dot. */
  async mail(from: string, recipients: readonly string[], message: string | Buffer): Promise<Reply> {
    await this.envelope(from, recipients);
    this.write(message);
    return this.say('\r\n.');
  }

  async envelope(from: string, recipients: readonly string[]): Promise<Reply> {
    await this.say(`MAIL FROM:<${from}>`);
    for (const recipient of recipients) await this.say(`RCPT TO:<${recipient}>`);
    return this.say('DATA');
  }

  /** Closes without QUIT, and waits until the socket is closed. */
  async drop(): Promise<void> {
    if (this.socket.closed) return;
    const closed = new Promise<void>((resolve) => this.socket.once('close', () => resolve()));
    this.socket.end();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
  }
}
