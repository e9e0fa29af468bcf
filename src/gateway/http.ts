import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Logger } from 'pino';
import { batchOf } from '../domain/trial.ts';
import { AWAY, type CallAnswer, refusal, retryAfter, statusOf } from './answer.ts';
import { CALL_ID_FORM, isCallId } from './call-request.ts';
import type { App, ConsolePages } from './app.ts';
import { mcpEndpoint } from './mcp.ts';
import { MAX_MODEL_BODY_BYTES, providerOf, serveModels } from './models/routes.ts';
import { serveTraces } from './models/traces.ts';
import { type Refusal, refusalResponse } from './models/wire.ts';
import { FORWARDED, forward } from './forward.ts';
import { openApiOf } from './openapi.ts';
import type { TrialSession } from './session.ts';
import type { SessionPlace, Tokens } from './tokens.ts';

/** Largest body; in bytes. Larger than the largest arguments, since these are measured without white space. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

export interface GatewayAppOptions {
  readonly tokens: Pick<Tokens, 'find'>;
  /** Notes a request with the token of an attempt that has ended, and of which this process has no session. */
  readonly late: (place: SessionPlace, request: string) => Promise<void>;
  /** It listens on loopback and is known by no other name: a page in a browser that says otherwise was led here. */
  readonly local: boolean;
  readonly answered?: (door: string, status: number) => void;
  /** The worker takes no more work. */
  readonly draining: () => boolean;
  /** The operators' console, where it is served here: it lets people in by keys of its own. */
  readonly console: () => ConsolePages | null;
}

/** The gateway's routes. Every request but that for its health, and those for the console, needs the token of a session. */
export function gatewayApp({ tokens, late, local, draining, console: pagesNow, answered }: GatewayAppOptions, log: Logger): Hono<App> {
  const app = new Hono<App>();

  app.use(async (c, next) => {
    await next();
    answered?.(doorOf(c.req.path), c.res.status);
  });
  app.onError((error, c) => {
    // A client that went away while it sent its request is no failure of ours.
    log.warn({ err: error, ...concernOf(c), request: `${c.req.method} ${c.req.path}` }, 'a request failed');
    return answer(c, refusal('harness', 'The gateway failed; no call was made.'));
  });
  app.notFound((c) => noCall(c, refusal('not_found', 'There is nothing under this path; /openapi.json describes what there is.')));
  // For whoever watches the worker: takes work, or takes none any more and is about to end.
  app.get('/health', (c) => (draining() ? c.json({ state: 'draining' }, 503) : c.json({ state: 'ready' })));
  app.use('/console/*', (c, next) => {
    const pages = pagesNow();
    return pages === null ? next() : Promise.resolve(pages.fetch(c.req.raw, c.env));
  });
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => noCall(c, refusal('method_not_allowed', `Allowed: ${methods.join(', ')}.`), { allow: methods.join(', ') }),
    }),
  );
  app.use(async (c, next) => {
    if (local) {
      const names = localhostAllowedHostnames();
      const led = [validateHostHeader(c.req.header('host'), names), validateOriginHeader(c.req.header('origin'), names)].find(({ ok }) => !ok);
      if (led) return answer(c, refusal('wrong_host', 'The gateway listens on this machine alone, and the headers Host and Origin name another.'));
    }
    const [, bearer] = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
    // Anthropic's libraries send it so.
    const token = bearer ?? c.req.header('x-api-key') ?? '';
    const found = await tokens.find(token);
    const request = `${c.req.method} ${c.req.path}`;
    if (found.kind === 'nobody') {
      // Nothing of it reaches a world, so the log is where it shows.
      log.warn({ request }, 'a request without a valid token was refused');
      return answer(c, refusal('unauthorized', 'The bearer token is missing or not valid.'), { 'www-authenticate': 'Bearer' });
    }
    if (found.kind === 'away') {
      const passed = found.place !== null && c.req.header(FORWARDED) === undefined ? await forward(c.req.raw, found.place) : null;
      return passed ?? answer(c, AWAY);
    }
    if (found.kind === 'ended' || found.session.closed) {
      const noted = found.kind === 'ended' ? late(found.place, request) : found.session.noteLate(request);
      const whose = found.kind === 'ended' ? found.place : found.session.place;
      await noted.catch((error: unknown) => log.warn({ err: error, ...concerns(whose), request }, 'a late attempt could not be noted'));
      return answer(c, refusal('token_ended', 'The conversation has ended, and its token with it.'), { 'www-authenticate': 'Bearer' });
    }
    c.set('session', found.session);
    return next();
  });
  const limits = [MAX_BODY_BYTES, MAX_MODEL_BODY_BYTES].map((maxSize) =>
    bodyLimit({ maxSize, onError: (c) => noCall(c, refusal('payload_too_large', `A body may have ${maxSize} bytes.`)) }),
  );
  app.use((c, next) => (providerOf(c.req.path) ? limits[1] : limits[0])?.(c, next) ?? next());

  app.get('/openapi.json', (c) => c.json(openApiOf(c.get('session').tools)));
  app.get('/tools', (c) => c.json({ tools: c.get('session').tools }));
  app.post('/tools/:name', async (c) => {
    const args = parse(await c.req.text());
    if (args === undefined) return noCall(c, refusal('invalid_json', 'The body is not JSON: send the arguments as an object.'));
    const callId = c.req.header('call-id') ?? null;
    if (callId !== null && !isCallId(callId)) return noCall(c, refusal('invalid_call_id', CALL_ID_FORM));
    const idempotencyKey = c.req.header('idempotency-key') ?? null;
    return answer(c, await c.get('session').call({ tool: c.req.param('name'), args, idempotencyKey, callId }));
  });
  serveModels(app);
  serveTraces(app, (error) => log.info({ err: error }, 'spans were refused'));
  const mcp = mcpEndpoint(MAX_BODY_BYTES, (error) => log.info({ err: error }, 'an MCP request was refused'));
  app.all('/mcp', async (c) => {
    const response = await mcp(c.req.raw, c.get('session'));
    if (response.status >= 400) c.get('session').noteOther();
    return response;
  });
  return app;
}

