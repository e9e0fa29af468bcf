import { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

/** A socket that sends what is written in one turn of the event loop at once: each of several statements would cost a call of the system, and wake the server, by itself. */
export class TogetherSocket extends Socket {
  private gathering = false;

  override write(chunk: Uint8Array | string, done?: Done): boolean;
  override write(chunk: Uint8Array | string, encoding?: BufferEncoding, done?: Done): boolean;
  override write(chunk: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean {
    if (!this.gathering) {
      this.gathering = true;
      this.cork();
      process.nextTick(() => {
        this.gathering = false;
        this.uncork();
      });
    }
    return typeof encoding === 'function' ? super.write(chunk, encoding) : super.write(chunk, encoding, done);
  }
}
