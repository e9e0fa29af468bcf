import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { SystemUser } from './process.ts';

const run = promisify(execFile);

/**
 * The user that PostgreSQL must run as when we are root, since it refuses root: `postgres` where the system has it,
 * else `nobody`, so that no account is made on the machine. Null when we are not root.
 */
export async function databaseUser(): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {}
  }
  throw new Error('PostgreSQL refuses to run as root, and this system has neither a user "postgres" nor "nobody" to run it as');
}

/** Whether that user can enter the folder; asked of the system, since modes, owners and access lists all count. */
export async function canEnter(user: SystemUser, folder: string): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { uid: user.uid, gid: user.gid, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}
