import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadedEnvironment } from '../../environments/world.ts';
import { readSuiteFiles } from '../../suite/load-suite.ts';
import { builtInPack } from '../../suite/places.ts';
import { SuiteFileError } from '../../suite/suite.ts';
import type { Root } from '../../worker/root.ts';
import { SnapshotError } from './errors.ts';
import { findRow, findSnapshot, type FoundSnapshot, worldSnapshotOf } from './find.ts';
import { writeInbox } from './inbox-files.ts';

/** How long a restored world stands unless told otherwise. */
export const DEFAULT_FOR_MS = 30 * 60_000;
/** And at most. */
const MAX_FOR_MS = 24 * 60 * 60_000;

const OWNER = 'inspect ';

/** A world of a snapshot that stands to be read. */
export interface RestoredSnapshot {
  readonly snapshot: string;
  readonly world: string;
  /** When it ends by itself, ISO 8601. */
  readonly until: string;
  /** Connection of a role that can only read; holds its password, which ends with the world. */
  readonly sqlUrl: string;
  /** Folder with the files below. */
  readonly folder: string;
  /** Mails as they were sent, `.eml`, in order. */
  readonly inbox: readonly string[];
  /** Tickets and their comments as JSON; null where the environment has none. */
  readonly tickets: string | null;
}

/** One that stands now. */
export interface OpenSnapshot {
  readonly snapshot: string;
  readonly world: string;
  readonly until: string;
}

/**
 * Makes the world of a snapshot again, closed to every write, and writes inbox and tickets to a folder. Asked again, it is the same world, which then stands for as long anew.
 *
 * @throws {NotFoundError} @throws {SnapshotError} where its environment is not here, or is another one now
 */
export async function restoreSnapshot(
  root: Root,
  name: string,
  options: { readonly forMs?: number; readonly suite?: string; readonly out?: string } = {},
): Promise<RestoredSnapshot> {
  const forMs = options.forMs ?? DEFAULT_FOR_MS;
  if (forMs > MAX_FOR_MS) throw new SnapshotError('a restored world stands for at most 24 hours; restore it again then');
  const found = await findSnapshot(root, name);
  const environment = await environmentOf(root, found, options.suite);
  const snapshot = worldSnapshotOf(found);
  if (snapshot.generation !== environment.generation)
    throw new SnapshotError(
      `snapshot ${found.row.id} is of generation ${snapshot.generation.slice(0, 12)} of environment ${found.environment.name}, and what is at ${environment.source.file} is of ${environment.generation.slice(0, 12)}: its world cannot be made by other code or data; check out what it was made with, and name it with --suite`,
    );
  // What others left behind has no reader.
  await root.worlds.sweep({});
  const opened = await root.worlds.inspect(environment, snapshot, { owner: `${OWNER}${found.row.id}`, leaseMs: forMs });
  const folder = options.out ?? folderOf(root, found.row.id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const inbox = await writeInbox(found.snapshot, join(folder, 'inbox'));
  const tickets = await writeTickets(root, environment, opened.ref, folder);
  return { snapshot: found.row.id, world: opened.ref.id, until: opened.until, sqlUrl: opened.sqlUrl, folder, inbox, tickets };
}

/** Restored worlds that stand. */
export async function openSnapshots({ worlds }: Pick<Root, 'worlds'>): Promise<readonly OpenSnapshot[]> {
  return (await worlds.inspections(OWNER)).map(({ ref, owner, until }) => ({ snapshot: owner.slice(OWNER.length), world: ref.id, until }));
}

/** Ends a restored world, and removes the files that were written for it in the home folder. `false`: none stood. @throws {NotFoundError} */
export async function endSnapshot(root: Root, name: string): Promise<boolean> {
  const open = await root.worlds.inspections(OWNER);
  const exact = open.find(({ owner }) => owner === `${OWNER}${name}`);
  const id = exact ? name : (await findRow(root, name)).id;
  await rm(folderOf(root, id), { recursive: true, force: true });
  const standing = open.find(({ owner }) => owner === `${OWNER}${id}`);
  if (standing === undefined) return false;
  await (await root.worlds.open(standing.ref)).release({ reuse: false });
  return true;
}

function folderOf({ config }: Pick<Root, 'config'>, id: string): string {
  return join(config.home, 'restored', id.replaceAll(/[^\w.-]/g, '_'));
}

async function environmentOf(root: Root, { environment, row }: FoundSnapshot, suiteName: string | undefined): Promise<LoadedEnvironment> {
  if (suiteName !== undefined) {
    const { suite, problems } = await readSuiteFiles(suiteName);
    if (suite === null) throw new SuiteFileError(problems);
    return root.loadEnvironment(suite.environment);
  }
  const file = existsSync(environment.file) ? environment.file : await builtInPack(environment.name);
  if (file === null)
    throw new SnapshotError(
      `the environment ${environment.name} of snapshot ${row.id} was at ${environment.file}, which is not here; name a suite that uses it with --suite`,
    );
  return root.loadEnvironment({ file, options: environment.options });
}

async function writeTickets(
  root: Root,
  { environment }: LoadedEnvironment,
  ref: Parameters<Root['worlds']['open']>[0],
  folder: string,
): Promise<string | null> {
  const tables = environment.services?.tickets;
  if (tables === undefined) return null;
  const world = await root.worlds.open(ref);
  const [tickets, comments] = [await world.rows(tables.tickets), await world.rows(tables.comments)];
  const file = join(folder, 'tickets.json');
  await writeFile(file, `${JSON.stringify({ tickets, comments }, null, 2)}\n`, { mode: 0o600 });
  return file;
}
