import { z } from 'zod';
import type { Json, JsonObject } from '../domain/json.ts';
import type { FileProblem } from '../suite/suite.ts';
import type { Path } from '../suite/yaml-file.ts';
import { type JsonDocument, problemIn, refuseIfAny } from './documents.ts';

/** An event of a span, or a log record that belongs to one. */
export interface TracedEvent {
  readonly name: string;
  readonly attributes: JsonObject;
  /** Of a log record; null: it has none. */
  readonly body: Json;
  readonly at: Place;
}

/** A span as OTLP tells it. */
export interface TracedSpan {
  readonly trace: string;
  readonly span: string;
  /** Empty: none. */
  readonly parent: string;
  /** Nanoseconds since 1970; null: not told. */
  readonly startedAt: bigint | null;
  readonly attributes: JsonObject;
  readonly failed: boolean;
  /** What its status says. */
  readonly message: string;
  readonly events: readonly TracedEvent[];
  readonly at: Place;
}

/** Where an attribute stands, so that what is wrong with it can be told. */
export type Place = (attribute?: string) => { readonly document: JsonDocument; readonly path: Path };

const MAX_SPANS = 200_000;
const nanos = z.union([z.string().regex(/^\d{1,20}$/, 'expected nanoseconds since 1970'), z.int().min(0)]);
const id = z.string().max(64);
const attributes = z
  .array(z.looseObject({ key: z.string(), value: z.looseObject({}).optional() }))
  .max(2_000)
  .optional();
const event = z.looseObject({ name: z.string().optional(), timeUnixNano: nanos.optional(), attributes });
const span = z.looseObject({
  traceId: id,
  spanId: id.optional(),
  parentSpanId: id.nullish(),
  startTimeUnixNano: nanos.optional(),
  attributes,
  events: z.array(event).optional(),
  status: z.looseObject({ code: z.union([z.int(), z.string()]).optional(), message: z.string().optional() }).optional(),
});
const log = z.looseObject({ eventName: z.string().optional(), traceId: id.optional(), spanId: id.optional(), body: z.looseObject({}).nullish(), attributes });
const exported = z.looseObject({
  resourceSpans: z.array(z.looseObject({ scopeSpans: z.array(z.looseObject({ spans: z.array(span).optional() })).optional() })).optional(),
  resourceLogs: z.array(z.looseObject({ scopeLogs: z.array(z.looseObject({ logRecords: z.array(log).optional() })).optional() })).optional(),
});

/** Whether a document is an export of OpenTelemetry. */
export function isOtlp({ value }: JsonDocument): boolean {
  return typeof value === 'object' && value !== null && ('resourceSpans' in value || 'resourceLogs' in value);
}

/** Spans of exports in OTLP's JSON encoding, each with its events and the log records that name it. @throws {SuiteFileError} */
export function spansOf(documents: readonly JsonDocument[]): readonly TracedSpan[] {
  const problems: FileProblem[] = [];
  const spans: TracedSpan[] = [];
  const logs = new Map<string, TracedEvent[]>();
  for (const document of documents) {
    const read = exported.safeParse(document.value);
    if (!read.success) {
      for (const { path, message } of read.error.issues.slice(0, 3))
        problems.push(
          problemIn(
            document,
            path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
            message,
          ),
        );
      continue;
    }
    for (const [r, { scopeSpans = [] }] of (read.data.resourceSpans ?? []).entries())
      for (const [s, { spans: found = [] }] of scopeSpans.entries())
        for (const [n, one] of found.entries()) spans.push(spanOf(one, document, ['resourceSpans', r, 'scopeSpans', s, 'spans', n]));
    for (const [r, { scopeLogs = [] }] of (read.data.resourceLogs ?? []).entries())
      for (const [s, { logRecords = [] }] of scopeLogs.entries())
        for (const [n, record] of logRecords.entries()) {
          const key = `${record.traceId ?? ''}/${record.spanId ?? ''}`;
          const told = valuesOf(record.attributes);
          const name = record.eventName ?? told['event.name'];
          const at = placeIn(document, ['resourceLogs', r, 'scopeLogs', s, 'logRecords', n], record.attributes);
          if (typeof name === 'string')
            logs.set(key, [...(logs.get(key) ?? []), { name, attributes: told, body: record.body ? anyValue(record.body) : null, at }]);
        }
    const [first] = documents;
    if (spans.length > MAX_SPANS && first)
      problems.push(problemIn(first, [], `there are more than ${MAX_SPANS} spans; import fewer at once, such as one hour of them`));
    if (problems.length > 0) break;
  }
  refuseIfAny(problems);
  return spans.map((one) => ({ ...one, events: [...one.events, ...(logs.get(`${one.trace}/${one.span}`) ?? [])] }));
}

function spanOf(one: z.output<typeof span>, document: JsonDocument, path: Path): TracedSpan {
  return {
    trace: one.traceId,
    span: one.spanId ?? '',
    parent: one.parentSpanId ?? '',
    startedAt: one.startTimeUnixNano === undefined ? null : BigInt(one.startTimeUnixNano),
    attributes: valuesOf(one.attributes),
    failed: one.status?.code === 2 || one.status?.code === 'STATUS_CODE_ERROR',
    message: one.status?.message ?? '',
    events: (one.events ?? []).map((inner, index) => ({
      name: inner.name ?? '',
      attributes: valuesOf(inner.attributes),
      body: null,
      at: placeIn(document, [...path, 'events', index], inner.attributes),
    })),
    at: placeIn(document, path, one.attributes),
  };
}

function placeIn(document: JsonDocument, path: Path, written: z.output<typeof attributes>): Place {
  return (attribute) => {
    const index = attribute === undefined ? -1 : (written ?? []).findIndex(({ key }) => key === attribute);
    return { document, path: index < 0 ? path : [...path, 'attributes', index, 'value'] };
  };
}

function valuesOf(written: z.output<typeof attributes>): JsonObject {
  return Object.fromEntries((written ?? []).map(({ key, value }) => [key, value === undefined ? null : anyValue(value)]));
}

/** A value in OTLP's JSON: whole numbers of 64 bits are texts there. */
function anyValue(value: { readonly [key: string]: unknown }): Json {
  if (typeof value['stringValue'] === 'string') return value['stringValue'];
  if (typeof value['boolValue'] === 'boolean') return value['boolValue'];
  if (typeof value['doubleValue'] === 'number') return value['doubleValue'];
  if (typeof value['intValue'] === 'string' || typeof value['intValue'] === 'number') {
    const number = Number(value['intValue']);
    return Number.isSafeInteger(number) ? number : String(value['intValue']);
  }
  const items = listIn(value['arrayValue']);
  if (items) return items.map(anyValue);
  const pairs = listIn(value['kvlistValue']);
  if (pairs) return Object.fromEntries(pairs.map(({ key, value: inner }) => [String(key), isRecord(inner) ? anyValue(inner) : null]));
  return null;
}

function listIn(value: unknown): readonly { readonly [key: string]: unknown }[] | null {
  if (!isRecord(value)) return null;
  const { values = [] } = value;
  return Array.isArray(values) ? values.filter(isRecord) : [];
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
