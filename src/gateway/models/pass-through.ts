import type { Dispatcher } from 'undici';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelRoute } from '../../domain/model.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { ModelClient } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import { failureOf } from '../../models/provider-failure.ts';
import { replaceSecrets } from '../../models/redact.ts';
import type { CallEnd, Exceeded, ModelAccount } from './account.ts';
import { documentTap, streamTap, type Tap } from './tap.ts';
import { Provider } from './provider.ts';
import { objectIn } from './values.ts';
import { type Refusal, refusalBody, type WireFormat, type WireMessage } from './wire.ts';

/** Of a provider's refusal, which the agent is told as it is. */
const MAX_PROBLEM_BYTES = 256 * 1024;
const MAX_PROBLEM_LENGTH = 1_000;

/** What the conversation has to hear of model calls. */
export interface ModelEvents {
  /** The agent waits for a rate limit, and no longer: none of its own time. */
  readonly waiting: () => void;
  readonly served: () => void;
  /** The agent asked for more than its budget, or its last reply went beyond it. */
  readonly exhausted: (problem: { readonly code: string; readonly message: string }) => void;
  /** Key, route or record failed: the harness's trouble. */
  readonly failed: (error: unknown) => void;
}

export interface PassOptions {
  readonly account: ModelAccount;
  readonly client: Pick<ModelClient, 'take'>;
  readonly events: ModelEvents;
  /** Ends calls that are under way, with the attempt. */
  readonly signal: AbortSignal;
  /** Told of each call; it never rejects. */
  readonly track: (call: Promise<void>) => void;
  /** Counts a request that is no call of a model. */
  readonly other: () => void;
}

/** Whoever asks. */
export interface ModelClientSide {
  readonly headers: Headers;
  /** Raised when it hangs up. */
  readonly signal: AbortSignal;
  /** Breaks its connection off. */
  readonly hangUp: () => void;
}

