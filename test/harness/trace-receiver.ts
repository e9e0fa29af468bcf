import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';

/** A span as a receiver of OTLP gets it. */
export interface ReceivedSpan {
  readonly trace: string;
  readonly id: string;
  /** Null: of a root. */
  readonly parent: string | null;
  readonly name: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: { readonly [name: string]: string | number | boolean };
  readonly error: boolean;
}

/** A receiver of traces over OTLP/HTTP. */
export interface TraceReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** All that was sent, as it came. */
  readonly bodies: readonly Buffer[];
  readonly requests: readonly { readonly path: string; readonly headers: NodeJS.Dict<string | string[]> }[];
}

/** `status`: what it answers; only with 200 it takes what comes. */
export async function startTraceReceiver(status = 200): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const requests: { path: string; headers: NodeJS.Dict<string | string[]> }[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    requests.push({ path: request.url ?? '', headers: request.headers });
    if (status === 200) {
      bodies.push(body);
      spans.push(...decode(body));
    }
    response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const field = (type: string, id: number, rule?: 'repeated') => ({ type, id, ...(rule && { rule }) });

/** OpenTelemetry's own numbers. */
const REQUEST = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { resourceSpans: field('ResourceSpans', 1, 'repeated') } },
    ResourceSpans: { fields: { scopeSpans: field('ScopeSpans', 2, 'repeated') } },
    ScopeSpans: { fields: { spans: field('Span', 2, 'repeated') } },
    Span: {
      fields: {
        traceId: field('bytes', 1),
        spanId: field('bytes', 2),
        parentSpanId: field('bytes', 4),
        name: field('string', 5),
        startTimeUnixNano: field('fixed64', 7),
        endTimeUnixNano: field('fixed64', 8),
        attributes: field('KeyValue', 9, 'repeated'),
        status: field('Status', 15),
      },
    },
    KeyValue: { fields: { key: field('string', 1), value: field('AnyValue', 2) } },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue'] } },
      fields: { stringValue: field('string', 1), boolValue: field('bool', 2), intValue: field('int64', 3), doubleValue: field('double', 4) },
    },
    Status: { fields: { message: field('string', 2), code: field('int32', 3) } },
  },
}).lookupType('Request');

interface Decoded {
  readonly resourceSpans?: readonly { readonly scopeSpans?: readonly { readonly spans?: readonly DecodedSpan[] }[] }[];
}

interface DecodedSpan {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId?: Uint8Array;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly { readonly key: string; readonly value: { readonly [kind: string]: string | number | boolean } }[];
  readonly status?: { readonly code?: number };
}

const ERROR = 2;

function decode(body: Buffer): ReceivedSpan[] {
  const request = REQUEST.toObject(REQUEST.decode(body), { longs: String }) as Decoded;
  const all = (request.resourceSpans ?? []).flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans = [] }) => spans));
  return all.map((span) => ({
    trace: hex(span.traceId),
    id: hex(span.spanId),
    parent: span.parentSpanId?.length ? hex(span.parentSpanId) : null,
    name: span.name,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    attributes: Object.fromEntries((span.attributes ?? []).map(({ key, value }) => [key, attribute(value)])),
    error: span.status?.code === ERROR,
  }));
}

function attribute(value: { readonly [kind: string]: string | number | boolean }): string | number | boolean {
  const [kind, found = ''] = Object.entries(value)[0] ?? [];
  return kind === 'intValue' ? Number(found) : found;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
