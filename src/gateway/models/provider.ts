import { Agent, type Dispatcher, errors, request } from 'undici';
import type { ModelRoute } from '../../domain/model.ts';
import { ModelError } from '../../models/errors.ts';
import { replaceSecrets } from '../../models/redact.ts';

/** Largest reply that is passed on; in bytes. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** A connection to the provider of one route, for one request. The key goes to the route's address and nowhere else: no redirect is followed. */
export class Provider implements AsyncDisposable {
  private readonly route: ModelRoute;
  private readonly key: string | null;
  private readonly dispatcher: Agent;

  constructor(route: ModelRoute, key: string | null) {
    this.route = route;
    this.key = key;
    // A reply may take long as a whole, but something of it comes within the route's time.
    this.dispatcher = new Agent({ pipelining: 0, headersTimeout: route.timeoutMs, bodyTimeout: route.timeoutMs });
  }

  /** @throws what {@link failureOf} reads */
  send(path: string, headers: { readonly [name: string]: string }, body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    return request(`${this.route.url}${path}`, {
      method: 'POST',
      dispatcher: this.dispatcher,
      headers: {
        'content-type': 'application/json',
        ...(this.route.api === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
        ...headers,
        ...this.keyHeader(),
      },
      body,
      signal,
    });
  }

  /** The reply as it comes. @throws a failure */
  async *read(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_REPLY_BYTES) throw new ModelError('refused', 'model_reply_too_large', `a reply of more than ${MAX_REPLY_BYTES} bytes is not passed on`);
      yield chunk;
    }
  }

  /** The beginning of a reply, as text. What ends it early is no matter. */
  async text(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= maxBytes) break;
      }
    } catch {
      // Enough is known.
    }
    return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
  }

  failureOf(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    const { name, timeoutMs } = this.route;
    if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
      return new ModelError('passing', 'model_timeout', `${name} said nothing for ${timeoutMs} ms.`);
    return new ModelError('passing', 'model_unreachable', `${name} cannot be reached: ${this.wordsOf(error)}`);
  }

  /** What an error says, without the key. */
  wordsOf(error: unknown): string {
    const said = error instanceof Error ? error.message : String(error);
    return this.key === null || this.route.key === null ? said : replaceSecrets(said, { [this.route.key]: this.key });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispatcher.destroy();
  }

  private keyHeader(): { readonly [name: string]: string } {
    if (this.key === null) return {};
    return this.route.api === 'anthropic' ? { 'x-api-key': this.key } : { authorization: `Bearer ${this.key}` };
  }
}
