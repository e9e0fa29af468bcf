import { RECORD_CLASSES, type RecordClass, type Retention } from '../../domain/retention.ts';
import type { SubjectPurge } from '../../store/purge-subject.ts';
import type { Root } from '../../worker/root.ts';

/** What is, or would be, removed of one class. */
export interface PurgedRecords {
  readonly class: RecordClass;
  /** For how many days it is kept; null: for ever, and nothing was looked for. */
  readonly days: number | null;
  /** Attempts, or batches where it is `verdicts`. */
  readonly count: number;
  /** Those of the same age that stay, since a trial that was forked or reset goes on from them and has not ended. */
  readonly needed: number;
}

export interface SubjectReport extends SubjectPurge {
  /** What Temporal has of the trials that are concerned. */
  readonly histories: {
    readonly namespace: string;
    /** After how many days a closed workflow's history is deleted by the server; null: not known. */
    readonly days: number | null;
    /** Workflows of those trials that it still has. */
    readonly kept: number;
    /** Deleted now, with `histories`. */
    readonly deleted: number;
  };
}

/** Addresses are short; anything else would be looked for in everything. */
const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,190}$/u;

/** What was asked to be removed cannot be. */
export class PurgeError extends Error {
  override readonly name = 'PurgeError';
  readonly code = 'purge';
}

/** Removes what is older than it is to be kept, class by class, or with `dryRun` counts it. */
export async function purgeByAge(
  { store }: Pick<Root, 'store'>,
  retention: Retention,
  options: { readonly dryRun: boolean; readonly now: Date },
): Promise<readonly PurgedRecords[]> {
  const purged: PurgedRecords[] = [];
  for (const name of RECORD_CLASSES) {
    const age = retention[name];
    const { count, needed } =
      age === null ? { count: 0, needed: 0 } : await store.purge(name, new Date(options.now.getTime() - age), { dryRun: options.dryRun });
    purged.push({ class: name, days: age === null ? null : age / 86_400_000, count, needed });
  }
  return purged;
}

/** Before the audit log hears of it, which must not keep what was mistyped either. @throws {PurgeError} for what is no address */
export function requireAddress(address: string): void {
  if (!ADDRESS.test(address)) throw new PurgeError(`"${address}" is no mail address; expected the address alone, such as sofia@example.org`);
}

/** Removes what the store has of the person with this mail address, and tells what Temporal has. `histories`: the histories of the trials that are concerned are deleted there too. */
export async function purgeSubject(
  { store, temporal }: Pick<Root, 'store' | 'temporal'>,
  address: string,
  options: { readonly dryRun: boolean; readonly histories: boolean },
): Promise<SubjectReport> {
  const purged = await store.purgeSubject(address, options);
  const { namespace } = temporal.options;
  const service = temporal.workflowService;
  const described = await service.describeNamespace({ namespace }).catch(() => null);
  const seconds = described?.config?.workflowExecutionRetentionTtl?.seconds;
  let kept = 0;
  let deleted = 0;
  for (const workflowId of purged.trials) {
    const closed = await temporal.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        ({ status }) => status.name !== 'RUNNING',
        () => null,
      );
    if (closed === null) continue;
    kept += 1;
    if (!options.histories || options.dryRun || !closed) continue;
    await service.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
    deleted += 1;
  }
  return { ...purged, histories: { namespace, days: seconds === undefined || seconds === null ? null : Math.round(Number(seconds) / 86_400), kept, deleted } };
}
