import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { Fault, FaultKind } from '../../domain/fault.ts';
import type { OperationAttempt } from '../inbox/account.ts';
import type { RequestFaults, ServiceSession } from '../world.ts';
import { TicketProblem } from './problem.ts';
import type { TicketTables } from './tables.ts';

/** Who asks, and for which operation. */
export interface Caller {
  readonly session: ServiceSession;
  readonly operation: OperationAttempt | null;
  readonly tables: TicketTables;
}

/** How a request is carried out that is not refused. */
interface Bend {
  /** So many times more. */
  readonly copies: number;
  /** As of this journal entry. */
  readonly staleAfter: number | null;
  readonly schema: Extract<Fault, { kind: 'schema_changed' }> | null;
}

export type App = { Bindings: HttpBindings; Variables: { caller: Caller; bend: Bend | undefined } };

/** The database knows at once whether a fault comes to pass. */
const NOTHING_LATER: ReadonlySet<FaultKind> = new Set();

/** Answers as the world's fault schedule says. Replies carry the world's time as `Date`, since a `Retry-After` may be a date. */
export function injectFaults(log: Logger): MiddlewareHandler<App> {
  return async (c, next) => {
    const { session, operation } = c.get('caller');
    const what = `${c.req.method} ${c.req.path}`.slice(0, 200);
    const reads = c.req.method === 'GET' || c.req.method === 'HEAD';
    const found = await session.fault({ service: 'tickets', operation, what, reads, phase: 'whole', confirms: NOTHING_LATER });
    if (found === null) return next();
    const fault = found.fault?.fault ?? null;
    if (fault !== null)
      log.info(
        { ...session.concerns, ...(operation && { operation: operation.id }), request: what, number: found.number, fault: fault.kind },
        'fault injected',
      );
    const answer = await refusal(c, fault, found);
    if (answer === null) {
      c.set('bend', {
        copies: fault?.kind === 'duplicate_delivery' ? fault.copies : 0,
        staleAfter: found.staleAfter,
        schema: fault?.kind === 'schema_changed' ? fault : null,
      });
      await next();
      const reply = await spoil(c, fault);
      if (reply !== null) replace(c, reply);
    }
    // Also after a refusal: the other hand does not ask what became of the request.
    for (const change of found.after) await session.change(change);
    if (answer !== null) replace(c, answer);
    if (c.res !== RESPONSE_ALREADY_SENT) c.res.headers.set('date', found.now.toUTCString());
    return undefined;
  };
}

/** Names of arguments as the service's own contract has them. @throws {TicketProblem} 422 for a name that a changed contract no longer has. */
export function newNames(c: Context<App>, value: unknown): unknown {
  const schema = c.get('bend')?.schema;
  if (!schema || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const gone = Object.keys(value).filter((name) => Object.hasOwn(schema.rename, name) || schema.remove.includes(name));
  if (gone.length > 0) {
    const errors = gone.map((path) => ({ path, message: `unrecognized field ${path}` }));
    throw new TicketProblem(422, 'invalid', `the request is not valid: ${errors.map(({ message }) => message).join('; ')}`, errors);
  }
  const old = new Map(Object.entries(schema.rename).map(([before, now]) => [now, before]));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [old.get(name) ?? name, member]));
}

/** The answer to a request that is not carried out; null: it is. */
async function refusal(c: Context<App>, fault: Fault | null, { fault: hit, now }: RequestFaults): Promise<Response | null> {
  switch (fault?.kind) {
    case 'rate_limited': {
      const until = hit?.until ?? now;
      // A date has whole seconds: rounded up, so that whoever waits until then has waited long enough.
      const whole = new Date(Math.ceil(until.getTime() / 1000) * 1000);
      const wait = fault.retryAfterAs === 'http_date' ? whole.toUTCString() : String(Math.max(0, Math.ceil((until.getTime() - now.getTime()) / 1000)));
      return new TicketProblem(429, 'rate_limited', 'too many requests; nothing was done').response({ 'retry-after': wait });
    }
    case 'unavailable':
      if (fault.committed) return null;
      return new TicketProblem(503, 'unavailable', 'the service takes no requests now; nothing was done').response(retryAfter(fault.retryAfterSeconds));
    case 'payload_too_large':
      return new TicketProblem(413, 'too_large', `request and reply may have ${fault.limitBytes} bytes`).response();
    case 'permission_revoked':
      return new TicketProblem(403, 'forbidden', 'this account may no longer use the ticket service').response();
    case 'timeout_before_commit':
      return cut(c, fault.afterMs);
    default:
      return null;
  }
}

/** What becomes of the reply to a request that was carried out; null: nothing. */
async function spoil(c: Context<App>, fault: Fault | null): Promise<Response | null> {
  switch (fault?.kind) {
    case 'unavailable':
      // A gateway says so, which cannot know whether the request was carried out.
      return new Response('Service Unavailable\n', { status: 503, headers: { 'content-type': 'text/plain', ...retryAfter(fault.retryAfterSeconds) } });
    case 'timeout_after_commit':
      return cut(c, fault.afterMs);
    case 'malformed_reply': {
      const text = await c.res.text();
      const headers = new Headers(c.res.headers);
      headers.delete('content-length');
      return new Response(text.slice(0, Math.max(1, Math.floor(text.length / 2))), { status: c.res.status, headers });
    }
    case 'schema_changed': {
      if (!c.res.ok || Object.keys(fault.renameResult).length === 0) return null;
      const headers = new Headers(c.res.headers);
      headers.delete('content-length');
      return new Response(JSON.stringify(renamed(await c.res.json(), fault.renameResult)), { status: c.res.status, headers });
    }
    default:
      return null;
  }
}

/** The connection ends without a reply. */
async function cut(c: Context<App>, afterMs: number): Promise<Response> {
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  c.env.outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
}

function replace(c: Context<App>, response: Response): void {
  // Without this, hono keeps the headers of the reply before.
  c.res = undefined;
  c.res = response;
}

function retryAfter(seconds: number | undefined): { readonly [name: string]: string } {
  return seconds === undefined ? {} : { 'retry-after': String(Math.ceil(seconds)) };
}

/** Of the record, or of each record of a listing. */
function renamed(value: unknown, names: { readonly [field: string]: string }): unknown {
  if (Array.isArray(value)) return value.map((member) => renamed(member, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      Object.hasOwn(names, name) ? (names[name] ?? name) : name,
      Array.isArray(member) ? renamed(member, names) : member,
    ]),
  );
}
