import type { SnapshotRow } from '../../store/snapshots.ts';
import type { Root } from '../../worker/root.ts';
import { NotFoundError } from '../api.ts';
import { compareSnapshots, compareWithExpected, type ExpectedComparison, type SnapshotComparison } from './compare.ts';
import { SnapshotError } from './errors.ts';
import { writeExported } from './exported.ts';
import { findRow, findSnapshot, worldSnapshotOf } from './find.ts';
import { endSnapshot, openSnapshots, type OpenSnapshot, restoreSnapshot, type RestoredSnapshot } from './restore.ts';
import type { WorldSnapshot } from '../../environments/world.ts';

/** Trials that a refusal names. */
const MAX_NAMED = 5;

/** A snapshot as it is shown. */
export interface SnapshotView extends SnapshotRow {
  readonly environment: { readonly name: string; readonly version: string };
  readonly world: WorldSnapshot;
  /** Of how many mails the raw text is still there. */
  readonly rawMails: number;
  /** Until when a restored world of it stands; null: none does. */
  readonly restoredUntil: string | null;
}

/** What is kept of worlds. Everywhere a snapshot is named by its id, its trial, an attempt as `TRIAL.2`, the beginning of these, or an exported file or folder. */
export interface Snapshots {
  /** The newest first, at most 1,000. @throws {NotFoundError} for a batch that is not there */
  list(filter?: { readonly batch?: string }): Promise<readonly SnapshotRow[]>;
  /** @throws {NotFoundError} */
  show(snapshot: string): Promise<SnapshotView>;
  /** See {@link RestoredSnapshot}. `forMs`: default 30 minutes, at most 24 hours. */
  restore(snapshot: string, options?: { readonly forMs?: number; readonly suite?: string; readonly out?: string }): Promise<RestoredSnapshot>;
  /** Restored worlds that stand now. */
  open(): Promise<readonly OpenSnapshot[]>;
  /** Ends a restored world. `false`: none stood. */
  end(snapshot: string): Promise<boolean>;
  compare(first: string, second: string): Promise<SnapshotComparison>;
  compareWithExpected(snapshot: string): Promise<ExpectedComparison>;
  /** Writes it in clear to a file (`.json`) or a folder. Gives the files. */
  export(snapshot: string, out: string): Promise<readonly string[]>;
  /** `false`: it was deleted before. A world that was restored from it stands on. @throws {SnapshotError} while its attempt, or a trial that goes on from it, has not ended */
  delete(snapshot: string): Promise<boolean>;
}

export function snapshotsOver(root: Root): Snapshots {
  const { store } = root;
  return {
    async list(filter = {}) {
      if (filter.batch !== undefined && (await store.batch(filter.batch)) === null)
        throw new NotFoundError(`there is no batch ${filter.batch}; \`trialbed ps\` lists them`);
      return store.snapshots(filter);
    },
    async show(name) {
      const found = await findSnapshot(root, name);
      const { name: environment, version } = found.environment;
      const world = worldSnapshotOf(found);
      const open = (await openSnapshots(root)).find(({ snapshot }) => snapshot === found.row.id);
      return { ...found.row, environment: { name: environment, version }, world, rawMails: world.rawMails.length, restoredUntil: open?.until ?? null };
    },
    restore: (name, options) => restoreSnapshot(root, name, options),
    open: () => openSnapshots(root),
    end: (name) => endSnapshot(root, name),
    compare: (first, second) => compareSnapshots(root, first, second),
    compareWithExpected: (name) => compareWithExpected(root, name),
    export: async (name, out) => writeExported(await findSnapshot(root, name), out),
    async delete(name) {
      const trial = await store.trial(name.replace(/[.@].*$/, ''));
      // Whoever deletes it again has what was wanted.
      if (trial !== null && /[.@]/.test(name) && (await store.snapshots({ trial: trial.id })).every(({ id }) => !id.startsWith(name))) return false;
      const row = await findRow(root, name);
      if (row.ending === null)
        throw new SnapshotError(`attempt ${row.attempt} of trial ${row.trial} has not ended, and its snapshot may be needed; delete it afterwards`);
      const { deleted, neededBy } = await store.deleteSnapshot(row.id);
      const [first] = neededBy;
      if (first !== undefined)
        throw new SnapshotError(
          `${neededBy.slice(0, MAX_NAMED).join(', ')}${neededBy.length > MAX_NAMED ? ` and ${neededBy.length - MAX_NAMED} more` : ''} went on from snapshot ${row.id} and ${neededBy.length === 1 ? 'has' : 'have'} not ended; delete it afterwards, or give them up first, as by \`trialbed cancel ${first}\``,
        );
      return deleted;
    },
  };
}
