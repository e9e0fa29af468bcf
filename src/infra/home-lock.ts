import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Held until disposed, or until the process ends in whatever way. */
export interface HomeLock extends Disposable {}

/**
 * Makes this process the only supervisor of the home, or returns null when another is. An exclusive transaction of SQLite
 * is used because it is a lock of the operating system, which Node does not offer by itself: it ends with its holder, so
 * that there is no stale lock file whose holder one would have to guess dead.
 */
export function takeHomeLock(home: string): HomeLock | null {
  mkdirSync(home, { recursive: true });
  const database = new DatabaseSync(join(home, 'supervisor.lock'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const SQLITE_BUSY = 5;
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}
