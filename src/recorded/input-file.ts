import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { RecordedRunsError } from './run.ts';

/** More problems than a person reads are counted only. */
const MOST_PROBLEMS = 20;

/** The text of a file, a byte order mark aside. @throws {RecordedRunsError} when it cannot be read. */
export async function contentOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === 'ENOENT') throw new RecordedRunsError([`${file} does not exist; name the file of the recorded runs`]);
    if (code === 'EISDIR') throw new RecordedRunsError([`${file} is a folder; name the file of the recorded runs in it`]);
    throw new RecordedRunsError([`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

/** The first things that are wrong with a value, each with its field, in one line. */
export function issuesText(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.map(String).join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}

/** Ends the reading of a file in which something is wrong. `what`: a word for several of its parts. @throws {RecordedRunsError} unless there is no problem. */
export function refuseIfAny(problems: readonly string[], what: string): void {
  if (problems.length === 0) return;
  const more = problems.length - MOST_PROBLEMS;
  throw new RecordedRunsError(more > 0 ? [...problems.slice(0, MOST_PROBLEMS), `and ${more} more ${what} like these`] : problems);
}
