import { join, resolve } from 'node:path';
import type { BatchEvent, BatchHandle, HeldWorlds, RunRequest, Trialbed } from '../client/api.ts';
import { writeBatchReport } from '../client/report.ts';
import type { BatchSummary } from '../domain/trial.ts';
import { type ConfirmOptions, confirmRun } from './confirm.ts';
import { EXIT } from './exit.ts';
import { type CommonFlags, type Host, note, settingsOf } from './host.ts';
import { Interruption } from './interruption.ts';
import { type Display, displayFor } from './display.ts';
import { type Hint, hintsFor } from './hint.ts';
import { homeOf } from './home.ts';

/** Flags that decide what becomes of a batch once it is done. */
export interface FollowFlags extends CommonFlags {
  readonly report?: string;
  /** False with `--no-gate`. Absent: as the batch was run with. */
  readonly gate?: readonly string[] | false;
}

/**
 * Runs a batch, shows it, writes its report, and tells the exit code. The first Ctrl-C stops launching and leaves the batch to be resumed;
 * the second ends the process at once.
 */
export async function followBatch(host: Host, flags: FollowFlags, request: RunRequest, confirm: ConfirmOptions): Promise<number> {
  using interruption = new Interruption(host, flags, 'the batch stays as it is; the same command goes on from here');
  const display = displayFor(host, flags);
  try {
    await using client = await interruption.over(host.connect(settingsOf(host, flags, (line) => display.log(line))));
    if (interruption.signal !== null) return interruption.exit;
    await interruption.over(confirmRun(host, client, request, confirm));
    const handle = await interruption.over(client.run(request));
    const finished = await followEvents(handle, interruption, (event) => display.event(event));
    if (finished === null) {
      await handle.interrupt();
      display.close();
      note(host, `batch ${handle.id} is interrupted: run the same command again and it goes on from here`);
      for (const line of heldLines(await client.worldsOf(handle.id), hintsFor(host, flags))) note(host, line);
      return interruption.exit;
    }
    return await showEnd({ host, flags, client, display }, finished);
  } finally {
    display.close();
  }
}

/** What the end of a batch is shown with. */
export interface Ending {
  readonly host: Host;
  readonly flags: FollowFlags;
  readonly client: Pick<Trialbed, 'results' | 'show' | 'documents'>;
  readonly display: Display;
}

/** Writes the report of a batch that has ended, shows its summary, and tells the exit code. */
export async function showEnd({ host, flags, client, display }: Ending, finished: BatchSummary): Promise<number> {
  const { files, data, trials } = await writeBatchReport(client, {
    batch: finished.batch,
    folder: reportFolder(host, flags, finished.batch),
    summary: finished,
    ...(flags.gate && { gates: flags.gate }),
  });
  display.summary(data.summary, trials, files);
  return exitOf(data.summary, flags.gate);
}

/** What an interrupted batch leaves behind, and how to be rid of it. */
function heldLines({ held, containers, outlive }: HeldWorlds, hint: Hint): readonly string[] {
  if (held === 0) return [];
  const count = held === 1 ? '1 world of a running trial' : `${held} worlds of running trials`;
  if (!outlive) return [`${count} will be gone when the services stop; these trials then start again`];
  const sweep = `"${hint('sweep')}" drops those whose lease has lapsed`;
  if (containers === 0) return [`${count} wait in the database until then; ${sweep}`];
  return [
    `${count} wait until then, ${containers} in containers that go on running: "${hint('down')}" ends these, and their trials then start again; ${sweep}`,
  ];
}

/** The exit code of a summary. Without the gate only infrastructure counts. */
export function exitOf(summary: Pick<BatchSummary, 'gate'>, gate: FollowFlags['gate']): number {
  if (summary.gate === 'infrastructure') return EXIT.infrastructure;
  return summary.gate === 'met' || gate === false ? EXIT.ok : EXIT.gateNotMet;
}

/** Shows events until the batch is done, or a signal came: then null. */
export async function followEvents(
  handle: Pick<BatchHandle, 'events' | 'result'>,
  interruption: Interruption,
  show: (event: Exclude<BatchEvent, BatchSummary>) => void,
): Promise<BatchSummary | null> {
  const toTheEnd = async (): Promise<BatchSummary> => {
    for await (const event of handle.events()) {
      // The summary is shown once the gate is judged.
      if (event.type !== 'summary' && interruption.signal === null) show(event);
    }
    return await handle.result();
  };
  const end = toTheEnd();
  // After an interruption nobody waits for it, and what the client then throws is no news.
  end.catch(() => undefined);
  return await Promise.race([end, interruption.raised.then(() => null)]);
}

/** Where the report of a batch lies unless a folder is named. */
export function reportFolder(host: Host, flags: CommonFlags & { readonly report?: string }, batch: string): string {
  return flags.report === undefined ? join(homeOf(host, flags), 'reports', batch) : resolve(host.cwd, flags.report);
}
