import { resolve } from 'node:path';
import { styleText } from 'node:util';
import type { Trialbed } from '../client/api.ts';
import type { Checks } from '../client/check.ts';
import { plainText } from '../report/plain-text.ts';

/** What the client is made from. */
export interface ConnectSettings {
  readonly home?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Hears, line by line, what takes long (a download, a server that starts). */
  readonly log?: (line: string) => void;
  /** Default `needed`. */
  readonly temporal?: 'needed' | 'optional';
}

/** What a command uses of the process that it runs in. The real one is made in `main.ts`; tests make their own. */
export interface Host {
  readonly out: Stream;
  readonly err: Stream;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  connect(settings: ConnectSettings): Promise<Trialbed>;
  /** What can be refused before any service is started. */
  readonly checks: Checks;
  /** Calls `listener` for SIGINT and SIGTERM until the subscription is disposed. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): Disposable;
  /** Asks the person at the terminal; null: the question was broken off. Absent: nobody can be asked. */
  ask?(question: string): Promise<string | null>;
  /** Takes single keys from the terminal until it is disposed. Absent: nobody can press one. */
  keys?(): Keys;
  /** Ends the process at once, for a second Ctrl-C. */
  kill(code: number): void;
}

/** Keys as they are pressed. */
export interface Keys extends Disposable {
  /** The next key: a letter as a small one, a digit, or a name such as `return`. Null: Ctrl-C, or the terminal is gone. */
  next(): Promise<string | null>;
}

/** The part of a standard stream that commands use. */
export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** Of a terminal: honours NO_COLOR and TERM. */
  hasColors?(): boolean;
}

/** Options that every command has. */
export interface CommonFlags {
  readonly json?: true;
  readonly home?: string;
}

/** Paints on a terminal that has colours, and nowhere else. */
export type Paint = (format: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', text: string) => string;

/** The painter of a stream. */
export function paintFor(stream: Stream): Paint {
  const colours = stream.isTTY === true && stream.hasColors?.() === true;
  return (format, text) => (colours && text !== '' ? styleText(format, text, { validateStream: false }) : text);
}

/** Columns of a terminal. Where a stream is none, lines are as long as a log may want them: what is cut there can be read nowhere else. */
export function columnsOf(stream: Stream): number {
  // A terminal that was never told its size says 0.
  return stream.isTTY === true ? stream.columns || 80 : 1000;
}

/** A line to standard output. The text is ours or went through `plainText`. */
export function print(host: Host, line: string): void {
  host.out.write(`${line}\n`);
}

/** A value as one line of JSON to standard output. */
export function printJson(host: Host, value: unknown): void {
  host.out.write(`${JSON.stringify(value)}\n`);
}

/** A line for people to standard error. Any text: it is made safe here. */
export function note(host: Host, text: string): void {
  host.err.write(`${paintFor(host.err)('dim', plainText(text, { lines: 'keep' }))}\n`);
}

/** Settings of the client for a command. */
export function settingsOf(host: Host, flags: CommonFlags, log: (line: string) => void = (line) => note(host, line)): ConnectSettings {
  return { env: host.env, log, ...(flags.home === undefined ? {} : { home: resolve(host.cwd, flags.home) }) };
}
