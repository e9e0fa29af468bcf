import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing, as `mkdir` with `recursive` does; for paths that people give. Node's own never returns where the
 * system answers "no such file" for a name below a folder that exists, as Linux does below `/proc`.
 *
 * @throws the system's error, such as `EACCES`, `ENOENT` or `ENOTDIR`
 */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) await makeFolder(above);
  try {
    await mkdir(path);
  } catch (error) {
    // Somebody else was faster.
    if ((error as { code?: unknown }).code !== 'EEXIST' || !(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
