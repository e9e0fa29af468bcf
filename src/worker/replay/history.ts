import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** One event of a workflow's history, as Temporal's tools write it in JSON. */
export interface HistoryEvent {
  /** A number in digits, from `1`. */
  readonly eventId: string;
  /** Such as `EVENT_TYPE_TIMER_STARTED`. */
  readonly eventType: string;
  readonly eventTime?: string;
  readonly [field: string]: unknown;
}

/** One run of a workflow: from its start to its end, or to where it continued as new. */
export interface HistoryRun {
  readonly run: string;
  readonly events: readonly HistoryEvent[];
}

/** A workflow with the runs that are known of it, the oldest first. */
export interface WorkflowHistory {
  readonly workflow: string;
  readonly runs: readonly HistoryRun[];
}

/** What Temporal's libraries call a history. */
export type ProtoHistory = ReturnType<typeof historyFromJSON>;

/** For the SDK. @throws {TypeError} for what is no history. */
export function protoOf(events: readonly HistoryEvent[]): ProtoHistory {
  return historyFromJSON({ events });
}

/** The events of a history as this project reads them, whoever wrote it. */
export function eventsOf(history: ProtoHistory): readonly HistoryEvent[] {
  return (JSON.parse(historyToJSON(history)) as { readonly events: readonly HistoryEvent[] }).events;
}

/** The kind of an event as people write it, such as `TimerStarted`. */
export function typeOf({ eventType }: HistoryEvent): string {
  return eventType
    .replace(/^EVENT_TYPE_/, '')
    .toLowerCase()
    .replace(/(^|_)(\w)/g, (_whole, _mark, letter: string) => letter.toUpperCase());
}

export type Fields = { readonly [field: string]: unknown };

/** What an event carries. */
export function attributesOf(event: HistoryEvent): Fields {
  const name = Object.keys(event).find((field) => field.endsWith('EventAttributes'));
  return fieldsOf(name === undefined ? null : event[name]);
}

/** A value as an object; one without fields where it is none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** The first of some payloads, where it is plain JSON; null: it is not there, or cannot be read without a key. */
export function payloadValue(payloads: unknown): unknown {
  const list = fieldsOf(payloads).payloads;
  const { metadata, data } = fieldsOf(Array.isArray(list) ? list[0] : payloads);
  const encoding = fieldsOf(metadata).encoding;
  if (typeof data !== 'string' || typeof encoding !== 'string' || decoded(encoding) !== 'json/plain') return null;
  try {
    return JSON.parse(decoded(data));
  } catch {
    return null;
  }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
