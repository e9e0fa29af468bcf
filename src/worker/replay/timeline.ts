import { printable } from '../../domain/text/bounded.ts';
import type { Standing } from '../../workflows/standing.ts';
import type { Step, StepCause } from '../../workflows/steps.ts';
import { markerOf, subjectOf } from './divergence.ts';
import { attributesOf, fieldsOf, type HistoryEvent, type HistoryRun, payloadValue, typeOf } from './history.ts';

/** One event of a history, and where the workflow stood when it had heard of it. */
export interface TimelineEvent {
  readonly id: number;
  /** ISO 8601, by the server's clock. */
  readonly at: string;
  /** Such as `ActivityTaskScheduled`. */
  readonly type: string;
  /** What it is about, in a few words; may be empty. */
  readonly what: string;
  /** Null before the workflow's code has begun, or for a workflow that tells nothing of itself. */
  readonly after: StandingAfter | null;
  /** Operations that came to an end, or to another one, with this event. */
  readonly operations: readonly OperationEnd[];
}

/** A standing without the list of operations, which would let a timeline grow with its square. */
export interface StandingAfter {
  readonly workflow: Omit<Extract<Standing['workflow'], { kind: 'trial' }>, 'operations'> | Extract<Standing['workflow'], { kind: 'batch' }>;
  readonly models: Standing['models'];
}

export type OperationEnd = Extract<Standing['workflow'], { kind: 'trial' }>['operations'][number];

const MAX_WHAT = 300;

/** The events of a run with the state after each, from the steps of its replay. Of events after a divergence, only what they are is told. */
export function timelineOf(run: HistoryRun, steps: readonly Step[], until: number | null): readonly TimelineEvent[] {
  const places = new Places(run.events);
  const ends = new Map<number, Standing>();
  // A later step of the same event is what it came to.
  for (const step of steps) ends.set(Math.max(...step.causes.map((cause) => places.of(cause) ?? step.historyLength), 0), step.standing);
  let standing: Standing | null = null;
  let seen = new Map<string, string>();
  return run.events.map((event) => {
    const id = Number(event.eventId);
    if (until !== null && id >= until) standing = null;
    else standing = ends.get(id) ?? standing;
    const { after, operations, now } = changes(standing, seen);
    seen = now;
    return { id, at: event.eventTime ?? '', type: typeOf(event), what: printable(whatOf(run, event), MAX_WHAT), after, operations };
  });
}

function changes(
  standing: Standing | null,
  seen: Map<string, string>,
): { readonly after: StandingAfter | null; readonly operations: readonly OperationEnd[]; readonly now: Map<string, string> } {
  if (standing?.workflow == null) return { after: null, operations: [], now: seen };
  const { workflow, models } = standing;
  if (workflow.kind === 'batch') return { after: { workflow, models }, operations: [], now: seen };
  const { operations, ...rest } = workflow;
  const key = ({ id }: OperationEnd) => `${workflow.attempt}.${id}`;
  const text = ({ state, problem }: OperationEnd) => `${state} ${problem?.code ?? ''}`;
  return {
    after: { workflow: rest, models },
    operations: operations.filter((one) => seen.get(key(one)) !== text(one)),
    now: new Map(operations.map((one) => [key(one), text(one)])),
  };
}

/** Finds the events by which a workflow was told of something. */
class Places {
  private readonly byKey = new Map<string, number>();
  /** Events of signals, which are told in their order. */
  private readonly signals: number[] = [];

  constructor(events: readonly HistoryEvent[]) {
    for (const event of events) {
      const id = Number(event.eventId);
      const { scheduledEventId, timerId, acceptedRequest } = attributesOf(event);
      const marker = markerOf(event);
      if (marker !== null) this.byKey.set(`local ${String(marker.seq)}`, id);
      else if (/ACTIVITY_TASK_(COMPLETED|FAILED|TIMED_OUT|CANCELED)$/.test(event.eventType)) {
        const scheduled = events[Number(scheduledEventId) - 1];
        if (scheduled) this.byKey.set(`activity ${String(attributesOf(scheduled).activityId)}`, id);
      } else if (event.eventType === 'EVENT_TYPE_TIMER_FIRED') this.byKey.set(`timer ${String(timerId)}`, id);
      else if (event.eventType === 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED') this.signals.push(id);
      else if (event.eventType === 'EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED') this.byKey.set('cancelled', id);
      else if (event.eventType === 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED')
        this.byKey.set(`update ${String(fieldsOf(fieldsOf(acceptedRequest).meta).updateId)}`, id);
    }
  }

  of(cause: StepCause): number | undefined {
    switch (cause.kind) {
      case 'started':
        return 1;
      case 'activity':
        return this.byKey.get(`${cause.local ? 'local' : 'activity'} ${cause.seq}`);
      case 'timer':
        return this.byKey.get(`timer ${cause.seq}`);
      case 'update':
        return this.byKey.get(`update ${cause.id}`);
      case 'signal':
        return this.signals.shift();
      case 'cancelled':
        return this.byKey.get('cancelled');
      case 'other':
        return undefined;
    }
  }
}

/** What an event is about, with why something failed. */
function whatOf(run: HistoryRun, event: HistoryEvent): string {
  const { failure, reason, cause, outcome, attempt } = attributesOf(event);
  const summary = payloadValue(fieldsOf(event.userMetadata).summary);
  const why =
    failureText(failure ?? fieldsOf(outcome).failure) ??
    (typeof reason === 'string' && reason !== '' ? reason : null) ??
    (typeof cause === 'string' ? cause : null);
  return [
    subjectOf(run, event),
    ...(typeof summary === 'string' ? [`(${summary})`] : []),
    ...(typeof attempt === 'number' && attempt > 1 ? [`try ${attempt}`] : []),
    ...(why === null ? [] : [`- ${why}`]),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** A failure with what it came from, the innermost last. */
function failureText(failure: unknown): string | null {
  const { message: open, cause, encodedAttributes } = fieldsOf(failure);
  // Where payloads are encrypted, the text is one of them.
  const message = fieldsOf(payloadValue(encodedAttributes)).message ?? open;
  if (typeof message !== 'string') return null;
  const inner = failureText(cause);
  return inner === null || inner === '' ? message : `${message}: ${inner}`;
}
