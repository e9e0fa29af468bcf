import type { Client } from '@temporalio/client';
import type { Kill } from './striker.ts';

/** How long a trial stood still after a kill. */
export interface Recovery {
  readonly what: string;
  readonly trial: string;
  /** From the kill to the end of the next step of that trial which began after it. */
  readonly ms: number;
}

interface Step {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly by: string;
}

interface Lane {
  readonly trial: string;
  readonly from: number;
  readonly to: number;
  readonly steps: readonly Step[];
}

/**
 * Of every trial that a kill met: the time until its next step was done. A kill of a worker meets the trials of which it was in a step, or had
 * the last one; a kill of Temporal or
 * Postgres all that were under way. A trial that another kill met before it had recovered counts from that one.
 */
export async function recoveries(temporal: Client, trials: readonly string[], kills: readonly Kill[]): Promise<readonly Recovery[]> {
  const found: Recovery[] = [];
  for (const trial of trials) {
    const lane = await laneOf(temporal, trial);
    if (lane === null) continue;
    const met = kills.filter((kill) => meets(kill, lane));
    for (const [index, kill] of met.entries()) {
      const next = Math.min(...lane.steps.filter((step) => step.startedAt > kill.at).map(({ endedAt }) => endedAt));
      const again = met[index + 1];
      if (!Number.isFinite(next) || (again !== undefined && again.at < next)) continue;
      found.push({ what: kill.what === 'failpoint' ? 'worker at a failpoint' : kill.what, trial, ms: next - kill.at });
    }
  }
  return found;
}

function meets(kill: Kill, { from, to, steps }: Lane): boolean {
  if (kill.at < from || kill.at > to) return false;
  if (kill.what === 'temporal' || kill.what === 'postgres') return true;
  const before = steps.filter((step) => step.startedAt <= kill.at);
  const held = [...before.filter((step) => step.endedAt > kill.at), before.at(-1)];
  return held.some((step) => step?.by.startsWith(`${kill.pid}@`));
}

/** What its history says: every workflow task and activity that a worker began, with its end. */
async function laneOf(temporal: Client, trial: string): Promise<Lane | null> {
  const history = await temporal.workflow
    .getHandle(trial)
    .fetchHistory()
    .catch(() => null);
  const events = history?.events ?? [];
  const started = new Map<string, { at: number; by: string }>();
  const steps: Step[] = [];
  for (const event of events) {
    const at = millis(event.eventTime);
    const begin = event.workflowTaskStartedEventAttributes ?? event.activityTaskStartedEventAttributes;
    if (begin) {
      started.set(String(event.eventId), { at, by: begin.identity ?? '' });
      continue;
    }
    const done = event.workflowTaskCompletedEventAttributes ?? event.activityTaskCompletedEventAttributes;
    const lost =
      event.workflowTaskTimedOutEventAttributes ??
      event.workflowTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskFailedEventAttributes;
    const of = started.get(String((done ?? lost)?.startedEventId));
    // What was lost tells whose it was, and ends at no time.
    if (of) steps.push({ startedAt: of.at, endedAt: done ? at : Number.POSITIVE_INFINITY, by: of.by });
  }
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) return null;
  steps.sort((a, b) => a.startedAt - b.startedAt);
  return { trial, from: millis(first.eventTime), to: millis(last.eventTime), steps };
}

function millis(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(String(time?.seconds ?? 0)) * 1_000 + Math.floor((time?.nanos ?? 0) / 1e6);
}
