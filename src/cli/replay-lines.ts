import type { ReplayedRun, ReplayReport, StandingAfter, TimelineEvent } from '../client/api.ts';
import { pad, plainText, shorten } from '../report/plain-text.ts';
import type { Paint } from './host.ts';

/** What came of a replay, line by line, for people. All foreign text in it is safe to print. */
export function replayLines(report: ReplayReport, columns: number, paint: Paint): readonly string[] {
  const { workflow, kind, runs, compatible, saved } = report;
  const events = runs.reduce((sum, run) => sum + run.events, 0);
  const many = runs.length === 1 ? '' : ` in ${runs.length} runs`;
  const verdict = compatible ? paint('green', "compatible with today's workflow code") : paint('red', "not compatible with today's workflow code");
  return [
    ...runs.flatMap((run, index) => [...headOf(run, index, runs.length), ...timelineLines(run.timeline ?? [], columns, paint), ...divergenceLines(run, paint)]),
    `${plainText(kind)} ${plainText(workflow)}, ${events} events${many}: ${verdict}`,
    ...(saved === null ? [] : [`saved to ${plainText(saved)}`]),
  ];
}

function headOf({ run, events, last }: ReplayedRun, index: number, count: number): string[] {
  return count === 1 ? [] : [`run ${index + 1} of ${count}, ${plainText(run)}: ${events} events, the last is ${plainText(last)}`];
}

function divergenceLines({ divergence }: ReplayedRun, paint: Paint): readonly string[] {
  if (divergence === null) return [];
  const { kind, event, wanted, message } = divergence;
  const at = event === null ? '' : ` at event ${event.id} ${plainText(event.type)}${event.what === '' ? '' : ` ${plainText(event.what)}`}`;
  return [
    paint(
      'red',
      kind === 'another_way' ? `diverges${at}` : `the code throws${event === null ? '' : ` in the workflow task that begins with event ${event.id}`}`,
    ),
    ...(kind === 'another_way' ? [`  the code wanted ${wanted === null ? 'nothing there' : plainText(wanted)}`] : []),
    ...plainText(message, { lines: 'keep' })
      .split('\n')
      .map((line) => paint('dim', `  ${line}`)),
  ];
}

function timelineLines(timeline: readonly TimelineEvent[], columns: number, paint: Paint): readonly string[] {
  const start = Date.parse(timeline[0]?.at ?? '');
  const states = timeline.map(({ after }) => plainText(after === null ? '-' : stateText(after)));
  const width = Math.min(60, Math.max(0, ...states.map((state) => state.length)));
  return timeline.flatMap((event, index) => {
    const { id, at, type, what, operations } = event;
    const seconds = Number.isNaN(start) ? '' : `+${((Date.parse(at) - start) / 1000).toFixed(3)}`;
    const state = pad(shorten(states[index] ?? '', width), width);
    const line = `${String(id).padStart(5)}  ${seconds.padStart(9)}  ${state}  ${type}${what === '' ? '' : ` ${plainText(what)}`}`;
    const ends = operations.map(
      (one) =>
        `${''.padEnd(18)}${plainText(`${one.id} ${one.tool}: ${one.state}${one.problem === null ? '' : ` (${one.problem.code}: ${one.problem.message})`}`)}`,
    );
    const under = underWay(event, timeline[index - 1]);
    return [shorten(line, columns), ...[...ends, ...under].map((text) => paint('dim', shorten(text, columns)))];
  });
}

/** Where a workflow stood, short enough for a column. */
function stateText({ workflow, models }: StandingAfter): string {
  if (workflow.kind === 'batch') {
    const { hold, inFlight, concurrency, exhausted, windows } = workflow;
    return [
      hold ?? (exhausted ? 'all launched' : 'launching'),
      `${inFlight} of ${concurrency} in flight`,
      ...(windows > 0 ? [`further windows: ${windows}`] : []),
    ].join(', ');
  }
  const { phase, attempt, calls, budget, turns, beyondBudget } = workflow;
  return [
    attempt > 1 ? `${phase} (attempt ${attempt})` : phase,
    ...(budget === null ? [] : [`calls ${calls}/${budget.calls}`]),
    ...(beyondBudget > 0 ? [`${beyondBudget} refused`] : []),
    ...(budget !== null && budget.turns > 1 ? [`turns ${turns}/${budget.turns}`] : []),
    ...(models === null
      ? []
      : [`model ${models.steps} calls ${models.tokens} tokens`, ...Object.entries(models.money).map(([currency, amount]) => `${amount} ${currency}`)]),
  ].join(', ');
}

/** Calls that are under way and that wait for an approval, where that has changed. */
function underWay({ after }: TimelineEvent, before: TimelineEvent | undefined): readonly string[] {
  const text = underWayText(after);
  return text === null || text === underWayText(before?.after ?? null) ? [] : [`${''.padEnd(18)}${plainText(text)}`];
}

function underWayText(after: StandingAfter | null): string | null {
  if (after === null || after.workflow.kind !== 'trial') return null;
  const { inFlight, waiting = [] } = after.workflow;
  const parts = [
    ...(inFlight.length > 0 ? [`in flight: ${inFlight.join(', ')}`] : []),
    ...(waiting.length > 0 ? [`waits for an approval: ${waiting.join(', ')}`] : []),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}
