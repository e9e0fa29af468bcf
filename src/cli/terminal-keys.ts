import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream } from 'node:tty';
import type { Keys } from './host.ts';

/** What was typed faster than it was asked for; it is the terminal's, whoever asks next. */
const ahead: (string | null)[] = [];
const MOST_AHEAD = 100;

/** Keys of a terminal, one by one, without Return. Ctrl-C is a key then, and raises no signal. */
export class TerminalKeys implements Keys {
  private readonly input: ReadStream;
  private waiting: ((key: string | null) => void) | null = null;

  constructor(input: ReadStream) {
    this.input = input;
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on('keypress', this.pressed);
    input.on('end', this.ended);
    input.resume();
  }

  next(): Promise<string | null> {
    const known = ahead.shift();
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => {
      this.waiting = resolve;
    });
  }

  [Symbol.dispose](): void {
    this.input.off('keypress', this.pressed);
    this.input.off('end', this.ended);
    this.input.setRawMode(false);
    this.input.pause();
  }

  private readonly pressed = (typed: string | undefined, key: Key): void => {
    if (key.ctrl === true && (key.name === 'c' || key.name === 'd')) this.give(null);
    else if (key.ctrl !== true && key.meta !== true) this.give((key.name ?? typed ?? '').toLowerCase());
  };

  private readonly ended = (): void => this.give(null);

  private give(key: string | null): void {
    const { waiting } = this;
    this.waiting = null;
    if (waiting) waiting(key);
    else if (ahead.length < MOST_AHEAD) ahead.push(key);
  }
}
