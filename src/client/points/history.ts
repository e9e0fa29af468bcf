import type { Client } from '@temporalio/client';
import type { Json } from '../../domain/json.ts';
import { isObject } from '../../domain/text/bounded.ts';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];
type Payload = NonNullable<NonNullable<NonNullable<HistoryEvent['activityTaskScheduledEventAttributes']>['input']>['payloads']>[number];

/** One thing in a trial's history that concerns its operations. */
export interface HistoryMark {
  readonly event: number;
  /** The same as the server gave it. */
  readonly id: HistoryEvent['eventId'];
  /**
   * `begins`: an attempt; `admitted`: an operation, a turn or a decision was let through, or an operation called; `ended`: it has an outcome; `boundary`: a workflow task was
   * completed.
   */
  readonly what: 'begins' | 'admitted' | 'ended' | 'boundary';
  readonly operation: string | null;
}

/** What a trial's newest run says of its operations, in order. */
export interface TrialHistory {
  readonly marks: readonly HistoryMark[];
  readonly events: number;
  /** Run in which these events lie. */
  readonly run: string;
}

/** Steps with which an attempt begins. */
const BEGINS: ReadonlySet<string> = new Set(['beginAttempt', 'startAttempt']);

/** Reads the history of a trial's workflow. @throws {WorkflowNotFoundError} */
export async function historyOf(temporal: Client, trial: string): Promise<TrialHistory> {
  const handle = temporal.workflow.getHandle(trial);
  const { runId } = await handle.describe();
  const { events } = await temporal.workflow.getHandle(trial, runId).fetchHistory();
  const read = new Reader(temporal);
  const marks: HistoryMark[] = [];
  for (const event of events ?? []) marks.push(...(await read.marksOf(event)));
  return { marks, events: Number(events?.at(-1)?.eventId ?? 0), run: runId };
}

class Reader {
  private readonly temporal: Client;
  /** Operations by the event that scheduled them. */
  private readonly scheduled = new Map<string, string | null>();

  constructor(temporal: Client) {
    this.temporal = temporal;
  }

  async marksOf(event: HistoryEvent): Promise<readonly HistoryMark[]> {
    const at = Number(event.eventId ?? 0);
    const mark = (what: HistoryMark['what'], operation: string | null = null): HistoryMark => ({ event: at, id: event.eventId, what, operation });
    if (event.workflowTaskCompletedEventAttributes) return [mark('boundary')];
    // Whoever sent it has been told that it counts, or is about to be.
    if (event.workflowExecutionUpdateAcceptedEventAttributes) return [mark('admitted')];
    const started = event.activityTaskScheduledEventAttributes;
    if (started) {
      if (BEGINS.has(started.activityType?.name ?? '')) return [mark('begins')];
      if (started.activityType?.name !== 'operate') return [];
      const [request] = await this.decoded(started.input?.payloads);
      const operation = isObject(request) && typeof request['operation'] === 'string' ? request['operation'] : null;
      this.scheduled.set(String(event.eventId), operation);
      return [mark('admitted', operation)];
    }
    const ended =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    if (ended) {
      const of = String(ended.scheduledEventId);
      return this.scheduled.has(of) ? [mark('ended', this.scheduled.get(of) ?? null)] : [];
    }
    return this.localMarks(event, mark);
  }

  /** A local activity is one event, at its end. */
  private async localMarks(event: HistoryEvent, mark: (what: HistoryMark['what'], operation?: string | null) => HistoryMark): Promise<readonly HistoryMark[]> {
    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName !== 'core_local_activity') return [];
    const [data] = await this.decoded(marker.details?.['data']?.payloads);
    const type = isObject(data) ? data['activity_type'] : null;
    if (typeof type === 'string' && BEGINS.has(type)) return [mark('begins')];
    if (type !== 'operate') return [];
    const [summary] = await this.decoded(event.userMetadata?.summary ? [event.userMetadata.summary] : []);
    const operation = typeof summary === 'string' ? (/^op-\d+/.exec(summary)?.[0] ?? null) : null;
    return [mark('admitted', operation), mark('ended', operation)];
  }

  private async decoded(payloads: Payload[] | null | undefined): Promise<readonly Json[]> {
    let plain = [...(payloads ?? [])];
    for (const codec of [...this.temporal.options.loadedDataConverter.payloadCodecs].reverse()) plain = await codec.decode(plain);
    return plain.map(({ data }) => parsed(data));
  }
}

function parsed(data: Uint8Array | null | undefined): Json {
  try {
    return JSON.parse(Buffer.from(data ?? []).toString('utf8')) as Json;
  } catch {
    return null;
  }
}
