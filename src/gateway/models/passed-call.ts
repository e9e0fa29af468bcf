import type { Dispatcher } from 'undici';
import type { JsonObject } from '../../domain/json.ts';
import type { ModelRoute } from '../../domain/model.ts';
import { printable } from '../../domain/text/bounded.ts';
import { ModelError } from '../../models/errors.ts';
import { failureOf } from '../../models/provider-failure.ts';
import { replaceSecrets } from '../../models/redact.ts';
import type { CallEnd } from './account.ts';
import { type ModelClientSide, type PassOptions, tell } from './asking.ts';
import { Provider } from './provider.ts';
import { documentTap, streamTap, type Tap } from './tap.ts';
import { objectIn } from './values.ts';
import { refusalResponse, type WireFormat, type WireMessage } from './wire.ts';

/** Of a provider's refusal, which the agent is told as it is. */
const MAX_PROBLEM_BYTES = 256 * 1024;
const MAX_PROBLEM_LENGTH = 1_000;

interface Sending extends ModelClientSide {
  readonly key: string | null;
  readonly hold: (ms: number) => void;
  /** No other try follows: what it meets is told to the agent. */
  readonly last: boolean;
}

/** One call, from sending to its record. */
export class PassedCall {
  private readonly format: WireFormat;
  private readonly options: PassOptions;
  private readonly asked: { readonly id: string; readonly route: ModelRoute; readonly body: JsonObject };
  private sentAt = 0;
  private tries = 0;

  constructor(format: WireFormat, options: PassOptions, asked: PassedCall['asked']) {
    this.format = format;
    this.options = options;
    this.asked = asked;
  }

  /** One try. Resolves with null once the reply has ended and is recorded, or with why another try may follow: the provider was in trouble. */
  async run(respond: (response: Response) => void, sending: Sending): Promise<ModelError | null> {
    const { route, body } = this.asked;
    const { api, upstream, headers: passed } = this.format;
    await using provider = new Provider(route, sending.key);
    const giveBack = this.options.events.mark();
    this.tries++;
    this.sentAt = performance.now();
    let reply: Dispatcher.ResponseData;
    try {
      const headers = passed.flatMap((name): [string, string][] => (sending.headers.has(name) ? [[name, sending.headers.get(name) ?? '']] : []));
      reply = await provider.send(upstream, Object.fromEntries(headers), JSON.stringify(this.format.request(body, route)), sending.signal);
    } catch (error) {
      sending.signal.throwIfAborted();
      const failure = provider.failureOf(error);
      giveBack();
      if (!sending.last) return failure;
      respond(refusalResponse(api, failure.code === 'model_timeout' ? 'timeout' : 'unreachable', failure.message));
      await this.end('failed', failure);
      return null;
    }
    if (reply.statusCode === 200) {
      await this.pass(provider, reply, respond, sending);
      return null;
    }
    const { failure, response } = await this.refusalOf(provider, reply, sending);
    if (failure.kind === 'passing') giveBack();
    if (failure.retryAfterMs !== null) sending.hold(failure.retryAfterMs);
    if (failure.kind === 'passing' && !sending.last) return failure;
    await this.end(failure.kind === 'refused' ? 'refused' : 'failed', failure);
    if (failure.kind === 'setup') this.options.events.failed(failure);
    respond(response);
    return null;
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
      tries: Math.max(1, this.tries),
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
    let counted = false;
    try {
      for await (const chunk of provider.read(reply.body)) {
        const out = tap.chunk(chunk);
        // Libraries leave at a stream's last event, and the next request may come at once: it is counted before they have that.
        if (tap.whole && !counted) {
          counted = true;
          await this.end('replied', null, tap.end());
        }
        if (out.length > 0) await writer.write(out);
      }
    } catch (error) {
      cut = new ModelError('passing', 'model_cut_off', `The reply ended in the middle: ${provider.wordsOf(error)}`);
    }
    if (!counted) {
      const heard = tap.end();
      if (!heard.whole && heard.reply.usage === null) cut ??= new ModelError('passing', 'model_cut_off', 'The reply ended in the middle.');
      await this.end('replied', cut, heard);
      if (cut !== null) hangUp();
    }
    await writer.close().catch(() => undefined);
  }

  /** What a provider said instead of a reply, and how the agent is told. */
  private async refusalOf(provider: Provider, reply: Dispatcher.ResponseData, { key }: Sending): Promise<{ failure: ModelError; response: Response }> {
    const { route } = this.asked;
    const text = replaceSecrets(await provider.text(reply.body, MAX_PROBLEM_BYTES), key === null || route.key === null ? {} : { [route.key]: key });
    const headers = headersOf(reply);
    const failure = failureOf(route, { status: reply.statusCode, headers }, text);
    if (reply.statusCode < 400) return { failure, response: refusalResponse(this.format.api, 'setup', 'The test bed has no way to this model.') };
    return { failure, response: new Response(text, { status: reply.statusCode, headers }) };
  }
}

/** Headers of a provider that its libraries look at. */
const TOLD = ['content-type', 'retry-after', 'retry-after-ms', 'request-id', 'x-request-id'];

function headersOf({ headers }: Dispatcher.ResponseData): Headers {
  return new Headers(TOLD.flatMap((name): [string, string][] => (headers[name] === undefined ? [] : [[name, String(headers[name])]])));
}
