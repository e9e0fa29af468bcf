import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

/** Absolute path of a program: of a path, from the folder; of a name, the first in PATH that can be executed. Null where there is none. */
export async function findProgram(program: string, folder: string, path: string): Promise<string | null> {
  const candidates = program.includes('/') ? [resolve(folder, program)] : path.split(delimiter).map((at) => join(resolve(folder, at), program));
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
  return null;
}

/** Whether it is a file that may be run; a folder that may be entered is none. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
