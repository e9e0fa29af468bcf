import { printable } from '../../domain/text/bounded.ts';
import type { Step, WantedCommand } from '../../workflows/steps.ts';
import { attributesOf, fieldsOf, type HistoryEvent, type HistoryRun, payloadValue, typeOf } from './history.ts';

/** Where and why today's workflow code does not go the way of a history. */
export interface Divergence {
  /** `another_way`: the code wanted something else than what happened. `task_fails`: it threw, and so would every try of the workflow task. */
  readonly kind: 'another_way' | 'task_fails';
  /** The first event that the code does not agree with; for `task_fails` the beginning of the workflow task that fails. Null: not known. */
  readonly event: { readonly id: number; readonly type: string; readonly what: string } | null;
  /** What the code wanted there; null: nothing (more), or it is not known. */
  readonly wanted: string | null;
  /** In the words of the SDK, with the place in the code where something was thrown. */
  readonly message: string;
}

const MAX_MESSAGE = 2_000;
const MAX_FRAMES = 4;

/** Finds the event at which a replay failed: the SDK says that it failed, and not always where. */
export function divergenceAt(
  run: HistoryRun,
  steps: readonly Step[],
  { kind, details }: { readonly kind: Divergence['kind']; readonly details: string },
): Divergence {
  const message = printable(messageOf(details), MAX_MESSAGE);
  if (kind === 'task_fails') {
    const event = failedTask(run.events, steps);
    return { kind, event: event ? named(run, event) : null, wanted: null, message };
  }
  const found = mismatch(run, steps);
  const event = found?.event ?? eventNamed(run.events, details);
  return { kind, event: event ? named(run, event) : null, wanted: found?.wanted ?? null, message };
}

/** What an event is about, in a word or two: the activity, timer, signal or update that it names. */
export function subjectOf({ events }: HistoryRun, event: HistoryEvent): string {
  const { activityType, workflowType, timerId, signalName, markerName, acceptedRequest, scheduledEventId, startedEventId, acceptedEventId, details } =
    attributesOf(event);
  if (markerName === 'core_local_activity') return String(markerOf(event)?.activity_type ?? markerName);
  if (markerName === 'core_patch') return `patch ${String(fieldsOf(payloadValue(fieldsOf(details)['patch-data'])).id ?? '')}`.trim();
  const direct = fieldsOf(activityType).name ?? fieldsOf(workflowType).name ?? signalName ?? markerName;
  if (typeof direct === 'string') return direct;
  if (typeof timerId === 'string') return `timer ${timerId}`;
  if (acceptedRequest !== undefined)
    return `${String(fieldsOf(fieldsOf(acceptedRequest).input).name)} ${String(fieldsOf(fieldsOf(acceptedRequest).meta).updateId)}`;
  // What ends something names what began it. Of workflow tasks, that is no news.
  const began = [acceptedEventId, scheduledEventId, startedEventId].find((id) => typeof id === 'string');
  const beginning = typeof began === 'string' && !event.eventType.includes('WORKFLOW_TASK') ? events[Number(began) - 1] : undefined;
  return beginning && beginning !== event ? subjectOf({ run: '', events }, beginning) : '';
}

/** What the SDK keeps of an activity that ran in the workflow task itself. */
export function markerOf(event: HistoryEvent): { readonly seq?: unknown; readonly activity_type?: unknown } | null {
  const { markerName, details } = attributesOf(event);
  return markerName === 'core_local_activity' ? fieldsOf(payloadValue(fieldsOf(details).data)) : null;
}

function named(run: HistoryRun, event: HistoryEvent): NonNullable<Divergence['event']> {
  return { id: Number(event.eventId), type: typeOf(event), what: printable(subjectOf(run, event), 200) };
}

interface Mismatch {
  readonly event: HistoryEvent | undefined;
  readonly wanted: string | null;
}

/** The last workflow task whose events are not what the code wanted: the SDK goes no further. */
function mismatch(run: HistoryRun, steps: readonly Step[]): Mismatch | null {
  for (const task of [...new Set(steps.map(({ historyLength }) => historyLength))].reverse()) {
    const found = mismatchIn(run, task, steps);
    if (found !== null) return found;
  }
  return null;
}