/** Whose request it is, for a line of the log. */
function concernOf(c: Context<App>): object {
  const session = c.get('session') as TrialSession | undefined;
  return session ? concerns(session.place) : {};
}

function concerns({ trial, attempt }: Pick<SessionPlace, 'trial' | 'attempt'>): object {
  return { trial, batch: batchOf(trial), attempt };
}

/** Which way in a path is; whatever else was asked for is one. */
function doorOf(path: string): string {
  if (providerOf(path)) return 'models';
  return DOORS.find((door) => path === `/${door}` || path.startsWith(`/${door}/`)) ?? 'other';
}

const DOORS = ['tools', 'mcp', 'v1/traces', 'openapi.json', 'console'];

/** A request that is no call: it counts against a bound of its own. */
function noCall(c: Context<App>, told: CallAnswer, headers: { readonly [name: string]: string } = {}): Response {
  // There is none where the token was refused.
  const session = c.get('session') as TrialSession | undefined;
  session?.noteOther();
  return answer(c, told, headers);
}

function answer(c: Context<App>, told: CallAnswer, headers: { readonly [name: string]: string } = {}): Response {
  const provider = providerOf(c.req.path);
  if (provider) return refusalResponse(provider, REFUSALS[told.problem?.code ?? ''] ?? 'harness', told.problem?.message ?? '');
  const after = retryAfter(told.problem);
  return c.json(told, statusOf(told) as ContentfulStatusCode, { ...headers, ...(after !== null && { 'retry-after': String(after) }) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The gateway's own refusals, as a provider would word them. */
const REFUSALS: { readonly [code: string]: Refusal } = {
  unauthorized: 'unauthorized',
  token_ended: 'unauthorized',
  not_found: 'not_found',
  method_not_allowed: 'not_found',
  payload_too_large: 'too_large',
};
