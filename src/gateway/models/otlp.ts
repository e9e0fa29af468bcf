import protobuf from 'protobufjs';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelUsage } from '../../domain/model.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { CallEnd } from './account.ts';
import { countIn, listIn, objectIn, textIn } from './values.ts';

/** Of one request; more are not looked at. */
const MAX_SPANS = 5_000;
const MAX_NAME = 200;

/** Operations whose spans sum up the calls below them, or are none of a model. */
const NO_CALLS: ReadonlySet<string> = new Set(['invoke_agent', 'create_agent', 'execute_tool', 'invoke_workflow']);

/** The parts of `ExportTraceServiceRequest` that are read, with the numbers of OpenTelemetry's own definition. */
const MESSAGES = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { resourceSpans: { rule: 'repeated', type: 'ResourceSpans', id: 1 } } },
    ResourceSpans: { fields: { scopeSpans: { rule: 'repeated', type: 'ScopeSpans', id: 2 } } },
    ScopeSpans: { fields: { spans: { rule: 'repeated', type: 'Span', id: 2 } } },
    Span: {
      fields: {
        traceId: { type: 'bytes', id: 1 },
        spanId: { type: 'bytes', id: 2 },
        startTimeUnixNano: { type: 'fixed64', id: 7 },
        endTimeUnixNano: { type: 'fixed64', id: 8 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
      },
    },
    KeyValue: { fields: { key: { type: 'string', id: 1 }, value: { type: 'AnyValue', id: 2 } } },
    AnyValue: {
      fields: { stringValue: { type: 'string', id: 1 }, intValue: { type: 'int64', id: 3 }, doubleValue: { type: 'double', id: 4 } },
    },
  },
});

/** Reads a request of OTLP over HTTP in protobuf. @throws for what is none */
export function decodeTraces(bytes: Uint8Array): Json {
  const type = MESSAGES.lookupType('Request');
  return type.toObject(type.decode(bytes), { longs: String, bytes: Array }) as Json;
}

/** Calls of models that a request of OTLP tells of, by the conventions for generative AI: each span of a model's call, with its tokens where it has them. */
export function callsIn(request: Json): readonly CallEnd[] {
  const spans = listIn(objectIn(request)['resourceSpans'])
    .flatMap((resource) => listIn(objectIn(resource)['scopeSpans']))
    .flatMap((scope) => listIn(objectIn(scope)['spans']));
  return spans.slice(0, MAX_SPANS).flatMap((span) => callOf(objectIn(span)) ?? []);
}

function callOf(span: JsonObject): CallEnd | null {
  const told = attributesOf(span['attributes']);
  const operation = textIn(told['gen_ai.operation.name']);
  const usage = usageOf(told);
  const model = textIn(told['gen_ai.request.model']) ?? textIn(told['gen_ai.response.model']);
  if (operation !== null && NO_CALLS.has(operation)) return null;
  if (usage === null && (operation === null || model === null)) return null;
  const [trace, id] = [idOf(span['traceId']), idOf(span['spanId'])];
  if (trace === null || id === null) return null;
  const provider = textIn(told['gen_ai.provider.name']) ?? textIn(told['gen_ai.system']) ?? 'unknown';
  const latencyMs = (Number(span['endTimeUnixNano']) - Number(span['startTimeUnixNano'])) / 1e6;
  const parameters = Object.entries(told).filter(([name, value]) => /^gen_ai\.request\.(?!model$|seed$)\w+$/.test(name) && typeof value === 'number');
  return {
    ...{ id: `otlp-${trace}-${id}`, source: 'otlp', route: printable(provider, MAX_NAME), url: null, model: printable(model ?? 'unknown', MAX_NAME) },
    reported: textIn(told['gen_ai.response.model'])?.slice(0, MAX_NAME) ?? null,
    parameters: Object.fromEntries(parameters.map(([name, value]) => [name.slice('gen_ai.request.'.length), value])),
    seed: countIn(told['gen_ai.request.seed']),
    usage,
    latencyMs: Number.isFinite(latencyMs) && latencyMs >= 0 ? latencyMs : null,
    tries: 1,
    end: 'replied',
    problem: null,
  };
}

function usageOf(told: JsonObject): ModelUsage | null {
  const input = countIn(told['gen_ai.usage.input_tokens']) ?? countIn(told['gen_ai.usage.prompt_tokens']);
  const output = countIn(told['gen_ai.usage.output_tokens']) ?? countIn(told['gen_ai.usage.completion_tokens']);
  if (input === null && output === null) return null;
  return { input: input ?? 0, output: output ?? 0, cached: countIn(told['gen_ai.usage.cache_read.input_tokens']), reasoning: null };
}

/** Whole numbers may be texts, since JSON has no 64 bits. */
function attributesOf(value: Json | undefined): JsonObject {
  return Object.fromEntries(
    listIn(value).flatMap((item): [string, Json][] => {
      const { key, value: any } = objectIn(item);
      const { stringValue, intValue, doubleValue } = objectIn(any);
      const read = intValue === undefined ? (doubleValue ?? stringValue) : Number(intValue);
      return typeof key === 'string' && read !== undefined ? [[key, read]] : [];
    }),
  );
}

/** Hexadecimal in JSON; bytes otherwise. */
function idOf(value: Json | undefined): string | null {
  if (typeof value === 'string') return /^[0-9A-Za-z+/=]{1,64}$/.test(value) ? value : null;
  const bytes = listIn(value).filter((byte) => typeof byte === 'number');
  return bytes.length === 0 || bytes.length > 32 ? null : Buffer.from(bytes).toString('hex');
}
