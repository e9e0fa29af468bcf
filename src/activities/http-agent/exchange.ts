import { Agent, buildConnector, request } from 'undici';
import { MAX_ANSWER_BYTES } from '../gateway-agent/answer.ts';

/** No connection to the agent's server came to stand: nothing of the request was sent. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly code = 'unreachable';

  constructor(origin: string, cause: Error) {
    // An error of several addresses has its words in its parts.
    const why = cause instanceof AggregateError ? (cause.errors[0] as Error | undefined) : cause;
    super(`${origin} cannot be reached: ${why?.message ?? cause.message}`, { cause });
  }
}

/** The answer to a request did not come within the time that the agent's description gives it. */
export class AnswerTimeoutError extends Error {
  override readonly name = 'AnswerTimeoutError';
  readonly code = 'answer_timeout';
}

export interface Reply {
  readonly status: number;
  readonly location: string | null;
  /** Milliseconds; null where the server does not say. */
  readonly retryAfterMs: number | null;
  /** Null: more bytes than an answer may have. */
  readonly body: Buffer | null;
}

export interface ServerOptions {
  readonly headers: { readonly [name: string]: string };
  readonly connectMs: number;
  /** For one request; null: no limit. */
  readonly answerMs: number | null;
  /** From now on a connection is waited for, and no longer. */
  readonly connecting: () => void;
  readonly connected: () => void;
}

const MAX_RETRY_AFTER_MS = 60_000;

/** Requests to an agent's server, each over a connection of its own: one that is kept may be closed by the server just when the next request is sent. No redirect is followed. */
export class AgentServer implements AsyncDisposable {
  private readonly options: ServerOptions;
  private readonly dispatcher: Agent;

  constructor(options: ServerOptions) {
    this.options = options;
    const connect = buildConnector({ timeout: options.connectMs });
    this.dispatcher = new Agent({
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect(to, done) {
        options.connecting();
        connect(to, (...[error, socket]) => {
          options.connected();
          if (error) done(new UnreachableError(to.host ?? to.hostname, error), null);
          else done(null, socket);
        });
      },
    });
  }

  /** @throws {UnreachableError}, {AnswerTimeoutError}, the signal's reason, or what ended the connection. */
  async ask(method: 'GET' | 'POST' | 'DELETE', url: string, { body, signal }: { readonly body?: string; readonly signal: AbortSignal }): Promise<Reply> {
    const { answerMs, headers } = this.options;
    const patience = answerMs === null ? null : AbortSignal.timeout(answerMs);
    try {
      const {
        statusCode,
        headers: told,
        body: sent,
      } = await request(url, {
        method,
        dispatcher: this.dispatcher,
        headers: { ...headers, accept: 'application/json, text/plain', ...(body !== undefined && { 'content-type': 'application/json' }) },
        body: body ?? null,
        signal: patience ? AbortSignal.any([signal, patience]) : signal,
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of sent as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        // Leaving the loop ends the connection.
        if (bytes > MAX_ANSWER_BYTES) break;
        chunks.push(chunk);
      }
      return {
        status: statusCode,
        location: first(told['location']),
        retryAfterMs: waitOf(first(told['retry-after'])),
        body: bytes > MAX_ANSWER_BYTES ? null : Buffer.concat(chunks),
      };
    } catch (error) {
      if (patience?.aborted && !signal.aborted) throw new AnswerTimeoutError(`The agent did not answer ${method} within ${answerMs} ms.`);
      throw error;
    }
  }

  /** Ends all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispatcher.destroy();
  }
}

function first(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

function waitOf(header: string | null): number | null {
  if (header === null) return null;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
}
