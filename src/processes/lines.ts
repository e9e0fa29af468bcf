const NEWLINE = 0x0a;

export interface LineEvents {
  /** One line, without its end. */
  readonly line: (text: string) => void;
  /** A line is longer than may be. Nothing more is given out. */
  readonly tooLong: () => void;
}

/** Splits what a process writes into lines of UTF-8, and keeps at most `limit` bytes of one that has no end yet. */
export class Lines {
  private readonly limit: number;
  private readonly events: LineEvents;
  private parts: Buffer[] = [];
  private bytes = 0;
  private closed = false;

  constructor(limit: number, events: LineEvents) {
    this.limit = limit;
    this.events = events;
  }

  read(chunk: Buffer): void {
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at !== -1 && !this.closed; at = rest.indexOf(NEWLINE)) {
      this.keep(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      const line = Buffer.concat(this.parts).toString('utf8');
      this.parts = [];
      this.bytes = 0;
      if (!this.closed) this.events.line(line);
    }
    if (!this.closed) this.keep(rest);
  }

  /** Gives out nothing more. */
  close(): void {
    this.closed = true;
    this.parts = [];
  }

  private keep(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > this.limit) {
      this.close();
      this.events.tooLong();
    } else if (part.length > 0) this.parts.push(part);
  }
}
