import type { Payload, PayloadCodec } from '@temporalio/common';
import type { HistoryEvent, HistoryRun } from './history.ts';

/** Encodings that any reader reads. */
const PLAIN: ReadonlySet<string> = new Set(['json/plain', 'json/protobuf', 'binary/plain', 'binary/null', 'binary/protobuf']);

/** A run with its payloads as they were before they were encrypted. The run itself stays as it is. @throws KeyMissingError where there is no key for one of them */
export async function decodedRun({ run, events }: HistoryRun, codec: PayloadCodec): Promise<HistoryRun> {
  return { run, events: (await decoded(events, codec)) as readonly HistoryEvent[] };
}

async function decoded(value: unknown, codec: PayloadCodec): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return await Promise.all(value.map((one) => decoded(one, codec)));
  const payload = payloadOf(value);
  if (payload !== null) return writtenOf((await codec.decode([payload]))[0] ?? payload);
  return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([field, one]) => [field, await decoded(one, codec)] as const)));
}

/** A payload that is not plain; null: the value is something else. */
function payloadOf(value: object): Payload | null {
  const { metadata, data } = value as { readonly metadata?: { readonly [name: string]: unknown }; readonly data?: unknown };
  if (typeof metadata?.encoding !== 'string' || typeof data !== 'string') return null;
  if (PLAIN.has(Buffer.from(metadata.encoding, 'base64').toString())) return null;
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, Buffer.from(String(text), 'base64')])),
    data: Buffer.from(data, 'base64'),
  };
}

function writtenOf({ metadata, data }: Payload): object {
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  return { metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)])), data: base64(data) };
}