function mismatchIn(run: HistoryRun, task: number, steps: readonly Step[]): Mismatch | null {
  const { events } = run;
  const completed = events.find((event) => event.eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED' && attributesOf(event).startedEventId === String(task));
  if (completed === undefined) return null;
  const caused = events.filter((event) => attributesOf(event).workflowTaskCompletedEventId === completed.eventId);
  const wanted = steps.filter(({ historyLength }) => historyLength === task).flatMap(({ commands }) => commands);
  const local = new Map(
    steps.flatMap(({ commands }) => commands).flatMap(({ kind, seq, name }) => (kind === 'scheduleLocalActivity' ? [[seq, name] as const] : [])),
  );
  for (const event of caused) {
    const marker = markerOf(event);
    if (marker === null) continue;
    const name = local.get(Number(marker.seq));
    if (name !== marker.activity_type) return { event, wanted: name ? `local activity ${name}` : (lastWish(wanted) ?? null) };
  }
  const real = caused.filter((event) => markerOf(event) === null);
  const lasting = withoutTakenBack(wanted).filter(({ kind }) => kind in EVENT_OF);
  const at = Array.from({ length: Math.max(real.length, lasting.length) }, (_, index) => index).find((index) => !agrees(run, real[index], lasting[index]));
  if (at === undefined) return null;
  const wish = lasting[at];
  return { event: real[at] ?? events[Number((real.at(-1) ?? completed).eventId)] ?? completed, wanted: wish ? wishText(wish) : (lastWish(wanted) ?? null) };
}

/** What stands in the history where the code wanted something of the SDK. */
const EVENT_OF: { readonly [command: string]: readonly [event: string, words: string] } = {
  scheduleActivity: ['ACTIVITY_TASK_SCHEDULED', 'activity'],
  requestCancelActivity: ['ACTIVITY_TASK_CANCEL_REQUESTED', 'to cancel activity'],
  startTimer: ['TIMER_STARTED', 'timer'],
  cancelTimer: ['TIMER_CANCELED', 'to cancel timer'],
  completeWorkflowExecution: ['WORKFLOW_EXECUTION_COMPLETED', 'the end of the workflow'],
  failWorkflowExecution: ['WORKFLOW_EXECUTION_FAILED', 'the failure of the workflow'],
  cancelWorkflowExecution: ['WORKFLOW_EXECUTION_CANCELED', 'the workflow to end as cancelled'],
  continueAsNewWorkflowExecution: ['WORKFLOW_EXECUTION_CONTINUED_AS_NEW', 'to continue as new'],
  setPatchMarker: ['MARKER_RECORDED', 'the mark of patch'],
  startChildWorkflowExecution: ['START_CHILD_WORKFLOW_EXECUTION_INITIATED', 'child workflow'],
  signalExternalWorkflowExecution: ['SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED', 'signal'],
  requestCancelExternalWorkflowExecution: ['REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED', 'to cancel another workflow'],
  upsertWorkflowSearchAttributes: ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'search attributes'],
  modifyWorkflowProperties: ['WORKFLOW_PROPERTIES_MODIFIED', 'properties of the workflow'],
};

function agrees({ events }: HistoryRun, event: HistoryEvent | undefined, wish: WantedCommand | undefined): boolean {
  if (event === undefined || wish === undefined || event.eventType !== `EVENT_TYPE_${EVENT_OF[wish.kind]?.[0]}`) return false;
  if (wish.kind !== 'scheduleActivity' && wish.kind !== 'startChildWorkflowExecution' && wish.kind !== 'signalExternalWorkflowExecution') return true;
  return wish.name === null || subjectOf({ run: '', events }, event) === wish.name;
}

/** A timer that was cancelled in the task in which it was started leaves no trace; nor does an activity. */
function withoutTakenBack(commands: readonly WantedCommand[]): readonly WantedCommand[] {
  const has = (kind: string, seq: number | null) => commands.some((one) => one.kind === kind && one.seq === seq);
  const takenBack = ({ kind, seq }: WantedCommand) => {
    const [made, cancelled] = kind.endsWith('Timer') ? (['startTimer', 'cancelTimer'] as const) : (['scheduleActivity', 'requestCancelActivity'] as const);
    return (kind === made || kind === cancelled) && has(made, seq) && has(cancelled, seq);
  };
  return commands.filter((command) => !takenBack(command));
}

function wishText({ kind, name }: WantedCommand): string {
  return `${EVENT_OF[kind]?.[1] ?? kind}${name === null ? '' : ` ${printable(name, 200)}`}`;
}

/** Where the code has nothing more for the history: what it waits for in the task itself. */
function lastWish(commands: readonly WantedCommand[]): string | undefined {
  const last = commands.at(-1);
  return last?.kind === 'scheduleLocalActivity' && last.name !== null ? `local activity ${last.name}` : undefined;
}

/** The workflow task that the code did not come to the end of. */
function failedTask(events: readonly HistoryEvent[], steps: readonly Step[]): HistoryEvent | undefined {
  const began = events.filter(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_STARTED').filter((event) => isCompleted(events, event));
  const last = steps.at(-1)?.historyLength ?? 0;
  return (
    began.find(({ eventId }) => Number(eventId) > last) ?? began.at(-1) ?? events.find(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_STARTED')
  );
}

function isCompleted(events: readonly HistoryEvent[], { eventId }: HistoryEvent): boolean {
  return events[Number(eventId)]?.eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED';
}

/** As the SDK writes an event in some of its messages. */
function eventNamed(events: readonly HistoryEvent[], details: string): HistoryEvent | undefined {
  const id = /HistoryEvent\(id: (\d+)/.exec(details)?.[1];
  return id === undefined ? undefined : events[Number(id) - 1];
}

/** The SDK's core writes its failures as it prints structures: what is said there, with the first places of a stack. */
function messageOf(details: string): string {
  const said = quoted(/message: ("(?:[^"\\]|\\.)*")/.exec(details)?.[1]);
  const stack = quoted(/stack_trace: ("(?:[^"\\]|\\.)*")/.exec(details)?.[1]) ?? '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !/node_modules|node:|evalmachine/.test(line));
  return [said ?? details, ...frames.slice(0, MAX_FRAMES).map((line) => line.trim())].join('\n');
}

function quoted(text: string | undefined): string | null {
  if (text === undefined) return null;
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}
