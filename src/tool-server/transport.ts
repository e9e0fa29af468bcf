import { randomUUID } from 'node:crypto';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { type Group, headOf, startGroup } from '../processes/group.ts';
import { Lines } from '../processes/lines.ts';

/** Longest message that a server may print; in bytes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Variable of a server's environment by whose value what left its process group is found. */
const MARKER = 'TRIALBED_TOOL_SERVER';
/** Of what it printed, in a message. */
const SHOWN = 200;

export interface ServerProgram {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** All of its environment. */
  readonly env: { readonly [name: string]: string };
}

/**
 * MCP over the standard input and output of a program in a process group of its own. Stricter than the SDK's own: what is no message ends the server, since whoever
 * prints between messages may as well print into one; a message without end is not kept; and nothing of the group is left afterwards, nor when this process dies.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Resolves with why, in words, when the program has ended or is of no use any more. */
  readonly lost: Promise<string>;
  private readonly program: ServerProgram;
  private readonly lose: (why: string) => void;
  private group: Group | null = null;
  private closed = false;
  private readonly mark = randomUUID();
  private readonly lines = new Lines(MAX_MESSAGE_BYTES, {
    line: (text) => {
      if (text.trim() !== '') this.receive(text);
    },
    tooLong: () => this.refuse(`it printed a message of more than ${MAX_MESSAGE_BYTES} bytes`),
  });

  constructor(program: ServerProgram) {
    this.program = program;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.lost = promise;
    this.lose = resolve;
  }

  async start(): Promise<void> {
    const { file, args, folder, env } = this.program;
    const group = await startGroup(file, args, { folder, env: { ...env, [MARKER]: this.mark }, marker: MARKER });
    this.group = group;
    if (this.closed) await group.end();
    const { child } = group;
    const printed = headOf([child.stderr]);
    child.once('error', (error) => this.lose(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      const how = signal ? `it was ended by ${signal}` : `it exited with status ${code}`;
      this.lose(`${how}${printed.text() ? `; it printed: ${printed.text()}` : ''}`);
    });
    child.stdout?.on('data', (chunk: Buffer) => this.lines.read(chunk));
    // Nobody waits any more for what it has not answered.
    void this.lost.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.group?.child.stdin;
    if (!input?.writable) throw new Error('the tool server takes no messages any more');
    await new Promise<void>((resolve, reject) => input.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())));
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.lines.close();
    this.lose('it was ended');
    await this.group?.end();
    this.onclose?.();
  }

  private receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch {
      this.refuse(`it printed what is no message of MCP on its standard output: ${JSON.stringify(line.slice(0, SHOWN))}; logs belong on its standard error`);
      return;
    }
    this.onmessage?.(message);
  }

  private refuse(why: string): void {
    this.lose(why);
    void this.close();
  }
}
