import { z } from 'zod';
import type { ModelRoute } from '../domain/model.ts';
import { printable } from '../domain/text/bounded.ts';
import { anthropic } from './anthropic.ts';
import { ModelError } from './errors.ts';
import type { ModelFormat, ModelReply, ModelRequest } from './format.ts';
import { Limiter } from './limiter.ts';
import { openAi } from './openai.ts';
import { failureOf } from './provider-failure.ts';
import { replaceSecrets } from './redact.ts';

/** Largest reply; in bytes. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;
const MAX_MESSAGE = 1_000;

export interface ModelClientOptions {
  /** Value of a variable of our environment; undefined where it is not set. */
  readonly variable: (name: string) => string | undefined;
}

/** A reply, and how long it took. */
export interface TimedReply extends ModelReply {
  /** From sending the request to the end of the reply, milliseconds; waiting for the rate limit is no part of it. */
  readonly latencyMs: number;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  readonly limitMs?: number;
  readonly waits?: (ms: number) => void;
}

/** Asks models over HTTP. One for a process: it keeps the rate limits of all routes. */
export interface ModelClient {
  /**
   * One try of one call. `limitMs`: time for the reply beside the route's own; when that is over, the error's code is `out_of_time` and its kind `refused`. `waits` hears for how
   * many milliseconds its turn is waited for.
   * @throws {ModelError} @throws the signal's reason.
   */
  ask(route: ModelRoute, request: ModelRequest, options: AskOptions): Promise<TimedReply>;
  /**
   * Runs what asks a model in another way, within the same limits, when its turn has come. `waits` hears for how many milliseconds that is waited for.
   * @throws {ModelError} where the route's key cannot be had; the signal's reason while it waits; what `work` threw.
   */
  take<T>(route: ModelRoute, signal: AbortSignal, work: (turn: ModelTurn) => Promise<T>, waits?: (ms: number) => void): Promise<T>;
}

/** The right to one request. */
export interface ModelTurn {
  /** Null: the route takes none. */
  readonly key: string | null;
  /** The provider wants to be left alone for so long. */
  hold(ms: number): void;
}

const FORMATS: { readonly [api in ModelRoute['api']]: ModelFormat } = { openai: openAi, anthropic };

export function createModelClient({ variable }: ModelClientOptions): ModelClient {
  const limiters = new Map<string, Limiter>();
  return {
    async ask(route, request, { signal, limitMs = Number.POSITIVE_INFINITY, waits }) {
      const key = keyOf(route, variable);
      const limiter = limiterOf(limiters, route);
      return limiter.run(
        signal,
        async () => {
          try {
            return await send(route, request, { key, signal, limitMs });
          } catch (error) {
            if (error instanceof ModelError && error.retryAfterMs !== null) limiter.hold(error.retryAfterMs);
            throw error;
          }
        },
        waits,
      );
    },
    async take(route, signal, work, waits) {
      const key = keyOf(route, variable);
      const limiter = limiterOf(limiters, route);
      return limiter.run(signal, () => work({ key, hold: (ms) => limiter.hold(ms) }), waits);
    },
  };
}

/** The key, checked here: the runtime's own message about a header that cannot be sent would show it. */
function keyOf({ key, name }: ModelRoute, variable: (name: string) => string | undefined): string | null {
  if (key === null) return null;
  const value = variable(key);
  if (value === undefined || value === '')
    throw new ModelError('setup', 'no_key', `route ${name} needs a key in the variable ${key}, which is not set where the worker runs`);
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new ModelError('setup', 'no_key', `the variable ${key} of route ${name} holds what can be no key: it has spaces, line ends or other signs`);
  return value;
}

/** Routes with the same key to the same place share what that place permits. */
function limiterOf(limiters: Map<string, Limiter>, { url, key, model, rate }: ModelRoute): Limiter {
  const place = JSON.stringify([url, key, model, rate.perMinute, rate.atOnce]);
  const known = limiters.get(place) ?? new Limiter(rate);
  limiters.set(place, known);
  return known;
}

interface Means {
  readonly key: string | null;
  readonly signal: AbortSignal;
  readonly limitMs: number;
}

async function send(route: ModelRoute, request: ModelRequest, { key, signal, limitMs }: Means): Promise<TimedReply> {
  const format = FORMATS[route.api];
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(Math.ceil(Math.min(route.timeoutMs, limitMs)));
  try {
    const response = await fetch(`${route.url}${format.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...format.headers(key) },
      body: JSON.stringify(format.body(route, request)),
      signal: AbortSignal.any([signal, timeout]),
      // A key goes to the place that the route names and nowhere else.
      redirect: 'manual',
    });
    const text = await boundedText(response, MAX_REPLY_BYTES);
    if (!response.ok) throw failureOf(route, response, hidden(text, key, route.key));
    return { ...readReply(format, route, withoutKey(text, key, route.key)), latencyMs: performance.now() - startedAt };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ModelError) throw error;
    if (timeout.aborted) {
      if (limitMs < route.timeoutMs)
        throw new ModelError('refused', 'out_of_time', `the model did not reply within the ${Math.round(limitMs)} ms that were left`);
      throw new ModelError('passing', 'model_timeout', `${route.name} did not reply within ${route.timeoutMs} ms`);
    }
    throw new ModelError('passing', 'model_unreachable', `${route.name} at ${route.url} cannot be reached: ${hidden(causeOf(error), key, route.key)}`);
  }
}

function readReply(format: ModelFormat, { name }: ModelRoute, text: string): ModelReply {
  try {
    return format.read(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error).split('\n')[0] : 'it is no JSON';
    throw new ModelError('passing', 'model_malformed', `the reply of ${name} is none of its format: ${printable(why ?? '', 200)}`);
  }
}

async function boundedText(response: Response, max: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > max) throw new ModelError('refused', 'model_reply_too_large', `a reply of more than ${max} bytes is not read`);
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

function hidden(text: string, key: string | null, name: string | null): string {
  return printable(withoutKey(text, key, name), MAX_MESSAGE);
}

/** A provider that repeats the key would put it into arguments, mails and answers, and with these into every file about the trial. */
function withoutKey(text: string, key: string | null, name: string | null): string {
  return key === null || name === null ? text : replaceSecrets(text, { [name]: key });
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
