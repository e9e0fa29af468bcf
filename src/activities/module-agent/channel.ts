import type { Duplex } from 'node:stream';
import { Lines } from '../../processes/lines.ts';

/** Longest message that is read; in bytes. The largest arguments and the longest reply fit, whatever JSON escapes of them. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface ChannelEvents {
  readonly message: (value: unknown) => void;
  /** What came is no message. Nothing more is read. */
  readonly malformed: (why: string) => void;
  /** The other side has closed; everything that it sent before has been given out. */
  readonly end: () => void;
  /** What was written has left, after {@link Channel.congested}. */
  readonly drained: () => void;
}

/**
 * JSON messages, one a line, with an agent's process. Not Node's own channel between processes: that one throws in the host what it cannot parse, reads
 * a message of any length, and cannot be told to wait.
 */
export class Channel {
  /** The agent does not read what it asked for. */
  congested = false;
  private readonly stream: Duplex;
  private readonly events: ChannelEvents;
  private closed = false;
  private held = false;
  private readonly lines = new Lines(MAX_MESSAGE_BYTES, {
    line: (text) => this.parse(text),
    tooLong: () => this.refuse(`a message is longer than ${MAX_MESSAGE_BYTES} bytes`),
  });

  constructor(stream: Duplex, events: ChannelEvents) {
    this.stream = stream;
    this.events = events;
    stream.on('data', (chunk: Buffer) => this.lines.read(chunk));
    stream.once('close', () => this.ended());
    stream.once('end', () => this.ended());
    stream.on('drain', () => {
      this.congested = false;
      events.drained();
    });
    // A process that has gone is reported by its exit; a write to it then says nothing new.
    stream.on('error', () => {});
  }

  send(message: object): void {
    if (this.stream.writable && !this.stream.write(`${JSON.stringify(message)}\n`)) this.congested = true;
  }

  /** Reads no more until `resume`, so that what a flood sends stays with its sender. */
  pause(): void {
    this.held = true;
    this.stream.pause();
  }

  resume(): void {
    if (!this.held || this.closed) return;
    this.held = false;
    this.stream.resume();
  }

  /** Gives out nothing more. */
  close(): void {
    this.closed = true;
    this.lines.close();
    this.stream.destroy();
  }

  private parse(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.refuse('it is not JSON');
      return;
    }
    this.events.message(value);
  }

  private refuse(why: string): void {
    this.close();
    this.events.malformed(why);
  }

  private ended(): void {
    if (this.closed) return;
    this.closed = true;
    this.events.end();
  }
}
