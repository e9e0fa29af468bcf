import type { JsonObject } from '../../domain/json.ts';
import { ToolFailure, type WorldTickets } from '../define.ts';
import { formatOperation, type OperationAttempt } from '../inbox/account.ts';
import type { WorldCredentials } from '../world.ts';
import { FAULT_NOT_APPLICABLE } from './problem.ts';

export interface WorldTicketsOptions {
  /** Base URL without a slash at the end. */
  readonly url: string;
  readonly credentials: WorldCredentials;
  readonly operation: OperationAttempt;
  readonly signal?: AbortSignal;
  /** Sent with each request, beside those of the service. */
  readonly traceHeaders?: { readonly [header: string]: string };
  /** Milliseconds until the outcome is unknown. Default 60,000. */
  readonly timeoutMs?: number;
}

/**
 * The world's ticket service as one attempt of an operation uses it. One request, one try, no redirects.
 *
 * @throws {ToolFailure} from `request`: `not_found` (404, 410), `conflict` (409, 412, 423: a fenced world), `payload_too_large` (413),
 * `rate_limited` (429) with the seconds of its `Retry-After`, `invalid` (every other 4xx); `unavailable` for a 503 that says by its problem code that nothing was
 * done, or that answers a read.
 * @throws {TicketOutcomeUnknownError} from `request`, for everything else: a write may have been done.
 * @throws {TypeError} from `request`, when the path does not begin with `/` or leads to another server.
 */
export function createWorldTickets(options: WorldTicketsOptions): WorldTickets {
  const headers = {
    authorization: `Bearer ${options.credentials.user}.${options.credentials.toolSecret}`,
    'trialbed-operation': formatOperation(options.operation),
    ...options.traceHeaders,
  };
  return {
    url: options.url,
    headers,
    async request(method, path, body) {
      const url = within(options.url, path);
      const response = await answer(url, {
        method,
        headers: { accept: 'application/json', ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.any([AbortSignal.timeout(options.timeoutMs ?? 60_000), ...(options.signal ? [options.signal] : [])]),
      });
      if (response.status >= 200 && response.status < 300 && isObject(response.json)) return response.json;
      const problem = isObject(response.json) ? response.json : {};
      if (problem.code === FAULT_NOT_APPLICABLE) throw new FaultNotApplicableError(String(problem.detail));
      // A gateway's 503 does not say whether the request was carried out behind it.
      const nothingDone = response.status === 503 && (method === 'GET' || problem.code === 'unavailable');
      if (!nothingDone && (response.status < 400 || response.status >= 500)) {
        throw new TicketOutcomeUnknownError(`${method} ${path}`, new Error(`answered ${response.status}: ${response.text.slice(0, 200)}`));
      }
      const detail = typeof problem.detail === 'string' ? problem.detail : response.text.slice(0, 200);
      const retryAfterSeconds = retryAfter(response.headers);
      throw new ToolFailure(
        FAILURES.get(response.status) ?? 'invalid',
        detail || `the ticket service answered ${response.status}`,
        retryAfterSeconds === null ? {} : { retryAfterSeconds },
      );
    },
  };
}

/** The ticket service may have done what it was asked. The world's journal holds the rows that carry the operation. */
export class TicketOutcomeUnknownError extends Error {
  override readonly name = 'TicketOutcomeUnknownError';
  readonly code = 'ticket_outcome_unknown';
  readonly request: string;

  constructor(request: string, cause: unknown) {
    super(`no usable answer to ${request}; the operation is unknown until the world's journal is read`, { cause });
    this.request = request;
  }
}

/** A rule of the fault schedule does not fit the world: nothing that a tool or an agent answers for. */
export class FaultNotApplicableError extends Error {
  override readonly name = 'FaultNotApplicableError';
  readonly code = FAULT_NOT_APPLICABLE;
}

const FAILURES: ReadonlyMap<number, string> = new Map([
  [403, 'not_permitted'],
  [404, 'not_found'],
  [410, 'not_found'],
  [409, 'conflict'],
  [412, 'conflict'],
  [423, 'conflict'],
  [413, 'payload_too_large'],
  [429, 'rate_limited'],
  [503, 'unavailable'],
]);

/** Seconds to wait, from seconds or from a date; a date is held against the `Date` of the reply, which is the clock of whoever wrote both. Null: none, or unreadable. */
function retryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const wait = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(wait) ? null : Math.max(0, Math.ceil(wait / 1000));
}

function within(base: string, path: string): string {
  const url = new URL(`${base}${path}`);
  if (!path.startsWith('/') || url.origin !== new URL(base).origin) throw new TypeError(`${JSON.stringify(path)} is not a path of the ticket service`);
  return url.href;
}

async function answer(url: string, init: RequestInit): Promise<{ status: number; text: string; json: unknown; headers: Headers }> {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    return { status: response.status, text, json: parseJson(text), headers: response.headers };
  } catch (error) {
    throw new TicketOutcomeUnknownError(`${init.method} ${new URL(url).pathname}`, error);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
