import { printable } from './text/bounded.ts';

/** A service that does not do its part now, and why. What needs it waits: no trial ends for it. */
export interface Outage {
  readonly service: 'PostgreSQL' | 'Temporal';
  /** What is wrong, in words for an operator; no address and no secret is in it but what the service or the system said. */
  readonly reason: string;
}

/**
 * The outage that an error tells of, or null where it tells of none: a wrong password, a query that is refused, or a defect are none, since they do not pass. Looks at the
 * error's causes too.
 */
export function outageOf(error: unknown): Outage | null {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth++) {
    const found =
      worldsOutage(current) ?? temporalOutage(current) ?? postgresOutage(current) ?? (current instanceof AggregateError ? outageOf(current.errors[0]) : null);
    if (found) return found;
    current = current.cause;
  }
  return null;
}

const MAX_CAUSES = 6;
const MAX_REASON = 300;
const GRPC_DEADLINE_EXCEEDED = 4;
const GRPC_UNAVAILABLE = 14;

/** The server of worlds that a step needs: said by name. */
function worldsOutage(error: Error): Outage | null {
  const { code, lasting, why } = error as { code?: unknown; lasting?: unknown; why?: unknown };
  return code === 'world_server_away' && lasting === false ? { service: 'PostgreSQL', reason: said('that holds worlds cannot be reached', String(why)) } : null;
}

function temporalOutage(error: Error): Outage | null {
  const { code, details } = error as { code?: unknown; details?: unknown };
  if (typeof code !== 'number' || typeof details !== 'string') return null;
  const what = GRPC_WORDS.get(code);
  return what === undefined ? null : { service: 'Temporal', reason: said(what, details) };
}

const GRPC_WORDS: ReadonlyMap<number, string> = new Map([
  [GRPC_DEADLINE_EXCEEDED, 'does not answer in time'],
  [GRPC_UNAVAILABLE, 'cannot be reached'],
]);

function postgresOutage(error: Error): Outage | null {
  const { code } = error as { code?: unknown };
  const what = typeof code === 'string' ? (STATE_WORDS.find(([states]) => states.test(code))?.[1] ?? (SYSTEM.has(code) ? 'cannot be reached' : null)) : null;
  const words = what ?? TEXT_WORDS.find(([text]) => text.test(error.message))?.[1] ?? null;
  return words === null ? null : { service: 'PostgreSQL', reason: said(words, error.message) };
}

/** By SQLSTATE. */
const STATE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^53300$/, 'has no free connection'],
  [/^53100$/, 'has no room on its disk'],
  [/^53200$/, 'has no memory left'],
  [/^53...$/, 'has no resources left'],
  [/^57P03$/, 'is starting or stopping'],
  [/^(57P0[1245])$/, 'was stopped'],
  [/^58030$/, 'cannot read or write its files'],
  [/^08...$/, 'lost the connection'],
];

/** What sockets report. */
const SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ERR_STREAM_DESTROYED',
]);

/** What the client says without a code. */
const TEXT_WORDS: readonly (readonly [RegExp, string])[] = [
  [/timeout exceeded when trying to connect/i, 'gave no connection in time'],
  [/Query read timeout/i, 'does not answer in time'],
  [/Connection terminated|Client has encountered a connection error|connection is closed|not queryable|socket disconnected/i, 'lost the connection'],
];

function said(what: string, message: string): string {
  return message === '' ? what : `${what} (${printable(message, MAX_REASON)})`;
}
