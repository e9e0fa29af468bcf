import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** At this size a log is put aside, so that a home folder holds at most some of it twice. */
const MAX_BYTES = 5 * 1024 * 1024;

/** Where workers that a command starts write: warnings of the SDK and of ours, and what broke them. */
export function workerLogFile(home: string): string {
  return join(home, 'logs', 'worker.log');
}

/**
 * Opens the log for a worker that starts. One that has grown beyond 5 MiB becomes `worker.log.1` first, in place of an older one; a worker that still writes
 * to it goes on there.
 */
export async function openWorkerLog(home: string): Promise<FileHandle> {
  const file = workerLogFile(home);
  await mkdir(join(home, 'logs'), { recursive: true });
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  // Of two that start at once, the second finds nothing to put aside.
  if (size > MAX_BYTES) await rename(file, `${file}.1`).catch(() => {});
  return open(file, 'a');
}
