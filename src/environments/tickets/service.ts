import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { timeout } from 'hono/timeout';
import type { Logger } from 'pino';
import type { JsonObject } from '../../domain/json.ts';
import type { WorldSql } from '../define.ts';
import { parseOperation } from '../inbox/account.ts';
import { listen } from '../listen.ts';
import type { ServiceDirectory } from '../services.ts';
import { FencedError, WorldGoneError } from '../world.ts';
import { type App, type Caller, injectFaults, newNames } from './faults.ts';
import { openApiDocument } from './openapi.ts';
import { FAULT_NOT_APPLICABLE, problemOfSqlError, TicketProblem } from './problem.ts';
import { NewComment, NewTicket, PageQuery, parse, TicketChange, TicketQuery } from './schema.ts';
import { type Page, TicketTables } from './tables.ts';

/** One HTTP service for all worlds. */
export interface TicketService {
  /** Base URL, without a slash at the end. */
  readonly url: string;
}

export interface TicketServiceOptions {
  readonly directory: ServiceDirectory;
  /** Address: loopback, or a network of one's own (there is no TLS). */
  readonly listen: string;
  /** Host name or address by which clients reach it, where that is not the one that it listens on. */
  readonly advertise?: string | null;
  /** Default 0: a free one. */
  readonly port?: number;
  readonly log: Logger;
  /** Largest body, in bytes; a larger one is answered 413. Default 256 KiB. */
  readonly bodyBytes?: number;
  /** Milliseconds that a request may take; then 504, and a write may still be done. Default 30,000. */
  readonly requestMs?: number;
}

/**
 * Starts the ticket service: JSON over HTTP, over the tables that a world's environment names. `/openapi.json` describes it.
 *
 * `Authorization: Bearer <world>.<secret>` tells the world; the header `Trialbed-Operation: <id>.<attempt>` the operation, which only the tool secret
 * may name (403 otherwise). Refusals are problem JSON: 400 no JSON or a bad query, 401, 403, 404, 405, 409, 413, 415, 422 a body that does not hold to
 * the schema or the table's rules, 423 a write to a fenced world (permanent, unlike 503: no client should
 * wait for it; the world lists the late attempt), 504. What a world's fault schedule does to its requests every client of it meets; 401 and 413 are no requests
 * that it counts.
 *
 * @throws when the address cannot be listened on.
 */
export async function startTickets(options: TicketServiceOptions): Promise<TicketService & AsyncDisposable> {
  const log = options.log.child({ service: 'tickets' });
  const app = ticketApp(options, log);
  const server = await listen(app, options);
  log.info({ url: server.url }, 'ticket service listens');
  return server;
}

function ticketApp(options: TicketServiceOptions, log: Logger): Hono<App> {
  const app = new Hono<App>();
  const document = openApiDocument();
  const limit = options.bodyBytes ?? 256 * 1024;

  app.onError((error, c) => answerError(error, c, log));
  app.notFound(() => new TicketProblem(404, 'not_found', 'there is no such resource').response());
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (_, methods) =>
        new TicketProblem(405, 'method_not_allowed', `allowed: ${methods.join(', ')}`).response({ allow: methods.join(', ') }),
    }),
  );
  app.get('/openapi.json', (c) => c.json(document));

  app.use('/tickets/*', timeout(options.requestMs ?? 30_000));
  app.use('/tickets/*', async (c, next) => {
    c.set('caller', await authenticate(options.directory, c));
    await next();
  });
  app.use('/tickets/*', bodyLimit({ maxSize: limit, onError: () => new TicketProblem(413, 'too_large', `a body may have ${limit} bytes`).response() }));

  app.use('/tickets/*', injectFaults(log));

  app.get('/tickets', async (c) => {
    const query = parse(TicketQuery, queryOf(c), 400);
    const page = await run(c, log, (sql, { tables }) => tables.list(sql, query));
    return c.json({ tickets: page.rows, ...pagination(page, query) });
  });
  app.post('/tickets', async (c) => {
    const ticket = parse(NewTicket, await bodyOf(c), 422);
    const now = await worldNow(c);
    const created = await run(c, log, (sql, { tables }) => tables.create(sql, ticket, now));
    return c.json(created, 201, { location: `/tickets/${encodeURIComponent(String(created.id))}` });
  });
  app.get('/tickets/:id', async (c) => c.json(await run(c, log, (sql, { tables }) => tables.get(sql, c.req.param('id')))));
  app.patch('/tickets/:id', async (c) => {
    const change = parse(TicketChange, await bodyOf(c), 422);
    const now = await worldNow(c);
    return c.json(await run(c, log, (sql, { tables }) => tables.change(sql, c.req.param('id'), change, now)));
  });
  app.get('/tickets/:id/comments', async (c) => {
    const query = parse(PageQuery, queryOf(c), 400);
    const page = await run(c, log, (sql, { tables }) => tables.comments(sql, c.req.param('id'), query));
    return c.json({ comments: page.rows, ...pagination(page, query) });
  });
  app.post('/tickets/:id/comments', async (c) => {
    const comment = parse(NewComment, await bodyOf(c), 422);
    const now = await worldNow(c);
    return c.json(await run(c, log, (sql, { tables }) => tables.comment(sql, c.req.param('id'), comment, now)), 201);
  });
  return app;
}

