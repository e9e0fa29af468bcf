import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedFolder } from './postgres-binaries.ts';
import { canEnter, databaseUser } from './system-user.ts';

/** Where the embedded PostgreSQL of a home keeps its data, and a note where that is not in the home. */
export interface EmbeddedFolder {
  readonly folder: string;
  readonly note: string | null;
}

/**
 * The home, except where we are root and the user that PostgreSQL runs as cannot reach the home (below `/root`, say):
 * then a folder of the system's, the same at every start.
 */
export async function embeddedFolder(home: string): Promise<EmbeddedFolder> {
  await mkdir(home, { recursive: true });
  const user = await databaseUser();
  if (user === null || (await canEnter(user, home))) return { folder: join(home, 'postgres'), note: null };
  const name = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const parent = join(await sharedFolder(), name);
  await mkdir(parent, { recursive: true, mode: 0o755 });
  const folder = join(parent, 'postgres');
  return { folder, note: `PostgreSQL runs as the user "${user.name}", which cannot reach ${home}; its data are in ${folder}` };
}
