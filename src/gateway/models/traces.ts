import { gunzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import type { Json } from '../../domain/json.ts';
import type { App } from '../app.ts';
import { callsIn, decodeTraces } from './otlp.ts';
import { tell } from './asking.ts';

/** Of a request once it is unpacked; in bytes. */
const MAX_UNPACKED = 16 * 1024 * 1024;
const PROTOBUF = 'application/x-protobuf';

/**
 * Takes spans of agents that measure their own calls of models (OTLP over HTTP, JSON or protobuf). They count unless calls went through the gateway, which has
 * counted those itself.
 */
export function serveTraces(app: Hono<App>, onError: (error: unknown) => void): void {
  app.post('/v1/traces', async (c) => {
    const type = (c.req.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
    if (type !== PROTOBUF && type !== 'application/json') return c.json({ message: `expected application/json or ${PROTOBUF}` }, 415);
    let request: Json;
    try {
      const sent = Buffer.from(await c.req.arrayBuffer());
      const body = c.req.header('content-encoding') === 'gzip' ? gunzipSync(sent, { maxOutputLength: MAX_UNPACKED }) : sent;
      request = type === PROTOBUF ? decodeTraces(body) : (JSON.parse(body.toString('utf8')) as Json);
    } catch (error) {
      onError(error);
      return c.json({ message: 'the body is no request of OTLP that can be read' }, 400);
    }
    const { account, events } = c.get('session').models;
    for (const call of account.measured ? [] : callsIn(request)) {
      await account.told(call).then(
        (exceeded) => tell(events, exceeded),
        (error: unknown) => events.failed(error),
      );
    }
    return type === PROTOBUF ? c.body(null, 200, { 'content-type': PROTOBUF }) : c.json({ partialSuccess: {} });
  });
}
