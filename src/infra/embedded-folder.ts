import { createHash } from 'node:crypto';
import { access, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { sharedFolder } from './postgres-binaries.ts';
import { canEnter, databaseUser } from './system-user.ts';

/** Says, in a folder of the system's, which home it belongs to. */
const OWNER_FILE = 'home';

/** Where the embedded PostgreSQL of a home keeps its data, and a note where that is not in the home. */
export interface EmbeddedFolder {
  readonly folder: string;
  readonly note: string | null;
}

/**
 * The home, except where we are root and the user that PostgreSQL runs as cannot reach the home (below `/root`, say):
 * then a folder of the system's, the same at every start. `isNew` says that the home remembers no cluster: what lies in the system's
 * folder then is that of a deleted home at the same path, whose password went with it, and is removed.
 */
export async function embeddedFolder(home: string, isNew: boolean): Promise<EmbeddedFolder> {
  await mkdir(home, { recursive: true });
  const user = await databaseUser();
  const inHome = { folder: join(home, 'postgres'), note: null };
  if (user === null || (await canEnter(user, home))) return inHome;
  // The home itself is ours to open; its files keep their own modes. What lies above it is not.
  await chmod(home, (await stat(home)).mode | 0o011);
  if (await canEnter(user, home)) return inHome;
  const name = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const shared = await sharedFolder();
  await removeDeletedHomes(shared);
  const parent = join(shared, name);
  if (isNew) await rm(parent, { recursive: true, force: true });
  await mkdir(parent, { recursive: true, mode: 0o755 });
  await writeFile(join(parent, OWNER_FILE), home);
  const folder = join(parent, 'postgres');
  return { folder, note: `PostgreSQL runs as the user "${user.name}", which cannot reach ${home}; its data are in ${folder}` };
}

/** Removes the data of temporary homes that no longer exist. Homes elsewhere may be on a disk that is only not mounted now. */
async function removeDeletedHomes(shared: string): Promise<void> {
  for (const name of await readdir(shared)) {
    const owner = await readFile(join(shared, name, OWNER_FILE), 'utf8').catch(() => null);
    if (owner === null || !owner.startsWith(tmpdir() + sep)) continue;
    const exists = await access(owner).then(
      () => true,
      () => false,
    );
    if (!exists) await rm(join(shared, name), { recursive: true, force: true });
  }
}
