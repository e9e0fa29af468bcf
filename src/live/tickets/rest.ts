import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { printable } from '../../domain/text/bounded.ts';
import { ToolFailure } from '../../environments/define.ts';
import { LiveOutcomeUnknownError, LiveUnreachableError } from '../errors.ts';

export interface RestOptions {
  /** Address of the server, without a slash at the end. */
  readonly address: string;
  /** Value of the header `Authorization`. */
  readonly authorization: string;
  /** Default: none. */
  readonly signal?: AbortSignal;
  /** Milliseconds until the outcome is unknown. Default 30,000. */
  readonly timeoutMs?: number;
}

/** A request to Request Tracker's REST 2.0 interface; one try, no redirects. */
export interface RestRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/REST/2.0`, such as `/ticket/7`. */
  readonly path: string;
  readonly query?: { readonly [name: string]: string };
  readonly body?: JsonObject | readonly JsonObject[];
}

/** An answer larger than this is not read: no ticket of a trial comes near. */
const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** No connection came to stand, so that nothing was sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Sends a request, and gives what the answer's body is by `schema`. Refusals are not uniform there: 403, 400 with words, 404, and 200 with words where a record was
 * expected.
 *
 * @throws {ToolFailure} `not_permitted`, `not_found`, `conflict`, `invalid`, `rate_limited` or `unavailable`: nothing was done
 * @throws {LiveUnreachableError} nothing was sent
 * @throws {LiveOutcomeUnknownError} for everything else: a write may have been done
 */
export async function rest<S extends z.ZodType>(options: RestOptions, request: RestRequest, schema: S): Promise<z.output<S>> {
  const { status, body, text, headers } = await answer(options, request);
  const what = `${request.method} ${request.path}`;
  if (status >= 200 && status < 300) {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const said = wordsOf(body);
    // A record was asked for and words came: a refusal, which this server also gives with 200.
    if (said !== null && request.method === 'GET') throw new ToolFailure(codeOf(400, said), said);
    throw new LiveOutcomeUnknownError(what, new Error(`answered ${status}, and nothing that is expected: ${z.prettifyError(parsed.error)}`));
  }
  const said = wordsOf(body) ?? text;
  const retry = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '');
  // A gateway's 503 does not say whether the request was carried out behind it.
  if (status < 400 || (status >= 500 && !(status === 503 && request.method === 'GET')))
    throw new LiveOutcomeUnknownError(what, new Error(`answered ${status}: ${printable(said, 200)}`));
  throw new ToolFailure(
    codeOf(status, said),
    printable(said || `the ticket system answered ${status}`, 300),
    retry ? { retryAfterSeconds: Number(retry[0]) } : {},
  );
}

/** What this server says in words, in each of the shapes that it has for it. Null: it is no such thing. */
export function wordsOf(body: unknown): string | null {
  const parsed = WORDS.safeParse(body);
  if (!parsed.success) return null;
  return printable(Array.isArray(parsed.data) ? parsed.data.join('; ') : parsed.data.message, 500);
}

const WORDS = z.union([z.array(z.string()), z.object({ message: z.string() })]);

function codeOf(status: number, said: string): string {
  if (/permission denied|no permission|forbidden|unauthorized/i.test(said)) return 'not_permitted';
  return CODES.get(status) ?? 'invalid';
}

const CODES: ReadonlyMap<number, string> = new Map([
  [401, 'not_permitted'],
  [403, 'not_permitted'],
  [404, 'not_found'],
  [409, 'conflict'],
  [412, 'conflict'],
  [413, 'payload_too_large'],
  [429, 'rate_limited'],
  [503, 'unavailable'],
]);

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly text: string;
  readonly headers: Headers;
}

async function answer({ address, authorization, signal, timeoutMs = TIMEOUT_MS }: RestOptions, { method, path, query, body }: RestRequest): Promise<Answer> {
  const url = new URL(`${address}/REST/2.0${path}`);
  url.search = new URLSearchParams(query).toString();
  const what = `${method} ${path}`;
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    const text = await bounded(response);
    return { status: response.status, text: printable(text, 500), body: json(text), headers: response.headers };
  } catch (error) {
    if (neverSent(error)) throw new LiveUnreachableError(what, error);
    throw new LiveOutcomeUnknownError(what, error);
  }
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`its answer has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  return (typeof code === 'string' && NEVER_SENT.has(code)) || neverSent(error.cause);
}
