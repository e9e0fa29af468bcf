import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Logger } from 'pino';
import { AWAY, type CallAnswer, refusal, retryAfter, statusOf } from './answer.ts';
import { CALL_ID_FORM, isCallId } from './call-request.ts';
import { mcpEndpoint } from './mcp.ts';
import { openApiOf } from './openapi.ts';
import type { TrialSession } from './session.ts';
import type { SessionPlace, Tokens } from './tokens.ts';

/** Largest body; in bytes. Larger than the largest arguments, since these are measured without white space. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

interface App {
  /** Set once the token has been found good. */
  Variables: { session: TrialSession };
}

export interface GatewayAppOptions {
  readonly tokens: Pick<Tokens, 'find'>;
  /** Notes a request with the token of an attempt that has ended, and of which this process has no session. */
  readonly late: (place: SessionPlace, request: string) => Promise<void>;
  /** It listens on loopback and is known by no other name: a page in a browser that says otherwise was led here. */
  readonly local: boolean;
}

/** The gateway's routes. Every request needs the bearer token of a session. */
export function gatewayApp({ tokens, late, local }: GatewayAppOptions, log: Logger): Hono<App> {
  const app = new Hono<App>();

  app.onError((error, c) => {
    // A client that went away while it sent its request is no failure of ours.
    log.warn({ err: error, request: `${c.req.method} ${c.req.path}` }, 'a request failed');
    return answer(c, refusal('harness', 'The gateway failed; no call was made.'));
  });
  app.notFound((c) => noCall(c, refusal('not_found', 'There is nothing under this path; /openapi.json describes what there is.')));
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
    const [, token = ''] = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
    const found = await tokens.find(token);
    const request = `${c.req.method} ${c.req.path}`;
    if (found.kind === 'nobody') {
      // Nothing of it reaches a world, so the log is where it shows.
      log.warn({ request }, 'a request without a valid token was refused');
      return answer(c, refusal('unauthorized', 'The bearer token is missing or not valid.'), { 'www-authenticate': 'Bearer' });
    }
    if (found.kind === 'away') return answer(c, AWAY);
    if (found.kind === 'ended' || found.session.closed) {
      const noted = found.kind === 'ended' ? late(found.place, request) : found.session.noteLate(request);
      await noted.catch((error: unknown) => log.warn({ err: error, request }, 'a late attempt could not be noted'));
      return answer(c, refusal('token_ended', 'The conversation has ended, and its token with it.'), { 'www-authenticate': 'Bearer' });
    }
    c.set('session', found.session);
    return next();
  });
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => noCall(c, refusal('payload_too_large', `A body may have ${MAX_BODY_BYTES} bytes.`)) }));

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
  const mcp = mcpEndpoint(MAX_BODY_BYTES, (error) => log.info({ err: error }, 'an MCP request was refused'));
  app.all('/mcp', async (c) => {
    const response = await mcp(c.req.raw, c.get('session'));
    if (response.status >= 400) c.get('session').noteOther();
    return response;
  });
  return app;
}

/** A request that is no call: it counts against a bound of its own. */
function noCall(c: Context<App>, told: CallAnswer, headers: { readonly [name: string]: string } = {}): Response {
  // There is none where the token was refused.
  const session = c.get('session') as TrialSession | undefined;
  session?.noteOther();
  return answer(c, told, headers);
}

function answer(c: Context<App>, told: CallAnswer, headers: { readonly [name: string]: string } = {}): Response {
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