async function authenticate(directory: ServiceDirectory, c: Context<App>): Promise<Caller> {
  const [, world, secret] = /^Bearer ([a-z0-9]{1,63})\.([!-~]+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
  const session = world === undefined || secret === undefined ? null : await directory.authenticate(world, secret);
  if (session === null) throw new TicketProblem(401, 'unauthorized', 'the bearer token is missing or not valid');
  if (session.environment.tickets === null) throw new TicketProblem(403, 'forbidden', 'this world has no ticket service');
  const named = c.req.header('trialbed-operation');
  const operation = named === undefined ? null : parseOperation(named);
  if (named !== undefined && operation === null) throw new TicketProblem(400, 'invalid', 'Trialbed-Operation is not <operation>.<attempt>');
  if (operation !== null && !session.trusted) throw new TicketProblem(403, 'forbidden', 'this token may not speak for an operation');
  return { session, operation, tables: new TicketTables(session.environment.tickets) };
}

async function run<T>(c: Context<App>, log: Logger, work: (sql: WorldSql, caller: Caller) => Promise<T>): Promise<T> {
  const caller = c.get('caller');
  const { session, operation } = caller;
  const bend = c.get('bend');
  if (bend?.staleAfter != null) return session.readAsOf(bend.staleAfter, (sql) => work(sql, caller));
  const once = () => session.transact(operation, (sql) => work(sql, caller));
  const value = await once();
  // Whoever sent it has the first answer: what becomes of the others is not told to anybody.
  for (let copy = 0; copy < (bend?.copies ?? 0); copy += 1)
    await once().catch((error: unknown) => log.info({ err: error, ...concernOf(caller) }, 'a copy of the request was refused'));
  return value;
}

/** Whose request it is, for a line of the log. */
function concernOf(caller: Caller | undefined): object {
  return caller ? { ...caller.session.concerns, ...(caller.operation && { operation: caller.operation.id }) } : {};
}

async function worldNow(c: Context<App>): Promise<Date> {
  return (await c.get('caller').session.clock()).now;
}

/** @throws {TicketProblem} 400 for a name given twice. */
function queryOf(c: Context<App>): { readonly [name: string]: string } {
  const twice = Object.entries(c.req.queries()).find(([, values]) => values.length > 1);
  if (twice !== undefined) throw new TicketProblem(400, 'invalid', `${twice[0]} is given twice`);
  return newNames(c, c.req.query()) as { readonly [name: string]: string };
}

async function bodyOf(c: Context<App>): Promise<unknown> {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) throw new TicketProblem(415, 'unsupported_media_type', 'the body must be application/json');
  return newNames(c, parseBody(await c.req.text()));
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TicketProblem(400, 'invalid', 'the body is not JSON');
  }
}

function pagination(page: Page, query: { readonly page: number; readonly per_page: number }): JsonObject {
  const more = query.page * query.per_page < page.total;
  return { page: query.page, per_page: query.per_page, total: page.total, next_page: more ? query.page + 1 : null };
}

async function answerError(error: Error, c: Context<App>, log: Logger): Promise<Response> {
  if (error instanceof TicketProblem && (error.status === 401 || error.status === 403)) {
    // Nothing of it reaches a world, so the log is where it shows who tried what. The token's first part is the world's id; the secret stays out.
    const [, world] = /^Bearer ([a-z0-9]{1,63})\./i.exec(c.req.header('authorization') ?? '') ?? [];
    log.warn({ world, request: `${c.req.method} ${c.req.path}`, status: error.status, reason: error.message }, 'request refused');
  }
  if (error instanceof TicketProblem) return error.response(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {});
  if (error instanceof HTTPException && error.status === 504) {
    return new TicketProblem(504, 'timeout', 'the request took too long; whether it was done is not known').response();
  }
  const caller: Caller | undefined = c.get('caller');
  const request = `${c.req.method} ${c.req.path}`;
  if (error instanceof FencedError) {
    return new TicketProblem(423, 'fenced', 'this world, or this attempt of the operation, is closed; the request is refused').response();
  }
  if (error instanceof WorldGoneError) return new TicketProblem(401, 'unauthorized', 'this world no longer exists').response();
  // A change by the fault schedule that does not fit the world: the schedule's mistake.
  if ((error as { code?: unknown }).code === 'world_state') return new TicketProblem(500, FAULT_NOT_APPLICABLE, error.message).response();
  const problem = problemOfSqlError(error);
  if (problem !== null) return problem.response();
  log.error({ err: error, ...concernOf(caller), request }, 'ticket service failed');
  return new TicketProblem(500, 'internal', 'the ticket service failed; whether the request was done is not known').response();
}