/** One request of an agent to a model, passed on to the provider of its route and recorded. Bytes of the reply go to the agent as they come. */
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
    const call = new Call(this.format, this.options, { id: admitted.id, route, body });
    const { promise: response, resolve } = Promise.withResolvers<Response>();
    const over = AbortSignal.any([client.signal, signal]);
    events.waiting();
    let served = false;
    const serve = () => {
      if (!served) events.served();
      served = true;
    };
    // The turn lasts as long as the reply; the response is given as soon as its head is there.
    const ended = models
      .take(route, over, async ({ key, hold }) => {
        serve();
        await call.run(resolve, { ...client, key, hold, signal: over });
      })
      .catch(async (error: unknown) => {
        if (error instanceof ModelError) {
          events.failed(error);
          resolve(this.refuse('setup', 'The test bed has no way to this model.'));
        } else resolve(this.refuse('harness', 'The call was cancelled.'));
        await call.end('failed', error instanceof ModelError ? error : new ModelError('passing', 'model_cut_off', 'The call ended before it was sent.'));
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

/** A refusal of the gateway, told in the provider's form; its libraries do not send again what cannot succeed. */
export function refusalResponse(api: ModelRoute['api'], refusal: Refusal, message: string): Response {
  const { status, body } = refusalBody(api, refusal, message);
  return Response.json(body, { status, headers: { 'x-should-retry': 'false' } });
}

interface Sending extends ModelClientSide {
  readonly key: string | null;
  readonly hold: (ms: number) => void;
}

/** One call, from sending to its record. */
class Call {
  private readonly format: WireFormat;
  private readonly options: PassOptions;
  private readonly asked: { readonly id: string; readonly route: ModelRoute; readonly body: JsonObject };
  private sentAt = 0;

  constructor(format: WireFormat, options: PassOptions, asked: Call['asked']) {
    this.format = format;
    this.options = options;
    this.asked = asked;
  }

  /** Resolves once the reply has ended and is recorded. */
  async run(respond: (response: Response) => void, sending: Sending): Promise<void> {
    const { route, body } = this.asked;
    const { api, upstream, headers: passed } = this.format;
    await using provider = new Provider(route, sending.key);
    this.sentAt = performance.now();
    let reply: Dispatcher.ResponseData;
    try {
      const headers = passed.flatMap((name): [string, string][] => (sending.headers.has(name) ? [[name, sending.headers.get(name) ?? '']] : []));
      reply = await provider.send(upstream, Object.fromEntries(headers), JSON.stringify(this.format.request(body, route)), sending.signal);
    } catch (error) {
      const failure = provider.failureOf(error);
      respond(refusalResponse(api, failure.code === 'model_timeout' ? 'timeout' : 'unreachable', failure.message));
      return this.end('failed', failure);
    }
    if (reply.statusCode === 200) await this.pass(provider, reply, respond, sending);
    else await this.refused(provider, reply, respond, sending);
  }

  /** Records the call. What a record cannot take is the harness's trouble. */
  async end(end: CallEnd['end'], problem: ModelError | null, heard?: ReturnType<Tap['end']>): Promise<void> {
    const { id, route, body } = this.asked;
    const { account, events } = this.options;
    const { usage = null, reported = null, message = null } = heard?.reply ?? {};
    const said: WireMessage[] = [...this.format.messages(body), ...(message === null ? [] : [{ role: 'assistant' as const, body: message }])];
    const call: CallEnd = {
      ...{ id, source: 'gateway', route: route.name, url: route.url, model: route.model, seed: route.seed, usage, reported, end },
      parameters: Object.fromEntries(Object.entries(this.format.request(body, route)).filter(([name]) => !this.format.content.includes(name))),
      latencyMs: end === 'replied' ? performance.now() - this.sentAt : null,
      problem: problem && { code: problem.code, message: printable(problem.message, MAX_PROBLEM_LENGTH) },
    };
    await account.finish(call, said, message !== null).then(
      (exceeded) => tell(events, exceeded),
      (error: unknown) => events.failed(error),
    );
  }

  /** Chunk by chunk, as fast as the agent reads. */
  private async pass(provider: Provider, reply: Dispatcher.ResponseData, respond: (response: Response) => void, { hangUp }: Sending): Promise<void> {
    const { body } = this.asked;
    const streams = String(reply.headers['content-type'] ?? '').startsWith('text/event-stream');
    const asksUsage = objectIn(this.format.request(body, this.asked.route)['stream_options'])['include_usage'] === true;
    const drops = streams && asksUsage && objectIn(body['stream_options'])['include_usage'] !== true;
    const tap = streams ? streamTap(this.format.stream(body), { drops }) : documentTap(this.format);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    respond(new Response(readable, { status: 200, headers: headersOf(reply) }));
    let cut: ModelError | null = null;
    try {
      for await (const chunk of provider.read(reply.body)) {
        const out = tap.chunk(chunk);
        if (out.length > 0) await writer.write(out);
      }
    } catch (error) {
      cut = new ModelError('passing', 'model_cut_off', `The reply ended in the middle: ${provider.wordsOf(error)}`);
    }
    const heard = tap.end();
    if (!heard.whole && heard.reply.usage === null) cut ??= new ModelError('passing', 'model_cut_off', 'The reply ended in the middle.');
    await this.end('replied', cut, heard);
    // Not before it is counted: the next request may come at once.
    if (cut !== null) hangUp();
    await writer.close().catch(() => undefined);
  }

  private async refused(provider: Provider, reply: Dispatcher.ResponseData, respond: (response: Response) => void, { key, hold }: Sending): Promise<void> {
    const { route } = this.asked;
    const text = replaceSecrets(await provider.text(reply.body, MAX_PROBLEM_BYTES), key === null || route.key === null ? {} : { [route.key]: key });
    const headers = headersOf(reply);
    const failure = failureOf(route, { status: reply.statusCode, headers }, text);
    if (failure.retryAfterMs !== null) hold(failure.retryAfterMs);
    await this.end(failure.kind === 'refused' ? 'refused' : 'failed', failure);
    if (failure.kind === 'setup') this.options.events.failed(failure);
    if (reply.statusCode < 400) respond(refusalResponse(this.format.api, 'setup', 'The test bed has no way to this model.'));
    else respond(new Response(text, { status: reply.statusCode, headers }));
  }
}

/** Tells the conversation what a call has made of its budget. */
export function tell(events: ModelEvents, { over, unmeasured }: Exceeded): void {
  if (unmeasured !== null) events.failed(new ModelError('setup', 'model_unmeasured', unmeasured));
  if (over !== null) events.exhausted({ code: 'budget_exhausted', message: over });
}

/** Headers of a provider that its libraries look at. */
const TOLD = ['content-type', 'retry-after', 'retry-after-ms', 'request-id', 'x-request-id'];

function headersOf({ headers }: Dispatcher.ResponseData): Headers {
  return new Headers(TOLD.flatMap((name): [string, string][] => (headers[name] === undefined ? [] : [[name, String(headers[name])]])));
}

function parse(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}
