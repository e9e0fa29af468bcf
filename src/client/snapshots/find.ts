import { stat } from 'node:fs/promises';
import { nearestName } from '../../domain/text/nearest.ts';
import type { WorldSnapshot } from '../../environments/world.ts';
import type { SnapshotRow } from '../../store/snapshots.ts';
import type { Root } from '../../worker/root.ts';
import { NotFoundError } from '../api.ts';
import { type ExportedSnapshot, exportedOf, readExported } from './exported.ts';

/** A snapshot with all that belongs to it. */
export interface FoundSnapshot extends ExportedSnapshot {
  /** The file that it was read from; null: the store. */
  readonly file: string | null;
}

/**
 * A snapshot by its id, by its trial (the newest attempt that has one), by trial and attempt (`TRIAL.2`), by the beginning of these, or an exported one by its file or folder.
 *
 * @throws {NotFoundError} with the nearest name @throws {SnapshotError} for a file that is none
 */
export async function findSnapshot(root: Pick<Root, 'store'>, name: string): Promise<FoundSnapshot> {
  if (await isPath(name)) return { ...(await readExported(name)), file: name };
  const row = await findRow(root, name);
  return { ...(await exportedOf(root, row)), file: null };
}

/** @throws {NotFoundError} */
export async function findRow({ store }: Pick<Root, 'store'>, name: string): Promise<SnapshotRow> {
  const row = await rowNamed(store, name);
  if (row !== null) return row;
  if (/[/\\]|\.json$/.test(name))
    throw new NotFoundError(`there is no file or folder ${name}, nor a snapshot of that name; \`trialbed snapshot list\` lists those of the store`);
  const all = await store.snapshots();
  const nearest = nearestName(
    name,
    all.flatMap(({ id, trial }) => [id, trial]),
  );
  const trial = await store.trial(name.replace(/\.\d+$/, ''));
  const others = trial === null ? [] : all.filter((one) => one.trial === trial.id).map(({ id }) => id);
  const none = others.length > 0 ? ` ${name}; it has ${others.join(', ')}` : trial?.phase === 'done' ? '; worlds are kept with `--keep`' : ' yet';
  const why = trial === null ? `there is no snapshot ${name}` : `trial ${trial.id} has no snapshot${none}`;
  throw new NotFoundError(`${why}${nearest === null || trial !== null ? '' : `; did you mean ${nearest}?`}; \`trialbed snapshot list\` lists them`);
}

async function rowNamed(store: Root['store'], name: string): Promise<SnapshotRow | null> {
  const [, prefix = name, rest] = /^([^.@]+)([.@].*)?$/.exec(name) ?? [];
  const trial = await store.trial(prefix);
  if (trial === null) return null;
  const rows = await store.snapshots({ trial: trial.id });
  if (rest === undefined) return rows.toSorted((a, b) => b.attempt - a.attempt || a.id.length - b.id.length)[0] ?? null;
  return rows.find(({ id }) => id === `${trial.id}${rest}`) ?? null;
}

async function isPath(name: string): Promise<boolean> {
  return stat(name).then(
    () => true,
    () => false,
  );
}

/** As the worlds take it. */
export function worldSnapshotOf({ snapshot }: FoundSnapshot): WorldSnapshot {
  return snapshot as unknown as WorldSnapshot;
}
