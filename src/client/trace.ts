import { rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { traceOf } from '../report/trace/trace-of.ts';
import type { Trace } from '../report/trace/trace.ts';
import type { Root } from '../worker/root.ts';
import type { Trialbed } from './api.ts';
import { show } from './show.ts';
import { ticketTablesOf } from './ticket-tables.ts';

export interface TraceOptions {
  /** Id of the trial, or a prefix that only it has. */
  readonly trial: string;
  /** Default: the attempt that counts. */
  readonly attempt?: number;
  /** File to write; replaced where it is there. Default: `trace-TRIAL.html` in `folder`. */
  readonly file?: string;
  /** Default: the working folder. */
  readonly folder?: string;
}

/** A trace that was written. */
export interface WrittenTrace {
  readonly file: string;
  readonly bytes: number;
  readonly trace: Trace;
}

/**
 * Writes a trial, step by step, as one HTML file that needs nothing but a browser, as `trialbed trace` does. It holds the trial's data in clear, so that only its owner may read it.
 * @throws {NotFoundError}
 */
export async function writeTrace(bed: Pick<Trialbed, 'trace'>, options: TraceOptions): Promise<WrittenTrace> {
  const { trial, attempt, folder = '.' } = options;
  const trace = await bed.trace(trial, attempt === undefined ? {} : { attempt });
  const file = resolve(folder, options.file ?? `trace-${trace.head.trial}${attempt === undefined ? '' : `.${attempt}`}.html`);
  // Of no use to any other command.
  const { traceHtml } = await import('../report/trace/page.tsx');
  const html = traceHtml(trace);
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, html, { mode: 0o600 });
  await rename(draft, file);
  return { file, bytes: Buffer.byteLength(html), trace };
}

/** An attempt, step by step, from what is stored of it. @throws {NotFoundError} */
export async function traceTrial(root: Root, id: string, attempt?: number): Promise<Trace> {
  const view = await show(root.store, id, attempt);
  // Without the environment tickets are shown as the rows that they are.
  const ticketTables = await ticketTablesOf(root, view.trial.batch).catch(() => null);
  return traceOf({ ...view, attempt: attempt ?? view.trial.attempt, ticketTables });
}
