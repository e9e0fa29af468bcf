import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import { makeFolder } from '../infra/make-folder.ts';

/** What became of the files of an import. */
export interface WrittenFiles {
  /** Files written now, new or changed. */
  readonly written: number;
  /** Files that were already as they should be. */
  readonly unchanged: number;
  /** Absolute paths of files that were edited since they were imported, and left as they are. */
  readonly kept: readonly string[];
}

/**
 * Writes files (texts by absolute path, in order) under a first line with the hash of the rest, by which a later import sees whether a file was edited.
 * `force` replaces edited ones too. `source` is the benchmark's name.
 */
export async function writeImported(
  files: ReadonlyMap<string, string>,
  { source, force }: { readonly source: string; readonly force: boolean },
): Promise<WrittenFiles> {
  const kept: string[] = [];
  let written = 0;
  for (const [file, text] of files) {
    const end = await put(file, text, source, force);
    if (end === 'kept') kept.push(file);
    if (end === 'written') written += 1;
  }
  return { written, unchanged: files.size - written - kept.length, kept };
}

/** A path as a suite's file names it: `./` or `../` and so on, with slashes; absolute where no relative path leads there (another drive). */
export function pathFrom(folder: string, target: string): string {
  const path = relative(folder, target);
  if (isAbsolute(path)) return path;
  const slashes = path.split(sep).join('/');
  return slashes.startsWith('../') || slashes === '..' ? slashes : `./${slashes}`;
}

/** A case's title: the request, cut at 100 characters. */
export function titleOf(request: string): string {
  return request.length > 100 ? `${request.slice(0, 99).trimEnd()}…` : request;
}

const MARK = /^# Imported from [^;\n]+; a repeated import replaces this file only as long as nobody edited it\. sha256:([0-9a-f]{64})\n/;

async function put(file: string, text: string, source: string, force: boolean): Promise<'written' | 'unchanged' | 'kept'> {
  const whole = `# Imported from ${source}; a repeated import replaces this file only as long as nobody edited it. sha256:${sha256(text)}\n${text}`;
  const present = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return null;
    throw error;
  });
  if (present === whole) return 'unchanged';
  if (present !== null && !force) {
    const mark = MARK.exec(present);
    if (mark?.[1] !== sha256(present.slice(mark?.[0].length ?? 0))) return 'kept';
  }
  await makeFolder(dirname(file));
  await writeFile(file, whole);
  return 'written';
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
