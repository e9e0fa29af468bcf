import { setTimeout as pause } from 'node:timers/promises';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelRoute } from '../../domain/model.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { ModelTurn } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import type { ModelClientSide, PassOptions } from './asking.ts';
import { PassedCall } from './passed-call.ts';
import { type Refusal, refusalResponse, type WireFormat } from './wire.ts';

/** Before a provider in trouble is asked again, where it does not say when; twice as long each time. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * One request of an agent to a model, passed on to the provider of its route and recorded. Bytes of the reply go to the agent as they come. Until the first of them a
 * provider that is limited, broken or silent is asked again, as often as the route says, without the agent.
 */
export class PassThrough {
  private readonly format: WireFormat;
  private readonly options: PassOptions;

  constructor(format: WireFormat, options: PassOptions) {
    this.format = format;
    this.options = options;
  }

  /** Never rejects. */
  async answer(text: string, client: ModelClientSide): Promise<Response> {
    const body = parse(text);
    const route = body === null ? 'The body is no JSON object.' : this.routeOf(body['model']);
    if (body === null || typeof route === 'string') {
      this.options.other();
      return this.refuse(body === null ? 'invalid' : 'not_found', String(route));
    }
    const { account, client: models, events, signal } = this.options;
    const admitted = account.admit();
    if ('refusal' in admitted) {
      events.exhausted({ code: 'budget_exhausted', message: admitted.refusal });
      return this.refuse('budget', admitted.refusal);
    }
    const call = new PassedCall(this.format, this.options, { id: admitted.id, route, body });
    const { promise: response, resolve } = Promise.withResolvers<Response>();
    const over = AbortSignal.any([client.signal, signal]);
    // Waits end with each turn, and with the call where none came.
    let waits = false;
    const wait = () => {
      if (!waits) events.waiting();
      waits = true;
    };
    const serve = () => {
      if (waits) events.served();
      waits = false;
    };
    const tries = async () => {
      for (let number = 1; ; number++) {
        wait();
        // The turn lasts as long as the reply; the response is given as soon as its head is there.
        const turn = ({ key, hold }: ModelTurn) => {
          serve();
          return call.run(resolve, { ...client, key, hold, signal: over, last: number > route.retries });
        };
        const trouble = await models.take(route, over, turn, account.waits);
        if (trouble === null) return;
        wait();
        // Where it has said how long, nothing is sent to it until then.
        if (trouble.retryAfterMs !== null) continue;
        const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (number - 1));
        account.waits(pauseMs);
        await pause(pauseMs, undefined, { signal: over });
      }
    };
    const ended = tries()
      .catch(async (error: unknown) => {
        if (error instanceof ModelError) {
          events.failed(error);
          resolve(this.refuse('setup', 'The test bed has no way to this model.'));
        } else resolve(this.refuse('harness', 'The call was cancelled.'));
        await call.end('failed', error instanceof ModelError ? error : new ModelError('passing', 'model_cut_off', 'The call ended before it was answered.'));
      })
      .finally(serve);
    this.options.track(ended);
    return response;
  }

  private routeOf(asked: Json | undefined): ModelRoute | string {
    const routes = this.options.account.routes.filter(({ api }) => api === this.format.api);
    const named = routes.find(({ name }) => name === asked) ?? routes.find(({ model }) => model === asked);
    const [only] = routes;
    if (named ?? (routes.length === 1 && only)) return named ?? (only as ModelRoute);
    return `There is no route to a model ${printable(JSON.stringify(asked ?? null), 100)} here; there are: ${routes.map(({ name }) => name).join(', ') || 'none'}.`;
  }

  private refuse(refusal: Refusal, message: string): Response {
    return refusalResponse(this.format.api, refusal, message);
  }
}

function parse(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}
