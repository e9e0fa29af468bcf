import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearestName } from '../domain/text/nearest.ts';
import type { Environment, FileSource, Seed } from './define.ts';
import { shownPath } from './shown-path.ts';

/** Files that a pack names and that are not there, each with who names it and the nearest file that is. Empty when all are there. */
export function missingFiles(environment: Environment): readonly string[] {
  const { schema, seed, sources = [], policy, toolServer } = environment;
  return [
    ...schema.flatMap((source, index) => problemsOf(`schema[${index}]`, source, 'file')),
    ...seed.flatMap((one, index) => problemsOf(`seed[${index}]${'table' in one ? ` of table ${one.table}` : ''}`, sourceOf(one), 'file')),
    ...sources.flatMap((source, index) => problemsOf(`sources[${index}]`, source, 'any')),
    ...(toolServer === undefined ? [] : problemsOf('toolServer.folder', toolServer.folder, 'any')),
    ...(policy === undefined || (typeof policy === 'object' && 'text' in policy) ? [] : problemsOf('policy', policy, 'file')),
  ];
}

function sourceOf(seed: Seed): FileSource {
  return 'sql' in seed ? seed.sql : 'csv' in seed ? seed.csv : seed.json;
}

function problemsOf(who: string, source: FileSource, wanted: 'file' | 'any'): readonly string[] {
  const path = source instanceof URL ? fileURLToPath(source) : source;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [`${who} names ${shownPath(path)}, which is not there${suggestion(path)}`];
  return wanted === 'file' && !found.isFile() ? [`${who} names ${shownPath(path)}, which is no file`] : [];
}

/** The nearest name in the folder, or the nearest folder where that is what is misspelt. */
function suggestion(path: string): string {
  const folder = dirname(path);
  if (folder === path) return '';
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return suggestion(folder);
  const near = nearestName(basename(path), readdirSync(folder));
  return near === null ? '' : ` (there is ${shownPath(join(folder, near))})`;
}
