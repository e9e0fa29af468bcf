import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { attributesOf, eventsOf, type HistoryEvent, type HistoryRun, protoOf, type WorkflowHistory } from './history.ts';

/** A server refuses a history of 50 MB; written out as JSON, a few runs of that size fit. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The file is not there, or is no history that can be replayed. */
export class HistoryFileError extends Error {
  override readonly name = 'HistoryFileError';
  readonly code = 'history_file';
  readonly file: string;

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`${file}: ${problem}`, options);
    this.file = file;
  }
}

const EXPECTED =
  'expected a history as "trialbed replay TRIAL --save FILE" writes it, as Temporal\'s page downloads it, or as "temporal workflow show --output json" prints it: an object with the list "events"';

const event = z.looseObject({ eventId: z.coerce.string(), eventType: z.string() });
const run = z.looseObject({ events: z.array(event).min(1) });
const saved = run.extend({ workflowId: z.string().optional(), earlier: z.array(run).max(1_000).optional() });

/**
 * Reads a history that was saved, by us or by Temporal's own tools. `workflow`: its id, where the file does not say it: ids that are made inside derive from it.
 * @throws {HistoryFileError}
 */
export async function readHistoryFile(file: string, workflow?: string): Promise<WorkflowHistory> {
  const { earlier = [], ...last } = shaped(file, parsed(file, await textOf(file)));
  const runs = [...earlier, last].map(({ events }, index) => checked(file, events, index, earlier.length));
  const said = last.workflowId ?? idOfStart(runs.at(-1)?.events[0]) ?? idInName(file);
  if (workflow !== undefined && said !== null && said !== workflow && !said.startsWith(workflow))
    throw new HistoryFileError(file, `it is the history of ${said}, and not of ${workflow}; leave the id out, or name another file`);
  const id = said ?? workflow;
  if (id === undefined)
    throw new HistoryFileError(file, 'it does not say whose history it is: "trialbed replay TRIAL --file FILE" with the id of the workflow');
  return { workflow: id, runs };
}

/** Writes a history that can be read anywhere: by {@link readHistoryFile} with all runs, by Temporal's tools and libraries the last one. */
export async function writeHistoryFile(file: string, { workflow, runs }: WorkflowHistory): Promise<void> {
  const last = runs.at(-1);
  if (last === undefined) throw new HistoryFileError(file, 'there is no run to be written');
  const earlier = runs.slice(0, -1).map(({ run: runId, events }) => ({ runId, events }));
  const text = `${JSON.stringify({ workflowId: workflow, runId: last.run, events: last.events, ...(earlier.length > 0 && { earlier }) }, null, 2)}\n`;
  const partial = `${file}.${process.pid}.part`;
  try {
    await writeFile(partial, text);
    await rename(partial, file);
  } catch (error) {
    throw new HistoryFileError(file, `it could not be written: ${reasonOf(error)}`, { cause: error });
  }
}

async function textOf(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new HistoryFileError(file, `it has ${size} bytes, and ${MAX_BYTES} are read at most`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof HistoryFileError) throw error;
    throw new HistoryFileError(file, `it could not be read: ${reasonOf(error)}`, { cause: error });
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HistoryFileError(file, `it is no JSON (${reasonOf(error)}); ${EXPECTED}`, { cause: error });
  }
}

function shaped(file: string, value: unknown): z.output<typeof saved> {
  const result = saved.safeParse(Array.isArray(value) ? { events: value } : value);
  if (result.success) return result.data;
  const { path = [], message = '' } = result.error.issues[0] ?? {};
  throw new HistoryFileError(file, `${path.length === 0 ? '' : `${path.map(String).join('.')}: `}${message}; ${EXPECTED}`);
}

/** The SDK ends the process for a history without its beginning, so that is refused here. */
function checked(file: string, events: readonly unknown[], index: number, last: number): HistoryRun {
  const place = last === 0 ? '' : `run ${index + 1} of ${last + 1}: `;
  const read = normal(file, place, events);
  const [first] = read;
  if (first?.eventType !== 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED')
    throw new HistoryFileError(
      file,
      `${place}its first event is ${first?.eventType ?? 'missing'}, and must be the start of the workflow, EVENT_TYPE_WORKFLOW_EXECUTION_STARTED`,
    );
  const gap = read.findIndex(({ eventId }, at) => eventId !== String(at + 1));
  if (gap >= 0)
    throw new HistoryFileError(file, `${place}event ${gap + 1} is missing: event ${read[gap]?.eventId} stands in its place; a history is replayed whole`);
  const id = attributesOf(first).originalExecutionRunId;
  if (typeof id !== 'string' || id === '') throw new HistoryFileError(file, `${place}its start has no originalExecutionRunId, the id of the run`);
  return { run: id, events: read };
}

/** As this project writes events, whatever tool wrote these. */
function normal(file: string, place: string, events: readonly unknown[]): readonly HistoryEvent[] {
  try {
    return eventsOf(protoOf(events as readonly HistoryEvent[]));
  } catch (error) {
    throw new HistoryFileError(file, `${place}its events are not those of Temporal: ${reasonOf(error).slice(0, 400)}`, { cause: error });
  }
}

/** Newer servers write it down. */
function idOfStart(first: HistoryEvent | undefined): string | null {
  const id = first && attributesOf(first).workflowId;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** As Temporal's page names what it downloads, and as the project's own saved histories are called: `name.WORKFLOW.json`. That of a further window has a dot of its own. */
function idInName(file: string): string | null {
  return /^[^.]+\.([^.]+(?:\.window-\d+)?)\.json$/.exec(basename(file))?.[1] ?? null;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
