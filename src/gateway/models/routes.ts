import type { Hono } from 'hono';
import type { ModelRoute } from '../../domain/model.ts';
import type { App } from '../app.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';
import { PassThrough } from './pass-through.ts';
import type { WireFormat } from './wire.ts';

/** Largest request of a model: conversations with images are large; in bytes. */
export const MAX_MODEL_BODY_BYTES = 32 * 1024 * 1024;

const BASES: { readonly [api in ModelRoute['api']]: string } = { openai: '/model/openai', anthropic: '/model/anthropic' };
const FORMATS: readonly WireFormat[] = [openAiChat, openAiResponses, anthropicMessages];

/** Base URLs as providers' libraries take them, for those formats of which a session has a route. */
export function modelUrls(gateway: string, routes: readonly ModelRoute[]): { readonly openai?: string; readonly anthropic?: string } {
  const has = (api: ModelRoute['api']) => routes.some((route) => route.api === api);
  return {
    ...(has('openai') && { openai: `${gateway}${BASES.openai}/v1` }),
    // Its library adds /v1 by itself.
    ...(has('anthropic') && { anthropic: `${gateway}${BASES.anthropic}` }),
  };
}

/** Whose form an answer under this path has; null: no provider's. */
export function providerOf(path: string): ModelRoute['api'] | null {
  if (path.startsWith(`${BASES.openai}/`)) return 'openai';
  return path.startsWith(`${BASES.anthropic}/`) ? 'anthropic' : null;
}

/** Models as providers serve them, for the session of a request. */
export function serveModels(app: Hono<App>): void {
  for (const format of FORMATS) {
    app.post(`${BASES[format.api]}${format.path}`, async (c) =>
      new PassThrough(format, c.get('session').models).answer(await c.req.text(), {
        headers: c.req.raw.headers,
        signal: c.req.raw.signal,
        // An error of the stream would be printed by the server, and told to the agent in words of its own.
        hangUp: () => c.env.outgoing.destroy(),
      }),
    );
  }
  app.get(`${BASES.openai}/v1/models`, (c) => {
    const routes = c.get('session').models.account.routes.filter(({ api }) => api === 'openai');
    return c.json({ object: 'list', data: routes.map(({ model }) => ({ id: model, object: 'model', created: 0, owned_by: 'trialbed' })) });
  });
}
