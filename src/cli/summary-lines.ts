import { basename } from 'node:path';
import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import { cassetteLines } from './cassette-lines.ts';
import { gateLines } from './gate-lines.ts';
import { type CellState, cellState, cellText, matrix, trialState } from '../report/matrix.ts';
import { modelLines, stoppedLine } from './model-lines.ts';
import { plainText } from '../report/plain-text.ts';
import { teamLines } from './team-lines.ts';
import type { WrittenReport } from '../report/report.ts';
import type { Hint } from './hint.ts';
import type { Paint } from './host.ts';
import { type TableCell, textTable } from './table.ts';

/** Where lines for people are shown. */
export interface Page {
  readonly columns: number;
  readonly paint: Paint;
  readonly hint: Hint;
}

/** The end of a run, for people: matrix, counts, gate, and where to read on. */
export function summaryLines(summary: BatchSummary, trials: readonly TrialSummary[], report: WrittenReport, { columns, paint, hint }: Page): string[] {
  const lines = trials.length === 0 ? [] : ['', ...matrixLines(trials, columns, paint)];
  const counts = [
    `${summary.passed} passed`,
    `${summary.failed} failed`,
    ...(summary.undetermined > 0 ? [`${summary.undetermined} undetermined`] : []),
    ...(summary.infraErrors > 0 ? [`${summary.infraErrors} infrastructure errors (not scored)`] : []),
    ...(summary.userErrors ? [`${summary.userErrors} faults of the simulated user (not scored)`] : []),
    ...(summary.cassetteMisses ? [`${summary.cassetteMisses} without a recorded answer (not scored)`] : []),
    ...(summary.cancelled > 0 ? [`${summary.cancelled} cancelled`] : []),
  ];
  lines.push(...scheduleLines(summary, columns, paint), ...modelLines(summary.models ?? [], columns, paint));
  lines.push(...teamLines(summary.teams ?? [], columns, paint), ...cassetteLines(summary, paint));
  lines.push('', `${counts.join(', ')}, of ${summary.trials} in ${Math.round(summary.seconds)} s`, ...gateLines(summary, paint));
  if (summary.stopped) lines.push(paint('yellow', stoppedLine(summary.stopped)));
  if (summary.worlds.leaked > 0) lines.push(`${summary.worlds.leaked} worlds leaked: "${hint('sweep')}" drops them`);
  lines.push(...reportLines(report));
  const worst = trials.find((t) => trialState(t) === 'fail') ?? trials.find((t) => trialState(t) !== 'pass');
  if (worst) lines.push(`timeline of the first that did not pass: ${hint(`show ${worst.trial}`)}`);
  return lines;
}

/** Where a report lies: the file for people first, and those beside it by name. */
export function reportLines({ markdown, ...others }: WrittenReport): string[] {
  const [first, ...rest] = [markdown, ...Object.values<string | undefined>(others)].flatMap((path) => path ?? []);
  return first === undefined ? [] : [`report: ${plainText([first, ...rest.map((path) => basename(path))].join(', '))}`];
}

/** A line for each fault schedule, where there is more than `none`, and what was not tested. */
function scheduleLines({ schedules = [] }: BatchSummary, columns: number, paint: Paint): string[] {
  if (schedules.length === 0) return [];
  const rows = schedules.map((one) => [plainText(one.schedule), ...[one.trials, one.passed, one.failed, one.injected].map(String)]);
  const table = textTable(['faults', 'trials', 'passed', 'failed', 'injected'], rows, { columns, headPaint: (text) => paint('bold', text) });
  const never = schedules.filter((one) => one.neverFired).map((one) => plainText(one.schedule));
  return ['', ...table, ...(never.length > 0 ? [paint('yellow', `never fired in any trial, so nothing was tested: ${never.join(', ')}`)] : [])];
}

function matrixLines(trials: readonly TrialSummary[], columns: number, paint: Paint): string[] {
  const { head, rows } = matrix(trials);
  const colour: { readonly [state in CellState]: 'green' | 'red' | 'yellow' | 'dim' } = {
    pass: 'green',
    fail: 'red',
    undetermined: 'yellow',
    infra: 'yellow',
    user: 'yellow',
    miss: 'yellow',
    cancelled: 'dim',
  };
  const table = rows.map((row): TableCell[] => [
    ...row.names.map((name) => plainText(name)),
    ...row.cells.map((cell): TableCell => (cell === null ? '' : { text: cellText(cell), paint: (text) => paint(colour[cellState(cell)], text) })),
  ]);
  return textTable(
    head.map((name) => plainText(name)),
    table,
    { columns, headPaint: (text) => paint('bold', text) },
  );
}
