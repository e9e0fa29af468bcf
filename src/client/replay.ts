import { resolve } from 'node:path';
import { loadBundle } from '../worker/bundle.ts';
import { KeyRing, type SealKey } from '../keys/key-ring.ts';
import { readKeys, readSettings } from '../worker/config.ts';
import { payloadCodec } from '../worker/payload-codec.ts';
import { decodedRun } from '../worker/replay/decoded.ts';
import type { Divergence } from '../worker/replay/divergence.ts';
import { fetchRuns } from '../worker/replay/fetch-runs.ts';
import type { WorkflowHistory } from '../worker/replay/history.ts';
import { attributesOf, fieldsOf, typeOf } from '../worker/replay/history.ts';
import { readHistoryFile, writeHistoryFile } from '../worker/replay/history-file.ts';
import { replayRun } from '../worker/replay/replay-run.ts';
import { type TimelineEvent, timelineOf } from '../worker/replay/timeline.ts';
import type { Root } from '../worker/root.ts';
import { NotFoundError } from './api.ts';
import { type Settings, sourcesOf } from './settings.ts';

export interface ReplayOptions {
  /** With the timeline of every run. Default false. */
  readonly steps?: boolean;
  /** File to which the history is written, whatever comes of the replay. */
  readonly save?: string;
}

/** What came of replaying a workflow's history against the workflow code of today. */
export interface ReplayReport {
  /** Id of the workflow: of a trial, a batch, or a further window of one. */
  readonly workflow: string;
  /** `trial`, `batch` or `batchWindow`. */
  readonly kind: string;
  /** No run diverges: the code of today would have done the same. */
  readonly compatible: boolean;
  /** The oldest first: each continued as the next one, or was started again under the same id. */
  readonly runs: readonly ReplayedRun[];
  /** File that was written; null: none. */
  readonly saved: string | null;
}

export interface ReplayedRun {
  readonly run: string;
  readonly events: number;
  /** The last event, such as `WorkflowExecutionCompleted`: of a run that goes on, wherever it was. */
  readonly last: string;
  readonly divergence: Divergence | null;
  /** With `steps` alone. */
  readonly timeline?: readonly TimelineEvent[];
}

/** Replays what the server has of a trial or batch; of a trial, the beginning of its id does. Starts nothing, and changes nothing. @throws {NotFoundError} */
export async function replay(
  { store, temporal, config }: Pick<Root, 'store' | 'temporal' | 'config'>,
  id: string,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const workflow = (await store.batch(id))?.id ?? (await store.trial(id))?.id ?? id;
  const runs = await fetchRuns(temporal, workflow);
  if (runs === null || runs.length === 0)
    throw new NotFoundError(
      `the server has no history of ${workflow}: it was never launched, or its time there is over; a history that was saved is replayed by \`trialbed replay --file FILE\``,
    );
  return replayed({ workflow, runs }, config, options);
}

/**
 * Replays a history that was saved, by `replay` or by Temporal's own tools; needs no service. `workflow`: its id, where the file does not say it.
 * @throws {HistoryFileError} for a file that is not there or is no history
 */
export async function replayFile(file: string, options: ReplayOptions & Settings & { readonly workflow?: string } = {}): Promise<ReplayReport> {
  const { env, place } = sourcesOf(options);
  const history = await readHistoryFile(resolve(place.cwd ?? '.', file), options.workflow);
  return replayed(history, { home: readSettings(env, place).home, keys: readKeys(env) }, options);
}

async function replayed(
  history: WorkflowHistory,
  { home, keys }: { readonly home: string; readonly keys: readonly SealKey[] },
  { steps: wanted = false, save }: ReplayOptions,
): Promise<ReplayReport> {
  // As the server has it: what is encrypted there is so in the file.
  if (save !== undefined) await writeHistoryFile(save, history);
  const bundle = await loadBundle(home);
  const runs: ReplayedRun[] = [];
  const codec = payloadCodec(new KeyRing(keys));
  for (const stored of history.runs) {
    const run = await decodedRun(stored, codec);
    const { divergence, steps } = await replayRun(run, { workflow: history.workflow, bundle });
    const last = run.events.at(-1);
    runs.push({
      run: run.run,
      events: run.events.length,
      last: last ? typeOf(last) : '',
      divergence,
      ...(wanted && { timeline: timelineOf(run, steps, divergence?.event?.id ?? null) }),
    });
  }
  const first = history.runs.at(-1)?.events[0];
  const kind = first && fieldsOf(attributesOf(first).workflowType).name;
  return {
    workflow: history.workflow,
    kind: typeof kind === 'string' ? kind : '',
    compatible: runs.every(({ divergence }) => divergence === null),
    runs,
    saved: save ?? null,
  };
}
