import type { BatchEvent } from '../client/api.ts';
import type { BatchSummary, TrialSummary } from '../domain/trial.ts';
import { oneLineJson, plainText } from '../report/plain-text.ts';
import type { WrittenReport } from '../report/report.ts';
import { type Hint, hintsFor } from './hint.ts';
import { columnsOf, type CommonFlags, type Host, note, paintFor, print, printJson } from './host.ts';
import { LiveTable } from './live-table.ts';
import { StandingLines } from './standing-lines.ts';
import { EndLines, Tick } from './pace.ts';
import { progressLine } from './progress-lines.ts';
import { headLine, trialLine } from './trial-line.ts';
import { reportLines, summaryLines } from './summary-lines.ts';

/** Shows a batch while it runs. */
export interface Display {
  event(event: Exclude<BatchEvent, BatchSummary>): void;
  /** Something that takes long, in one line. */
  log(line: string): void;
  /** `trials`: all of the batch, in the manifest's order; of a resumed batch also those that were done before. */
  summary(summary: BatchSummary, trials: readonly TrialSummary[], report: WrittenReport): void;
  /** Puts the terminal in order. Idempotent. */
  close(): void;
}

/** JSON lines; a table that repaints itself on a terminal; plain lines anywhere else. */
export function displayFor(host: Host, flags: CommonFlags): Display {
  const hint = hintsFor(host, flags);
  if (flags.json) return jsonDisplay(host, hint);
  return textDisplay(host, hint, host.out.isTTY === true ? new LiveTable(host.out) : null);
}

/** One line per trial, one for progress every so often, and last the summary on standard output; the rest on standard error. */
function jsonDisplay(host: Host, hint: Hint): Display {
  const printed = new Set<string>();
  const standing = new StandingLines();
  const tick = new Tick();
  const show = (trial: TrialSummary): void => {
    if (printed.has(trial.trial)) return;
    printed.add(trial.trial);
    printJson(host, trial);
  };
  return {
    event(event) {
      if (event.type === 'batch') note(host, batchLine(event));
      if (event.type === 'approval') note(host, approvalLine(event, hint));
      if (event.type === 'outage') note(host, outageLine(event));
      if (event.type === 'stands') for (const line of standing.lines(event, hint)) note(host, line);
      if (event.type === 'progress' && tick.due(event.seconds)) printJson(host, event);
      if (event.type === 'trial') show(event);
    },
    log: (line) => note(host, line),
    summary(summary, trials, report) {
      trials.forEach(show);
      for (const line of reportLines(report)) note(host, line);
      printJson(host, summary);
    },
    close() {},
  };
}

function textDisplay(host: Host, hint: Hint, live: LiveTable | null): Display {
  const paint = paintFor(host.out);
  const standing = new StandingLines();
  const tick = new Tick();
  let ends = new EndLines(0);
  const permanent = (line: string): void => (live ? live.print(line) : print(host, line));
  return {
    event(event) {
      if (event.type === 'batch') {
        permanent(batchLine(event));
        permanent(paint('dim', headLine(columnsOf(host.out))));
        ends = new EndLines(event.trials);
        live?.start(event.trials, event.done);
      } else if (event.type === 'progress') {
        if (live) live.progress(event);
        else if (tick.due(event.seconds)) note(host, progressLine(event));
      } else if (event.type === 'approval') {
        permanent(paint('yellow', plainText(approvalLine(event, hint))));
      } else if (event.type === 'outage') {
        permanent(paint(event.outage ? 'yellow' : 'dim', plainText(outageLine(event))));
      } else if (event.type === 'stands') {
        for (const line of standing.lines(event, hint)) permanent(paint('yellow', plainText(line)));
      } else if (event.type === 'trial') {
        live?.finished();
        const shown = ends.shows(event);
        if (shown === 'line') permanent(trialLine(event, columnsOf(host.out), paint));
        if (shown === 'last') permanent(paint('dim', 'further ends are counted only; the report has all'));
      }
    },
    // On a terminal both streams are the same screen: what goes around the table would be painted over.
    log: (line) => (live?.painting ? live.note(line) : note(host, line)),
    summary(summary, trials, report) {
      live?.close();
      for (const line of summaryLines(summary, trials, report, { columns: columnsOf(host.out), paint, hint })) print(host, line);
    },
    close: () => live?.close(),
  };
}

function approvalLine({ asked }: Extract<BatchEvent, { type: 'approval' }>, hint: Hint): string {
  return `waits for your approval: ${asked.approval.tool} ${oneLineJson(asked.approval.args, 80)}; ${hint(`approve ${asked.id}`)}`;
}

function outageLine({ outage }: Extract<BatchEvent, { type: 'outage' }>): string {
  return outage ? `the batch waits: ${outage.service} ${outage.reason}; it goes on by itself` : 'the batch goes on';
}

function batchLine(event: Extract<BatchEvent, { type: 'batch' }>): string {
  const what = `${event.suite}: ${event.trials} ${event.trials === 1 ? 'trial' : 'trials'}, batch ${event.batch}`;
  return event.resumed ? `${what}, resumed with ${event.done} done` : what;
}
