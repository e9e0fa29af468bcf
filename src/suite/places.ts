import { readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Where the built-in environments lie: beside this folder, in the sources and in the built package. */
const ENVIRONMENTS = new URL('../environments/', import.meta.url);

/** Names of the environments that come with the package, sorted. */
export async function builtInEnvironments(): Promise<readonly string[]> {
  const entries = await readdir(ENVIRONMENTS, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const packs = await Promise.all(folders.map(async (name) => ((await packIn(placeOf(name))) === null ? [] : [name])));
  return packs.flat().sort();
}

/** Names of those that come with a suite. */
export async function builtInSuites(): Promise<readonly string[]> {
  const names = await builtInEnvironments();
  const suites = await Promise.all(names.map(async (name) => ((await isFile(`${placeOf(name)}/suite/suite.yaml`)) ? [name] : [])));
  return suites.flat();
}

/** Absolute path of the suite that comes with a built-in environment. */
export function builtInSuite(name: string): string {
  return `${placeOf(name)}/suite/suite.yaml`;
}

/** The pack's file of a built-in environment; null where there is no such environment. */
export async function builtInPack(name: string): Promise<string | null> {
  return isBuiltInName(name) ? packIn(placeOf(name)) : null;
}

/** Whether a text can be a built-in name at all; anything else is a path. */
export function isBuiltInName(text: string): boolean {
  return /^[a-z][a-z0-9-]*$/.test(text);
}

/** `pack.ts`, or the `pack.js` that it was built to, in a folder. */
export function packIn(folder: string): Promise<string | null> {
  return codeFile(`${folder}/pack.ts`);
}

/** The file, or for `x.ts` the `x.js` beside it where only that is there, as in an installed package. */
export async function codeFile(file: string): Promise<string | null> {
  if (await isFile(file)) return file;
  const built = file.replace(/\.([cm]?)ts$/, '.$1js');
  return built !== file && (await isFile(built)) ? built : null;
}

export async function isFile(path: string): Promise<boolean> {
  return (await kindOf(path)) === 'file';
}

export async function kindOf(path: string): Promise<'file' | 'folder' | null> {
  try {
    const found = await stat(path);
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : null;
  } catch {
    return null;
  }
}

function placeOf(name: string): string {
  return fileURLToPath(new URL(name, ENVIRONMENTS));
}
